//! The quorum election of three voters, without a bound on delays.

use crate::{
    case::{Case, Search, timed},
    quorum::{Quorum, Short},
    timed::{Aim, Bounds, Crash, Lab},
};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::holds(
            "3 terms, one clock misses a tick",
            search(1, 3, |_, b| b.budget.slow = 1),
        ),
        Case::holds(
            "2 terms, a slow clock, a crash",
            search(1, 2, |_, b| {
                (b.budget.slow, b.budget.crashes) = (1, 1);
            }),
        ),
        Case::holds(
            "2 terms, a slow clock, a leader steps down",
            search(1, 2, |_, b| {
                (b.budget.slow, b.budget.resigns) = (1, 1);
            }),
        ),
        Case::holds(
            "3 terms, a hand-over that is prepared, a slow clock",
            search(2, 3, |rules, b| {
                (rules.gives, b.prologue, b.horizon) = (true, 1, Some(8));
                (b.budget.slow, b.budget.resigns) = (1, 1);
            }),
        ),
        Case::holds(
            "3 terms, a hand-over that is prepared, all at once, an election",
            search(3, 3, |rules, b| {
                (rules.gives, b.horizon) = (true, Some(0));
                (b.budget.resigns, b.budget.campaigns) = (1, 1);
                b.budget.scores = vec![(2, 9)];
            }),
        ),
        Case::holds(
            "3 terms, a hand-over that is prepared, a slow clock, a crash",
            search(2, 3, |rules, b| {
                (rules.gives, b.prologue, b.horizon) = (true, 1, Some(3));
                (b.budget.slow, b.budget.resigns, b.budget.crashes) = (1, 1, 1);
            }),
        ),
        Case::holds(
            "2 terms, two on their way, 3 ticks",
            search(2, 2, |_, b| {
                b.horizon = Some(3);
            }),
        ),
        Case::holds(
            "2 terms, two on their way, 3 ticks, a leader steps down",
            search(2, 2, |_, b| {
                b.horizon = Some(3);
                b.budget.resigns = 1;
            }),
        ),
        Case::holds(
            "2 terms, others promise less, a slow clock",
            mixed(Short::Others, 2, |b| b.budget.slow = 1),
        ),
        Case::holds(
            "2 terms, a voter that returns promises less, a crash",
            mixed(Short::Restarted, 2, |b| b.budget.crashes = 1),
        ),
    ]
}

/// Searches with voters of which some have shorter timings, from the start or after a crash.
pub(super) fn mixed(shorter: Short, terms: u8, change: impl Fn(&mut Bounds)) -> Search {
    let mut bounds = Bounds::new(3);
    (bounds.wire, bounds.crash) = (1, Crash::Unseen);
    let mut rules = Quorum::mixed(shorter);
    (rules.terms, rules.witnesses) = (terms, 1);
    change(&mut bounds);
    timed(Lab {
        rules,
        bounds,
        aim: Aim::Everything,
    })
}

/// Searches with `wire` messages on their way, terms up to `terms`, and a lease of one reading.
pub(super) fn search(wire: usize, terms: u8, change: impl Fn(&mut Quorum, &mut Bounds)) -> Search {
    search_with(1, wire, terms, change)
}

/// Searches like [`search`], with a lease of `lease` readings. The lowest-ranked voter is not eligible.
pub(super) fn search_with(
    lease: u8,
    wire: usize,
    terms: u8,
    change: impl Fn(&mut Quorum, &mut Bounds),
) -> Search {
    let mut bounds = Bounds::new(3);
    (bounds.wire, bounds.crash) = (wire, Crash::Unseen);
    let mut rules = Quorum::new(3, lease);
    (rules.terms, rules.witnesses) = (terms, 1);
    change(&mut rules, &mut bounds);
    timed(Lab {
        rules,
        bounds,
        aim: Aim::Everything,
    })
}
