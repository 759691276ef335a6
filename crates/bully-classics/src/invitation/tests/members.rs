//! Snapshots of the members.

use super::*;

#[test]
fn no_agent_stays_in_the_group_of_an_ended_incarnation() {
    for mut me in [Kit::joining(), Kit::following()] {
        let said = me.ends(HIGH);
        assert!(
            said.lines()
                .contains(&"acquired the leadership in term 8".into()),
            "{said:?}"
        );
    }
    let mut me = Kit::following();
    assert_eq!(me.begins(HIGH, 2).lines()[0], "has no leader since term 7");
    let mut me = Kit::joining();
    assert_eq!(me.leaves(HIGH).lines()[0], "persist 8");
}

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
