//! Waits: rules of cool-downs, silences and slots that need more than one step.

use super::*;

#[test]
fn an_agent_that_cools_down_does_not_defer_to_a_silent_coordinator() {
    let under_high = || {
        Kit::cooling_down()
            .after(HIGH, invitation(7, HIGH, 9))
            .after(HIGH, ready(7, HIGH, 9))
    };
    let silent = |mut me: Kit| {
        me.later(250).fire(InvitationTimer::Watch).whatever();
        me.later(200).fire(InvitationTimer::Watch)
    };
    let said = silent(under_high());
    assert_eq!(
        said,
        ["has no leader since term 7", "set Slot 644"],
        "LOW is up, so the agent waits"
    );
    let mut me = under_high();
    me.ends(LOW).whatever();
    assert!(
        silent(me)
            .lines()
            .contains(&"acquired the leadership in term 8".into())
    );
}

#[test]
fn the_end_of_a_cool_down_moves_no_member_of_a_group() {
    let me = Kit::cooling_down().after(HIGH, invitation(7, HIGH, 9));
    let mut me = me.after(HIGH, ready(7, HIGH, 9));
    me.later(60_000);
    let lines = me.fire(InvitationTimer::Cooldown);
    assert!(
        !lines.lines().iter().any(|line| line.contains("Slot")),
        "{lines:?}"
    );
    assert_eq!(me.leader().as_deref(), Some(HIGH));
}

#[test]
fn a_suspicion_is_a_reason_to_ask_at_once() {
    let mut me = Kit::following();
    let said = me.is_suspected(HIGH);
    assert_eq!(said, ["high: are you there? in 7.high", "set Watch 200"]);
    assert_eq!(me.told(|_| ()), NOTHING, "once");
}

#[test]
fn an_agent_that_is_alone_ends_its_cool_down_at_once() {
    let mut me = Kit::cooling_down();
    assert_eq!(me.ends(LOW), NOTHING);
    let said = me.ends(HIGH);
    assert_eq!(said.lines()[0], "persist 6");
}

#[test]
fn the_others_wait_for_their_slots_when_a_coordinator_resigns() {
    let mut me = Kit::following();
    me.told(|m| m.set_score(&id(LOW), Some(6.into())))
        .whatever();
    let resign = Resign {
        group: election(7, HIGH),
        successor: None,
    };
    assert_eq!(
        me.hear(HIGH, resign),
        ["has no leader since term 7", "set Slot 54"],
        "after LOW, and not after HIGH"
    );
}
