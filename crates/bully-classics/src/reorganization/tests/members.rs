//! Snapshots of the members.

use super::*;

#[test]
fn a_confirmed_end_shortens_the_wait_for_answers() {
    let mut me = Kit::asking();
    assert_eq!(me.is_suspected(HIGH), NOTHING);
    assert_eq!(me.ends(HIGH), ["set Answer 27"]);
    me.later(27);
    assert_eq!(
        me.fire(ReorganizationTimer::Answer).lines()[0],
        "low: halt 4.me score 5"
    );
    assert_eq!(me.ends(LOW), ["set Answer 27"]);
}

#[test]
fn the_end_of_an_agent_that_was_told_begins_another_election() {
    for mut me in [Kit::reorganizing(), Kit::readying()] {
        let said = me.ends(LOW);
        assert_eq!(
            said,
            ["persist 5", "high: are you there? 5.me", "set Answer 200"]
        );
    }
}

#[test]
fn no_agent_waits_for_one_that_is_down() {
    for mut me in [Kit::deferring(), Kit::halted()] {
        assert_eq!(me.is_suspected(HIGH), NOTHING);
        let said = me.ends(HIGH);
        assert_eq!(said.lines().last().unwrap(), "set Answer 27");
        assert_eq!(me.role(), Role::Candidate);
    }
    let mut me = Kit::halted();
    assert_eq!(
        me.leaves(HIGH).lines().last().unwrap(),
        "set Answer 200",
        "halts LOW"
    );
}

#[test]
fn a_suspicion_is_a_reason_to_ask_at_once() {
    let mut me = Kit::following();
    let said = me.is_suspected(HIGH);
    assert_eq!(said, ["high: are you there? 7.high", "set Watch 200"]);
    assert_eq!(me.told(|_| ()), NOTHING, "once");
    assert_eq!(me.machine.status(), PaperStatus::Normal);
}

#[test]
fn an_agent_that_is_alone_ends_its_cool_down_at_once() {
    let mut me = Kit::cooling_down();
    assert_eq!(me.ends(LOW), NOTHING);
    let said = me.ends(HIGH);
    assert_eq!(said.lines().last().unwrap(), "set Answer 27");
}

#[test]
fn an_agent_that_has_come_above_meanwhile_is_asked_before_any_is_halted() {
    let mut me = Kit::asking();
    me.told(|m| m.set_score(&id(LOW), Some(6.into())))
        .whatever();
    me.later(200);
    assert_eq!(
        me.fire(ReorganizationTimer::Answer).lines()[1],
        "high low: are you there? 5.me"
    );
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
