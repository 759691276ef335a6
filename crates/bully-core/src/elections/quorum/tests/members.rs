//! `Members`: confirmed ends, and suspicions.

use super::{super::state::Certainty, *};
use crate::driver::MembersReports as _;

/// 74
#[test]
fn the_confirmed_end_of_the_holder_voids_the_promise() {
    let mut me = Kit::following();
    me.ends(HIGH)
        .has_no_leader(OLD)
        .asked(elect(OLD, 5)) // the first in rank: at once
        .set(BullyTimer::Round, E)
        .nothing_else_happened();
    me.hear(LOW, claim(OLD + 1, 1))
        .wrote(OLD + 1, LOW)
        .whatever();
}

#[test]
fn after_a_confirmed_end_slots_come_in_steps_of_a_delay() {
    let mut me = Kit::following_low();
    me.ends(LOW)
        .has_no_leader(OLD)
        .set(BullyTimer::Election, DELAY)
        .nothing_else_happened();
}

/// So that the next attempt comes as soon, if this one fails.
#[test]
fn an_attempt_at_once_remembers_the_leader_that_has_ended() {
    let mut me = Kit::following();
    me.ends(HIGH).whatever();
    let State::Asking(asking) = &me.machine.state else {
        panic!("it asks at once");
    };
    let last = asking.before.as_ref();
    let known = last.map(|gone| (gone.id.clone(), gone.certainty));
    assert_eq!(known, Some((id(HIGH), Certainty::Confirmed)));
}

/// `soon-after-end`: a voter that refuses has not heard of the end yet. Once: one that still refuses is bound.
#[test]
fn a_refusal_after_a_confirmed_end_is_answered_by_another_question_soon_and_once() {
    let mut me = Kit::following();
    me.ends(HIGH).whatever();
    me.hear(LOW, alive(1, OLD, P))
        .set(BullyTimer::Election, DELAY)
        .nothing_else_happened();
    me.later(2 * DELAY)
        .fire(BullyTimer::Election)
        .asked(Elect {
            round: round(2),
            ..elect(OLD, 5)
        })
        .whatever();
    me.hear(LOW, alive(2, OLD, P)).nothing_else_happened();
    me.later(E)
        .fire(BullyTimer::Round)
        .set(BullyTimer::Election, E)
        .whatever();
}

/// `soon-after-end`: without a confirmed end the round goes on, since the voter said for how long it is bound.
#[test]
fn a_refusal_after_silence_is_waited_for() {
    let mut me = Kit::following();
    me.later(P).fire(BullyTimer::Election).whatever();
    me.hear(LOW, alive(1, OLD, P)).nothing_else_happened();
}

/// `only-confirmed-end-voids`: the voter that it follows goes on.
#[test]
fn the_confirmed_end_of_another_than_the_leader_leaves_the_leader() {
    let mut me = Kit::following();
    me.ends(LOW).nothing_else_happened();
    assert_eq!(me.view().leader, Some(leader(HIGH, OLD)));
}

/// 75
#[test]
fn a_suspicion_voids_no_promise() {
    let mut me = Kit::following();
    me.is_suspected(HIGH).nothing_else_happened();
    assert_eq!(me.view().leader, Some(leader(HIGH, OLD)));
    me.hear(LOW, claim(9, 1))
        .sent(LOW, refuses(9, OLD, P).of(LOW))
        .nothing_else_happened();
}

/// Another incarnation of the leader has begun and leads, and an end is reported.
fn again(mut me: Kit) -> Kit {
    me.begins(HIGH, 2).whatever();
    me.hear_incarnation(HIGH, 2, heartbeat(OLD, 9)).whatever();
    me.ends(HIGH).whatever();
    me
}

/// `only-confirmed-end-voids` (b): the leader restarted, was elected again, and now its former incarnation is reported.
#[test]
fn the_end_of_a_former_incarnation_voids_no_promise_to_the_present_one() {
    let mut me = again(Kit::vacant());
    assert!(me.machine.core.voter.promise.is_some());
    me.hear(LOW, claim(9, 1))
        .sent(LOW, refuses(9, OLD, P).of(LOW))
        .nothing_else_happened();
}

/// A second process of the leader's name was here, and its end is told.
fn twin_ends(mut me: Kit) -> Kit {
    me.begins(HIGH, 2).whatever();
    me.told(|members| members.end_told(&id(HIGH), Incarnation(2)))
        .whatever();
    me
}

/// `told-end-is-exact`: a second process of the leader's name was here, and its sentinel tells that it has ended.
#[test]
fn the_end_of_a_second_process_of_the_leaders_name_voids_no_promise_to_the_first() {
    let mut me = twin_ends(Kit::following());
    me.hear(LOW, claim(9, 1))
        .sent(LOW, refuses(9, OLD, P).of(LOW))
        .nothing_else_happened();
    // Its own end, told too, does.
    me.told(|members| members.end_told(&id(HIGH), Incarnation(1)))
        .whatever();
    me.hear(LOW, claim(9, 2)).wrote(9, LOW).whatever();
}

#[test]
fn a_later_incarnation_is_not_followed_in_place_of_the_former_one() {
    let mut me = Kit::following();
    me.begins(HIGH, 2)
        .has_no_leader(OLD)
        .set(BullyTimer::Election, P) // its end is not certain: the promise holds
        .nothing_else_happened();
    me.hear(LOW, claim(9, 1))
        .sent(LOW, refuses(9, OLD, P).of(LOW))
        .nothing_else_happened();
}

#[test]
fn a_leader_that_left_is_not_followed_and_the_promise_to_it_holds() {
    let mut me = Kit::following();
    me.leaves(HIGH)
        .has_no_leader(OLD)
        .set(BullyTimer::Election, P)
        .nothing_else_happened();
    assert!(me.machine.core.voter.promise.is_some());
}

#[test]
fn an_observer_hears_of_a_confirmed_end() {
    let mut me = Kit::observer().after(HIGH, heartbeat(OLD, 9));
    me.ends(HIGH).has_no_leader(OLD).nothing_else_happened();
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

#[test]
fn a_snapshot_does_not_change_the_voters() {
    let mut me = Kit::vacant();
    let more = ["x", "y", "z"]
        .map(|name| Member::up(id(name), MemberKind::Voter, Some(50.into()), Incarnation(1)));
    me.told(|m| m.join(more)).nothing_else_happened();
    me.hear("x", claim(9, 50)).nothing_else_happened();
    me.later(S)
        .fire(BullyTimer::Election)
        .asked(elect(0, 5))
        .whatever();
}
