//! Timers: early ones, due ones, and timers of other roles. `stall.rs` has late timers.

use super::*;

#[test]
fn detect_the_only_other_agent_is_silent_and_the_cooldown_is_over() {
    let mut me = Kit::cooling_down();
    me.leaves(HIGH).nothing_else_happened();
    let mut me = me.after(LOW, elected(MINE + 1, 1));
    me.later(L)
        .fire(BullyTimer::Detect)
        .has_no_leader(MINE + 1)
        .set(BullyTimer::Campaign, 8 * S)
        .nothing_else_happened();
    me.later(8 * S)
        .fire(BullyTimer::Campaign)
        .sent_to(&[LOW], ask(2, 5, MINE + 1))
        .set(BullyTimer::Deadline, T)
        .nothing_else_happened();
}

/// Returns a leader for whose leadership HIGH has waited long enough.
fn waited_for() -> Kit {
    let mut me = Kit::challenged();
    me.later(1_000);
    me
}

#[test]
fn preempt_a_challenger_that_is_no_better_now_is_forgotten() {
    for score in [None, Some(2.into())] {
        let mut me = waited_for();
        me.told(|m| m.set_score(&id(HIGH), score))
            .set(BullyTimer::Preempt, 0)
            .nothing_else_happened();
        me.fire(BullyTimer::Preempt).nothing_else_happened();
        assert_eq!(me.role(), Role::Leader);
    }
    let mut me = waited_for();
    me.set_score(10)
        .sent_all(heartbeat(MINE, 10))
        .nothing_else_happened();
    me.fire(BullyTimer::Preempt).nothing_else_happened();
}
