//! `There`: the answers to a candidate's question, and to that of a member that misses its coordinator.

use super::*;

#[test]
fn all_answers_are_awaited() {
    let mut me = Kit::began(MemberKind::Voter, Some(5));
    me.members.join([Member::up(
        id("top"),
        MemberKind::Voter,
        Some(10.into()),
        Incarnation(1),
    )]);
    assert_eq!(me.start().lines()[1], "high top: are you there? 4.me");
    assert_eq!(me.hear(HIGH, there(Some(9))), NOTHING);
    assert_eq!(me.role(), Role::Waiting, "it will stand back");
    let mut both = me.clone();
    assert_eq!(both.hear("top", there(Some(10))), ["set Takeover 500"]);
    assert_eq!(
        me.later(200).fire(ReorganizationTimer::Answer),
        ["set Takeover 500"]
    );
}

#[test]
fn once_only_agents_that_are_down_are_awaited_it_is_for_3_d() {
    let mut me = Kit::began(MemberKind::Voter, Some(5));
    me.members.join([Member::up(
        id("top"),
        MemberKind::Voter,
        Some(10.into()),
        Incarnation(1),
    )]);
    me.members.down(&id("top"), Incarnation(1));
    assert_eq!(me.start().lines().last().unwrap(), "set Answer 200");
    me.later(5);
    assert_eq!(me.hear(HIGH, there(Some(9))), ["set Answer 27"]);
    assert_eq!(
        me.later(27).fire(ReorganizationTimer::Answer),
        ["set Takeover 500"]
    );
}

#[test]
fn an_agent_that_turns_out_to_rank_below_is_halted_and_not_waited_for() {
    for score in [None, Some(4)] {
        let mut me = Kit::asking();
        let said = me.hear(HIGH, there(score));
        assert_eq!(said, ["high low: halt 4.me score 5", "set Answer 200"]);
    }
}

#[test]
fn an_answer_to_another_question_counts_for_nothing() {
    let stale = There {
        election: election(3, ME),
        ..there(Some(9))
    };
    for (state, mut me) in Kit::states() {
        let before = me.machine.state.clone();
        assert_eq!(me.hear(HIGH, stale.clone()), NOTHING, "{state}");
        assert_eq!(me.machine.state, before, "{state}");
    }
}

#[test]
fn a_later_count_is_heard_of() {
    let mut me = Kit::asking();
    let seen = Term(30);
    me.hear(
        HIGH,
        There {
            seen,
            ..there(None)
        },
    )
    .whatever();
    me.hear(LOW, nack(Call::Halt, 0, None)).whatever();
    me.later(18);
    assert_eq!(
        me.fire(ReorganizationTimer::Takeover).lines()[0],
        "persist 31"
    );
}

fn coordinates(coordinates: bool) -> There {
    There {
        election: election(7, HIGH),
        coordinates,
        ..there(Some(9))
    }
}

#[test]
fn a_coordinator_that_is_there_is_watched_on() {
    let mut me = Kit::following();
    assert_eq!(me.hear(HIGH, coordinates(true)), NOTHING, "not asked");
    me.later(250).fire(ReorganizationTimer::Watch).whatever();
    assert_eq!(me.hear(HIGH, coordinates(true)), ["set Watch 250"]);
    assert_eq!(me.machine.status(), PaperStatus::Normal);
}

#[test]
fn a_leader_that_does_not_know_its_election_counts_as_silent() {
    let mut me = Kit::following();
    me.later(250).fire(ReorganizationTimer::Watch).whatever();
    assert_eq!(
        me.hear(HIGH, coordinates(false)),
        [
            "has no leader since term 7",
            "persist 8",
            "high: are you there? 8.me",
            "set Answer 200"
        ]
    );
}
