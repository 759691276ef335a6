//! Snapshots of the members.

use super::*;

#[test]
fn a_suspicion_is_a_reason_to_ask_at_once() {
    let mut me = Kit::following();
    let said = me.is_suspected(HIGH);
    assert_eq!(said, ["high: are you there? in 7.high", "set Watch 200"]);
    assert_eq!(me.told(|_| ()), NOTHING, "once");
}

#[test]
fn agents_that_are_down_are_not_waited_for() {
    let mut me = Kit::merging();
    assert_eq!(me.is_suspected(LOW), NOTHING);
    assert_eq!(me.ends(LOW), ["set Accepts 27"]);
}

#[test]
fn an_agent_that_is_alone_ends_its_cool_down_at_once() {
    let mut me = Kit::cooling_down();
    assert_eq!(me.ends(LOW), NOTHING);
    let said = me.ends(HIGH);
    assert_eq!(said.lines()[0], "persist 6");
}
