//! Stepping down in the strict profile, which the ASTRA rules do not know; and all strict cells.

use super::{
    strict::{COORDINATOR, DEADLINE, STEP, ask, deferring, following, holding, idle, leading},
    *,
};

/// Has handed over to LOW, and rests.
fn resting() -> Kit {
    let mut me = leading();
    me.step(Input::StepDown { to: Some(id(LOW)) }).whatever();
    me.step(Input::Drained).whatever();
    assert_eq!(me.role(), Role::Follower);
    me
}

#[test]
fn who_rests_ranks_lowest_and_follows_its_successor() {
    let mut me = resting();
    me.hear(LOW, elect(1)).nothing_else_happened();
    me.hear(LOW, elected(MINE + 1, 1))
        .notified(Event::NewLeader(leader(LOW, MINE + 1)))
        .nothing_else_happened();
}

#[test]
fn who_has_rested_starts() {
    let mut me = resting().after(LOW, elected(MINE + 1, 1));
    me.later(REST)
        .fire(Timer::Rest)
        .has_no_leader(MINE + 1)
        .asked(&[HIGH, LOW], ask(2, 5, MINE + 1))
        .set(Timer::Deadline, DEADLINE)
        .nothing_else_happened();
}

#[test]
fn the_named_successor_leads_and_the_others_ask_if_it_does_not() {
    following()
        .hear(HIGH, resign(OLD, Some(ME)))
        .has_no_leader(OLD)
        .sent_all(elected(OLD + 1, 5))
        .notified(Event::Acquired {
            term: Term(OLD + 1),
        })
        .nothing_else_happened();
    let mut me = following();
    me.hear(HIGH, resign(OLD, Some(LOW)))
        .has_no_leader(OLD)
        .set(Timer::Campaign, STEP)
        .nothing_else_happened();
    me.later(STEP)
        .fire(Timer::Campaign)
        .asked(&[HIGH, LOW], ask(1, 5, OLD))
        .set(Timer::Deadline, DEADLINE)
        .nothing_else_happened();
}

#[test]
fn no_strict_cell_panics_and_none_loses_its_timer() {
    for me in [
        idle(),
        following(),
        holding(),
        deferring(),
        leading(),
        resting(),
    ] {
        for late in [0, STEP, DEADLINE, COORDINATOR, 2 * REST] {
            for input in liveness::inputs(&me) {
                let mut me = me.clone();
                me.later(late).step(input).whatever();
            }
        }
    }
}
