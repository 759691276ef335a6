//! The quorum election while its voters change, with a crash or a slow clock at every step.

use bully_core::protocol::{NewVoter, VoterChange};

use crate::{
    case::{Case, Search, timed},
    rules::name,
    timed::{Aim, Bounds, Crash, Lab},
    voters::Changing,
};

/// The tick at which a leader leads and has heard of its learner.
const BEGUN: u16 = 1;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::holds(
            "voters: one more, one crashes, D=0, 2 ticks",
            search(&[add()], 2, |b| {
                (b.budget.crashes, b.delay) = (1, Some(0));
            }),
        ),
        Case::holds(
            "voters: one replaced, one crashes, D=0, 2 ticks",
            search(&[replace()], 2, |b| {
                (b.budget.crashes, b.delay) = (1, Some(0));
            }),
        ),
        Case::holds(
            "voters: one more, no bound on delays, 2 ticks",
            search(&[add()], 2, |_| {}),
        ),
        Case::holds(
            "voters: one more, a slow clock, D=1, 2 ticks",
            search(&[add()], 2, |b| {
                (b.budget.slow, b.delay) = (1, Some(1));
            }),
        ),
        Case::holds(
            "voters: one more, then the leader less, D=0, 3 ticks",
            search(&[add(), VoterChange::Remove(name(2))], 3, |b| {
                b.delay = Some(0);
            }),
        ),
    ]
}

/// Returns the cases that go further.
pub(super) fn soak() -> Vec<Case> {
    vec![
        Case::holds(
            "voters: one more, one crashes, D=1, 2 ticks",
            search(&[add()], 2, |b| {
                (b.budget.crashes, b.delay) = (1, Some(1));
            }),
        ),
        Case::holds(
            "voters: one more, then the leader less, one crashes, D=0, 3 ticks",
            search(&[add(), VoterChange::Remove(name(2))], 3, |b| {
                (b.budget.crashes, b.delay) = (1, Some(0));
            }),
        ),
    ]
}

fn voter(k: usize) -> NewVoter {
    NewVoter {
        id: name(k),
        contact: None,
    }
}

/// Returns the change from three voters to four.
pub(super) fn add() -> VoterChange {
    VoterChange::Add(voter(3))
}

/// Returns the change that puts the learner in the place of the lowest-ranked voter.
fn replace() -> VoterChange {
    VoterChange::Replace {
        old: name(0),
        new: voter(3),
    }
}

/// Searches `ticks` ticks after the prologue, with at most two messages on their way.
fn search(changes: &[VoterChange], ticks: u16, change: impl Fn(&mut Bounds)) -> Search {
    timed(lab(changes, ticks, change))
}

pub(super) fn lab(
    changes: &[VoterChange],
    ticks: u16,
    change: impl Fn(&mut Bounds),
) -> Lab<Changing> {
    let mut bounds = Bounds::new(4);
    (bounds.wire, bounds.crash) = (2, Crash::Unseen);
    (bounds.prologue, bounds.horizon) = (BEGUN, Some(BEGUN + ticks));
    bounds.budget.changes = changes.to_vec();
    change(&mut bounds);
    let mut rules = Changing::default();
    rules.epoch = u64::try_from(changes.len()).unwrap_or(u64::MAX);
    Lab {
        rules,
        bounds,
        aim: Aim::Everything,
    }
}
