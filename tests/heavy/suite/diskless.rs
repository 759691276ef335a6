//! The quorum election of three voters without a disk, or two and an observer. Some voters or all restart, and forget
//! their whole state.

use crate::{
    case::{Case, Search, timed},
    diskless::{Forgetful, Walls},
    timed::{Aim, Bounds, Crash, Lab},
};

/// Tick at which an agent leads.
const BEGUN: u16 = 5;

/// The clocks of `b` and of later incarnations, in the searches with wrong clocks.
pub(super) const WRONG: Walls = Walls::Behind(8);

pub(super) fn cases() -> Vec<Case> {
    let mut cases = holds();
    cases.push(observed());
    cases
}

fn holds() -> Vec<Case> {
    vec![
        Case::holds(
            "no disk: one restarts, D=1, 4 ticks",
            search(Walls::Right, 4, |b| {
                (b.budget.crashes, b.delay) = (1, Some(1));
            }),
        ),
        Case::holds(
            "no disk: one restarts, no bound on delays, 3 ticks",
            search(Walls::Right, 3, |b| b.budget.crashes = 1),
        ),
        Case::holds(
            "no disk: one restarts, D=1, a slow clock, 3 ticks",
            search(Walls::Right, 3, |b| {
                (b.budget.crashes, b.budget.slow, b.delay) = (1, 1, Some(1));
            }),
        ),
        Case::holds(
            "no disk: two restart, or one twice, D=0, 4 ticks",
            search(Walls::Right, 4, |b| {
                (b.budget.crashes, b.delay) = (2, Some(0));
            }),
        ),
        Case::holds(
            "no disk: all restart, D=0, 3 ticks",
            search(Walls::Right, 3, |b| {
                (b.budget.crashes, b.delay) = (3, Some(0));
            }),
        ),
        Case::holds(
            "no disk: one restarts, wrong clocks, D=1, 3 ticks",
            search(WRONG, 3, |b| {
                (b.budget.crashes, b.delay) = (1, Some(1));
            }),
        ),
        Case::holds(
            "no disk: two restart, wrong clocks, D=0, 3 ticks",
            search(WRONG, 3, |b| {
                (b.budget.crashes, b.delay) = (2, Some(0));
            }),
        ),
    ]
}

/// Returns the case in which both voters restart, and an observer remembers.
fn observed() -> Case {
    Case::holds(
        "no disk: both voters restart, an observer remembers",
        timed(observed_lab()),
    )
}

pub(super) fn observed_lab() -> Lab<Forgetful> {
    let mut bounds = beginning(4);
    (bounds.budget.crashes, bounds.delay, bounds.wire) = (2, Some(0), 2);
    let mut rules = Forgetful::observed();
    rules.crashes = bounds.budget.crashes;
    Lab {
        rules,
        bounds,
        aim: Aim::Everything,
    }
}

/// Returns the case that goes further.
pub(super) fn soak() -> Case {
    let further = search(Walls::Right, 4, |b| b.budget.crashes = 1);
    Case::holds(
        "no disk: one restarts, no bound on delays, 4 ticks",
        further,
    )
}

/// Searches `ticks` ticks after the prologue, with at most one message on its way.
fn search(walls: Walls, ticks: u16, change: impl Fn(&mut Bounds)) -> Search {
    timed(lab(walls, ticks, change))
}

pub(super) fn lab(walls: Walls, ticks: u16, change: impl Fn(&mut Bounds)) -> Lab<Forgetful> {
    let mut bounds = beginning(ticks);
    change(&mut bounds);
    let mut rules = Forgetful::new(walls);
    rules.crashes = bounds.budget.crashes;
    Lab {
        rules,
        bounds,
        aim: Aim::Everything,
    }
}

/// Returns the limits for three agents of which one leads, `ticks` ticks after the prologue.
fn beginning(ticks: u16) -> Bounds {
    let mut bounds = Bounds::new(3);
    (bounds.wire, bounds.crash) = (1, Crash::Unseen);
    (bounds.prologue, bounds.horizon) = (BEGUN, Some(BEGUN + ticks));
    bounds
}
