//! `Ack`, `Nack`, and the timers of a leader.

use super::*;

#[test]
fn acknowledgements_of_something_else_do_not_count() {
    let mut me = Kit::elected();
    let now = me.now;
    me.hear(LOW, ack(MINE - 1, now, 1)).nothing_else_happened();
    let ahead = now.after(Duration::from_millis(1));
    me.hear(LOW, ack(MINE, ahead, 1)).nothing_else_happened();
    assert_eq!(me.view().leading, None);
    Kit::following()
        .hear(LOW, ack(OLD, now, 1))
        .nothing_else_happened();
}

/// Scenario 62: the leadership ends by the clock, without an input.
#[test]
fn the_leadership_ends_with_the_lease_before_any_step() {
    let mut me = Kit::leading();
    me.later(D - 1);
    assert_eq!(me.view().leading, Some(Term(MINE)));
    me.later(1);
    assert_eq!((me.view().leading, me.view().role), (None, Role::Follower));
    assert_eq!(me.view().leader, None);
}

/// `give-up-unacknowledged`
#[test]
fn an_elected_agent_that_is_not_acknowledged_gives_up() {
    let mut me = Kit::elected();
    me.later(2 * E - 1).fire(BullyTimer::Round).whatever();
    assert!(matches!(me.machine.state, State::Leading(_)));
    me.later(1).fire(BullyTimer::Round).whatever();
    assert!(matches!(me.machine.state, State::Vacant(_)));
}

/// Scenario 58, `raise-term-without-gap`
#[test]
fn a_leader_with_a_lease_raises_its_term_without_a_gap() {
    let mut me = Kit::leading();
    me.hear(HIGH, nack(20))
        .wrote(21, ME)
        .asked(claim(21, 5))
        .nothing_else_happened();
    assert_eq!(me.view().leading, Some(Term(MINE)), "meanwhile");
    me.hear(HIGH, nack(21)).nothing_else_happened();
    let mut higher = me.clone();
    higher
        .hear(HIGH, refuses(21, 30, 0))
        .wrote(31, ME)
        .asked(claim(31, 5))
        .nothing_else_happened();
    higher.hear(LOW, grants(21)).nothing_else_happened();
    let until = me.view().valid_until;
    let effects = me.later(10).hear(HIGH, grants(21));
    assert_eq!(effects.events(), [&Event::Renewed { term: Term(21) }]);
    assert_eq!(effects.lines()[1], "all: elected term 21 score 5");
    assert_eq!(me.view().valid_until, until, "of the same acknowledgement");
}
