//! A lease in a store: two agents and a register, with what a store does wrong.
//!
//! Most searches begin when an agent has just taken the lease, which covers two readings of its clock, and see another
//! one lead in the third tick. Where the store forgets, messages arrive within their tick or never: an answer that was
//! on its way while the store was away would show as unchanged what was lost.

use bully_core::elections::lease::Preemption;

use crate::{
    case::{Case, Search, timed},
    lease::{Leases, REGISTER, Reads},
    timed::{Aim, Bounds, Crash, Lab},
};

/// In this tick an agent takes a lease of two readings that no agent held.
const TAKEN: u16 = 4;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::holds(
            "lease: a slow clock, 3 ticks",
            search(|_, b| b.budget.slow = 1),
        ),
        Case::holds(
            "lease: an agent or the register crashes, 3 ticks",
            search(|_, b| b.budget.crashes = 1),
        ),
        Case::holds(
            "lease: one steps down, 3 ticks",
            search(|_, b| b.budget.resigns = 1),
        ),
        Case::holds(
            "lease: from the first attempt, an unknown outcome, 3 ticks",
            search(|_, b| {
                begins_before(b);
                b.budget.scores = UNKNOWN.into();
            }),
        ),
        Case::holds(
            "lease: the register tells of changes, 3 ticks",
            search(|rules, _| *rules = rules.clone().told()),
        ),
        Case::holds(
            "lease: the other agent becomes better and claims it, 3 ticks",
            search(|rules, b| {
                *rules = Leases::new(2, Preemption::Immediately);
                b.budget.scores = vec![(0, 9)];
            }),
        ),
        Case::holds(
            "lease: from the first attempt, D=2, reads at once or never, 4 ticks",
            search(arrives_late),
        ),
        Case::holds(
            "lease: the store loses it, 5 ticks",
            search(|rules, b| {
                forgets(rules, b, 1, 5);
                b.loss = true;
            }),
        ),
        Case::holds(
            "lease: the store goes back, one steps down, a lease of four, 4 ticks",
            long(4, returns_released),
        ),
        Case::never(
            "lease: the store goes back, a lease of three, 4 ticks",
            "an agent leads after another one",
            long(3, |rules, b| {
                returns_renewed(rules, b);
                b.loss = true;
            }),
        ),
    ]
}

/// What makes the register say that it failed, once.
pub(super) const UNKNOWN: [(usize, i32); 1] = [(REGISTER, 1)];

/// Just before the lease is taken.
pub(super) fn begins_before(bounds: &mut Bounds) {
    bounds.prologue = TAKEN - 1;
    bounds.horizon = Some(bounds.prologue + 3);
}

/// Before the lease is taken, with writes and answers that arrive up to two ticks late.
fn arrives_late(rules: &mut Leases, bounds: &mut Bounds) {
    rules.reads = Reads::Called;
    // Each agent has read at the very beginning, so it is taken a tick earlier.
    bounds.prologue = TAKEN - 2;
    bounds.horizon = Some(bounds.prologue + 4);
    bounds.delay = Some(2);
}

/// The store is away for the tick that comes so many after the first, and may then show an earlier record; so many
/// ticks in all.
pub(super) fn forgets(rules: &mut Leases, bounds: &mut Bounds, away: u16, last: u16) {
    let away = bounds.prologue + away;
    (rules.goes_back, rules.outage) = (true, Some(away..=away));
    (bounds.crash_within, bounds.mortal) = (away..=away, Some(REGISTER));
    (bounds.budget.crashes, bounds.budget.campaigns) = (1, 1);
    bounds.budget.campaigners = vec![false, false, true];
    bounds.delay = Some(0);
    bounds.horizon = Some(bounds.prologue + last);
}

/// What was renewed may be lost.
pub(super) fn returns_renewed(rules: &mut Leases, bounds: &mut Bounds) {
    forgets(rules, bounds, 3, 4);
}

/// What was released may be taken, and that lost.
pub(super) fn returns_released(rules: &mut Leases, bounds: &mut Bounds) {
    forgets(rules, bounds, 2, 4);
    bounds.budget.resigns = 1;
}

/// Two messages on their way: by far the largest, and so for the soak.
pub(super) fn two_on_their_way() -> Case {
    Case::holds(
        "lease: two on their way, 3 ticks",
        search(|_, b| b.wire = 2),
    )
}

/// A lease of two readings that was just taken, one message on its way.
fn search(change: impl Fn(&mut Leases, &mut Bounds)) -> Search {
    long(2, change)
}

/// The same of so many readings.
fn long(lease: u8, change: impl Fn(&mut Leases, &mut Bounds)) -> Search {
    timed(lab(lease, change))
}

pub(super) fn lab(lease: u8, change: impl Fn(&mut Leases, &mut Bounds)) -> Lab<Leases> {
    let mut rules = Leases::new(lease, Preemption::Never);
    let mut bounds = Bounds::new(REGISTER + 1);
    (bounds.wire, bounds.crash) = (1, Crash::Unseen);
    bounds.prologue = TAKEN - 2 + u16::from(lease);
    bounds.horizon = Some(bounds.prologue + 3);
    change(&mut rules, &mut bounds);
    let aim = Aim::Everything;
    Lab { rules, bounds, aim }
}
