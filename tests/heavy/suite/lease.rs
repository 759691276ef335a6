//! A lease in a store: two agents and a register, with the faults of a store.
//!
//! Most searches begin when an agent has just taken a lease of two readings of its clock, and end after another agent
//! leads in the third tick. Where the store forgets, a message arrives within its tick or never: an answer that was on
//! its way during the outage would show the lost record as unchanged.

use bully_core::elections::lease::Preemption;

use crate::{
    case::{Case, Search, timed},
    lease::{Leases, REGISTER, Reads},
    timed::{Aim, Bounds, Crash, Lab},
};

/// The tick in which an agent takes a lease of two readings that no agent held.
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

/// The score of the register: with it the register answers one question with a failure.
pub(super) const UNKNOWN: [(usize, i32); 1] = [(REGISTER, 1)];

/// Begins the search just before an agent takes the lease.
pub(super) fn begins_before(bounds: &mut Bounds) {
    bounds.prologue = TAKEN - 1;
    bounds.horizon = Some(bounds.prologue + 3);
}

/// Begins the search before an agent takes the lease. Writes and answers arrive up to two ticks late.
fn arrives_late(rules: &mut Leases, bounds: &mut Bounds) {
    rules.reads = Reads::Called;
    // With this way of reads, each agent has read at tick 0, so the lease is taken one tick earlier.
    bounds.prologue = TAKEN - 2;
    bounds.horizon = Some(bounds.prologue + 4);
    bounds.delay = Some(2);
}

/// Makes the store unavailable in the tick `away` ticks after the prologue; after it the store may show an earlier
/// record. The search ends `last` ticks after the prologue.
pub(super) fn forgets(rules: &mut Leases, bounds: &mut Bounds, away: u16, last: u16) {
    let away = bounds.prologue + away;
    (rules.goes_back, rules.outage) = (true, Some(away..=away));
    (bounds.crash_within, bounds.mortal) = (away..=away, Some(REGISTER));
    (bounds.budget.crashes, bounds.budget.campaigns) = (1, 1);
    bounds.budget.campaigners = vec![false, false, true];
    bounds.delay = Some(0);
    bounds.horizon = Some(bounds.prologue + last);
}

/// Lets the store lose a renewal.
pub(super) fn returns_renewed(rules: &mut Leases, bounds: &mut Bounds) {
    forgets(rules, bounds, 3, 4);
}

/// Lets the store lose that a released lease was taken.
pub(super) fn returns_released(rules: &mut Leases, bounds: &mut Bounds) {
    forgets(rules, bounds, 2, 4);
    bounds.budget.resigns = 1;
}

/// Returns the case with two messages on their way. It is by far the largest, so it is in the soak.
pub(super) fn two_on_their_way() -> Case {
    Case::holds(
        "lease: two on their way, 3 ticks",
        search(|_, b| b.wire = 2),
    )
}

/// Searches with a lease of two readings that was just taken, and one message on its way.
fn search(change: impl Fn(&mut Leases, &mut Bounds)) -> Search {
    long(2, change)
}

/// Searches like [`search`], with a lease of `lease` readings.
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
