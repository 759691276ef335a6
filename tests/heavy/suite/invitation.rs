//! The invitation election, in every order: agreement within each group, and not one leader.

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

/// What holds.
fn sound() -> Vec<Case> {
    vec![
        Case::holds(
            "n=2, numbers to 2, 3 on their way, a crash",
            107_603,
            31,
            search(2, 2, 3, |_, b| b.budget.crashes = 1),
        ),
        Case::holds(
            "n=2, numbers to 3, 2 on their way, a crash",
            174_536,
            35,
            search(2, 3, 2, |_, b| b.budget.crashes = 1),
        ),
        Case::holds(
            "n=2, numbers to 3, 2 on their way, one resigns",
            189_812,
            32,
            search(2, 3, 2, resigns),
        ),
        Case::holds(
            "n=2, numbers to 3, 2 on their way, a new score",
            112_281,
            35,
            search(2, 3, 2, |r, b| {
                r.has_fixed_ranks = false;
                b.budget.scores = vec![(0, 9)];
            }),
        ),
        Case::holds(
            "n=2, numbers to 3, 3 on their way",
            428_889,
            38,
            search(2, 3, 3, |_, _| {}),
        ),
    ]
}

/// What is not promised.
fn broken() -> Vec<Case> {
    let two = ("at most one leads", 1);
    let forgetful = |b: &mut Bounds| (b.budget.crashes, b.crash) = (1, Crash::Forgetful);
    vec![
        Case::breaks(
            "n=3, held to one leader",
            15,
            two,
            shortest(3, 2, 2, |r, _| r.held_to = HeldTo::OneLeader),
        ),
        Case::breaks(
            "n=3, a crash that takes the disk",
            43,
            ("NumberOnce", 1),
            shortest(3, 2, 2, |_, b| forgetful(b)),
        ),
        Case::breaks(
            "n=3, the same, held to agreement alone",
            193_756,
            ("OneIncarnation", 11),
            shortest(3, 2, 2, |r, b| {
                r.held_to = HeldTo::Agreement;
                forgetful(b);
            }),
        )
        .kept_as("invitation-lost-disk.txt"),
    ]
}

/// A leader may be asked to step down: then it may be led from below.
pub(super) fn resigns(rules: &mut Invitations, bounds: &mut Bounds) {
    rules.has_fixed_ranks = false;
    bounds.budget.resigns = 1;
}

/// So many agents, groups numbered so far, so many messages on their way at once: what does not fit
/// is lost.
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
