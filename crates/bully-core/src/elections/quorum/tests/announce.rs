//! `Elected` and `Heartbeat`: following, promising, acknowledging.

use super::*;

#[test]
fn a_resigned_leadership_is_not_followed_again() {
    let mut me = Kit::following().after(HIGH, resign(OLD, None));
    me.hear(HIGH, heartbeat(OLD, 9)).nothing_else_happened();
    assert_eq!(me.view().leader, None);
    me.hear(HIGH, heartbeat(OLD + 1, 9))
        .wrote(OLD + 1, HIGH)
        .whatever();
}

#[test]
fn an_agent_in_its_cooldown_says_that_it_is_not_eligible() {
    let mut me = Kit::leading();
    me.step_down(None).whatever();
    me.step(Input::Drained).whatever();
    let sleepy = Ack {
        score: None,
        ..ack(50, SAID, 5)
    };
    me.hear(LOW, elected(50, 1))
        .wrote(50, LOW)
        .new_leader(LOW, 50)
        .set(BullyTimer::Election, P)
        .sent(LOW, sleepy)
        .nothing_else_happened();
}

/// One lease from the arrival of its last announcement: no other message prolongs it.
#[test]
fn a_follower_knows_the_lease_of_its_leader_by_the_announcements_that_arrived() {
    let known = |me: &Kit| me.machine.prospects().followed_until;
    let lease = Duration::from_millis(D);
    let mut me = Kit::following();
    assert_eq!(known(&me), Some(me.now.after(lease)));
    me.later(H).hear(HIGH, heartbeat(OLD, 9)).whatever();
    let heard = me.now;
    assert_eq!(known(&me), Some(heard.after(lease)));
    me.later(1).hear(LOW, heartbeat(OLD - 1, 1)).whatever();
    assert_eq!(known(&me), Some(heard.after(lease)), "of another agent");
    // It has run out, and the promise has not.
    me.later(D);
    assert!(known(&me).is_some_and(|until| until < me.now));
    assert_eq!(me.view().leader, Some(leader(HIGH, OLD)));
    assert_eq!(known(&Kit::leading()), None, "the view has its own");
    assert_eq!(known(&Kit::vacant()), None);
}
