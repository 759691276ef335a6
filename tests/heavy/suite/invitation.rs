//! The invitation election, in every order of events: agreement within each group, without a promise of one leader.

use crate::{
    case::{Case, Search, timed},
    invitation::{HeldTo, Invitations},
    timed::{Aim, Bounds, Clocks, Crash, Lab},
};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = sound();
    cases.extend(broken());
    cases
}

/// Returns the searches that hold.
fn sound() -> Vec<Case> {
    vec![
        Case::holds(
            "n=2, numbers to 2, 3 on their way, a crash",
            search(2, 2, 3, |_, b| b.budget.crashes = 1),
        ),
        Case::holds(
            "n=2, numbers to 3, 2 on their way, a crash",
            search(2, 3, 2, |_, b| b.budget.crashes = 1),
        ),
        Case::holds(
            "n=2, numbers to 3, 2 on their way, one resigns",
            search(2, 3, 2, resigns),
        ),
        Case::holds(
            "n=2, numbers to 3, 2 on their way, a new score",
            search(2, 3, 2, |r, b| {
                r.has_fixed_ranks = false;
                b.budget.scores = vec![(0, 9)];
            }),
        ),
        Case::holds(
            "n=2, numbers to 3, 3 on their way",
            search(2, 3, 3, |_, _| {}),
        ),
    ]
}

/// Returns the searches for properties that are not promised.
fn broken() -> Vec<Case> {
    let two = "at most one leads";
    let forgetful = |b: &mut Bounds| (b.budget.crashes, b.crash) = (1, Crash::Forgetful);
    vec![
        Case::breaks(
            "n=3, held to one leader",
            two,
            shortest(3, 2, 2, |r, _| r.held_to = HeldTo::OneLeader),
        ),
        Case::breaks(
            "n=3, a crash that takes the disk",
            "NumberOnce",
            shortest(3, 2, 2, |_, b| forgetful(b)),
        ),
        Case::breaks(
            "n=3, a crash that takes the disk, only agreement",
            "OneIncarnation",
            shortest(3, 2, 2, |r, b| {
                r.held_to = HeldTo::Agreement;
                forgetful(b);
            }),
        )
        .kept_as("invitation-lost-disk.txt"),
    ]
}

/// Lets a leader step down: then an agent may have a leader that ranks below it.
pub(super) fn resigns(rules: &mut Invitations, bounds: &mut Bounds) {
    rules.has_fixed_ranks = false;
    bounds.budget.resigns = 1;
}

/// Searches `n` agents. A message beyond `wire` messages on their way is lost.
pub(super) fn search(
    n: usize,
    numbers: u8,
    wire: usize,
    change: impl Fn(&mut Invitations, &mut Bounds),
) -> Search {
    timed(lab(n, numbers, wire, Aim::Everything, change))
}

fn shortest(
    n: usize,
    numbers: u8,
    wire: usize,
    change: impl Fn(&mut Invitations, &mut Bounds),
) -> Search {
    timed(lab(n, numbers, wire, Aim::Shortest, change))
}

pub(super) fn lab(
    n: usize,
    numbers: u8,
    wire: usize,
    aim: Aim,
    change: impl Fn(&mut Invitations, &mut Bounds),
) -> Lab<Invitations> {
    let (mut rules, mut bounds) = (Invitations::new(n, numbers), Bounds::new(n));
    (bounds.wire, bounds.clocks, bounds.crash) = (wire, Clocks::Jump, Crash::Unseen);
    change(&mut rules, &mut bounds);
    Lab { rules, bounds, aim }
}
