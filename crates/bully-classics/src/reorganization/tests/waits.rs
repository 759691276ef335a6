//! Rules that need more than one step, beside the halts: cool-downs, silences, changed scores, the last count.

use super::*;

fn eager() -> ReorganizationConfig {
    ReorganizationConfig {
        when_asked: WhenAsked::Elect,
        ..lan()
    }
}

#[test]
fn an_eager_agent_starts_an_election_of_its_own() {
    let mut me = Kit::began_by(eager(), MemberKind::Voter, Some(5)).started();
    assert_eq!(
        me.hear(LOW, are_you_there(9, LOW, 1)),
        ["low: there 9.low"],
        "the agent holds an election already"
    );
    me.hear(HIGH, there(Some(9))).whatever();
    assert_eq!(
        me.hear(LOW, are_you_there(9, LOW, 1)),
        [
            "low: there 9.low",
            "persist 10",
            "high: are you there? 10.me",
            "set Answer 200"
        ]
    );
    me.hear(HIGH, halt(12, HIGH, 9)).whatever();
    assert_eq!(
        me.hear(LOW, are_you_there(13, LOW, 1)).lines().len(),
        1,
        "halted"
    );
    assert_eq!(
        me.hear(HIGH, are_you_there(14, HIGH, 9)).lines().len(),
        1,
        "a question from above starts no election"
    );
}

/// Returns an agent that cools down and works under HIGH.
fn cooling_down_under_high() -> Kit {
    let mut me = Kit::cooling_down();
    me.hear(HIGH, halt(7, HIGH, 9)).whatever();
    me.hear(HIGH, new_coordinator(7, HIGH)).whatever();
    me.hear(HIGH, ready(7, HIGH, 9)).whatever();
    assert_eq!(me.machine.status(), PaperStatus::Normal);
    me
}

#[test]
fn an_agent_that_cools_down_does_not_defer_to_a_silent_coordinator() {
    let mut me = cooling_down_under_high();
    me.later(250).fire(ReorganizationTimer::Watch).whatever();
    let said = me.later(200).fire(ReorganizationTimer::Watch);
    assert_eq!(
        said,
        ["has no leader since term 7", "set Takeover 662"],
        "LOW is"
    );
    let mut me = cooling_down_under_high();
    me.ends(LOW).whatever();
    me.later(250).fire(ReorganizationTimer::Watch).whatever();
    let said = me.later(200).fire(ReorganizationTimer::Watch);
    assert_eq!(said.lines().last().unwrap(), "set Answer 200", "{said:?}");
}

#[test]
fn a_score_that_was_heard_yields_to_a_newer_snapshot() {
    let mut me = Kit::asking();
    me.hear(LOW, are_you_there(3, LOW, 6)).whatever();
    me.told(|_| ()).whatever();
    me.later(200);
    assert_eq!(
        me.fire(ReorganizationTimer::Answer).lines()[0],
        "low: halt 4.me score 5"
    );
}

/// Returns a voter of score 5 in a group with a further voter `top` of score 10.
fn below_top() -> Kit {
    let mut me = Kit::began(MemberKind::Voter, Some(5));
    me.members.join([Member::up(
        id("top"),
        MemberKind::Voter,
        Some(10.into()),
        Incarnation(1),
    )]);
    me
}

#[test]
fn once_only_agents_that_are_down_are_awaited_it_is_for_3_d() {
    let mut me = below_top();
    me.members.down(&id("top"), Incarnation(1));
    assert_eq!(me.start().lines().last().unwrap(), "set Answer 200");
    me.later(5);
    assert_eq!(me.hear(HIGH, there(Some(9))), ["set Answer 27"]);
    assert_eq!(
        me.later(27).fire(ReorganizationTimer::Answer),
        ["set Takeover 500"]
    );
}
