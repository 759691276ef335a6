//! `Members`: confirmed ends, and suspicions.

use super::*;
use crate::driver::MembersReports as _;

/// `soon-after-end`: a voter that refuses may not have heard of the end yet. If it refuses again, it is bound by its
/// promise.
#[test]
fn a_refusal_after_a_confirmed_end_is_answered_by_another_question_soon_and_once() {
    let mut me = Kit::following();
    me.ends(HIGH).whatever();
    me.hear(LOW, alive(1, OLD, P))
        .set(BullyTimer::Election, DELAY)
        .nothing_else_happened();
    me.later(2 * DELAY).fire(BullyTimer::Election).whatever();
    me.hear(LOW, alive(2, OLD, P)).nothing_else_happened();
    me.later(E)
        .fire(BullyTimer::Round)
        .set(BullyTimer::Election, E)
        .whatever();
}

/// Returns the agent after a suspicion of its leader, which it follows all the same.
fn suspecting(mut me: Kit) -> Kit {
    me.is_suspected(HIGH).nothing_else_happened();
    assert_eq!(me.view().leader, Some(leader(HIGH, OLD)));
    me
}

/// Returns the agent after the leader's next incarnation has been elected, and the end of the former one is reported.
fn again(mut me: Kit) -> Kit {
    me.begins(HIGH, 2).whatever();
    me.hear_incarnation(HIGH, 2, heartbeat(OLD, 9)).whatever();
    me.ends(HIGH).whatever();
    me
}

/// Returns the agent after the sentinel of a second process with the leader's name has reported the end of this process.
fn twin_ends(mut me: Kit) -> Kit {
    me.begins(HIGH, 2).whatever();
    me.told(|members| members.end_told(&id(HIGH), Incarnation(2)))
        .whatever();
    me
}

/// `only-confirmed-end-voids`, `told-end-is-exact`, scenario 75
#[test]
fn only_the_confirmed_end_of_the_leaders_incarnation_voids_a_promise() {
    for mut me in [
        suspecting(Kit::following()),
        again(Kit::vacant()),
        twin_ends(Kit::following()),
    ] {
        me.hear(LOW, claim(9, 1))
            .refused(LOW, 9, OLD, P)
            .nothing_else_happened();
    }
    let mut me = twin_ends(Kit::following());
    me.told(|members| members.end_told(&id(HIGH), Incarnation(1)))
        .whatever();
    me.hear(LOW, claim(9, 2)).wrote(9, LOW).whatever();
}

#[test]
fn a_newer_score_in_the_snapshot_replaces_what_was_heard() {
    let mut me = Kit::vacant().after(LOW, elect(0, 7));
    assert_eq!(me.machine.core.score_of(&id(LOW)), Some(7.into()));
    me.told(|_| ()).nothing_else_happened();
    assert_eq!(
        me.machine.core.score_of(&id(LOW)),
        Some(7.into()),
        "nothing new"
    );
    me.told(|m| _ = m.set_score(&id(LOW), Some(2.into())))
        .nothing_else_happened();
    assert_eq!(me.machine.core.score_of(&id(LOW)), Some(2.into()));
}
