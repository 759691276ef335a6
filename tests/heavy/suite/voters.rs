//! The quorum election while its voters change, with a crash or a slow clock at every step; and the rules of a
//! change, each broken on purpose.
//!
//! Not found here, and why: `LowestSealAdopted` takes two changes that were begun and neither of which is decided, more
//! states than there is room for, and `SealNeverVoid` keeps voters from acknowledging for ever, which breaks nothing
//! that is safe. Directed scenes find both.

use bully_core::{
    elections::quorum::Defect,
    protocol::{NewVoter, VoterChange},
};

use crate::{
    case::{Case, Search, timed},
    rules::name,
    timed::{Aim, Bounds, Crash, Lab},
    voters::Changing,
};

/// The tick at which a leader leads that has heard of its learner.
const BEGUN: u16 = 1;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = holds();
    cases.extend(planted());
    cases
}

fn holds() -> Vec<Case> {
    vec![
        Case::holds(
            "voters: one more, one crashes, D=0, 2 ticks",
            65_716,
            33,
            search(&[add()], None, 2, |b| {
                (b.budget.crashes, b.delay) = (1, Some(0));
            }),
        ),
        Case::holds(
            "voters: one replaced, one crashes, D=0, 2 ticks",
            50_796,
            36,
            search(&[replace()], None, 2, |b| {
                (b.budget.crashes, b.delay) = (1, Some(0));
            }),
        ),
        Case::holds(
            "voters: one more, no bound on delays, 2 ticks",
            77_708,
            30,
            search(&[add()], None, 2, |_| {}),
        ),
        Case::holds(
            "voters: one more, a slow clock, D=1, 2 ticks",
            187_177,
            30,
            search(&[add()], None, 2, |b| {
                (b.budget.slow, b.delay) = (1, Some(1));
            }),
        ),
        Case::holds(
            "voters: one more, then the leader less, D=0, 3 ticks",
            28_272,
            48,
            search(&[add(), VoterChange::Remove(name(2))], None, 3, |b| {
                b.delay = Some(0);
            }),
        ),
    ]
}

fn planted() -> Vec<Case> {
    let crashing = |defect| {
        search(&[add()], Some(defect), 2, |b| {
            (b.budget.crashes, b.delay) = (1, Some(0));
        })
    };
    // From the first tick on: what the leader says first may still be on its way.
    let early = |defect, delay| {
        search(&[add()], Some(defect), 1, |b| {
            (b.wire, b.delay) = (3, delay);
            (b.prologue, b.horizon) = (0, Some(1));
        })
    };
    vec![
        Case::breaks(
            "voters: a seal that is not stored",
            35,
            ("DiskFirst", 2),
            crashing(Defect::SealUnwritten),
        ),
        Case::breaks(
            "voters: an epoch that is not stored",
            73,
            ("DiskFirst", 3),
            crashing(Defect::EpochUnwritten),
        ),
        Case::breaks(
            "voters: a list that counts one seal too early",
            17,
            ("SealedByQuorum", 1),
            crashing(Defect::InstalledEarly),
        ),
        Case::breaks(
            "voters: a seal by an agent that still leads",
            17,
            ("LostFirst", 1),
            crashing(Defect::SealBeforeLost),
        ),
        Case::breaks(
            "voters: a candidate that leads in spite of a seal",
            8_075,
            ("NoBelieverAfterSeal", 15),
            crashing(Defect::ReportIgnored),
        ),
        Case::breaks(
            "voters: an acknowledgement after a seal",
            37_845,
            ("NoSupportAfterSeal", 14),
            early(Defect::AckAfterSeal, None),
        ),
        Case::breaks(
            "voters: a seal that is void for its own term",
            40_466,
            ("SealKept", 14),
            early(Defect::SealVoidAtItsTerm, Some(1)),
        ),
        Case::breaks(
            "voters: a vote that hides a seal",
            176_817,
            ("NoBelieverAfterSeal", 14),
            search(&[add()], Some(Defect::SealUnreported), 3, |_| {}),
        ),
    ]
}

/// The same, further.
pub(super) fn soak() -> Vec<Case> {
    vec![
        Case::holds(
            "voters: one more, one crashes, D=1, 2 ticks",
            315_864,
            30,
            search(&[add()], None, 2, |b| {
                (b.budget.crashes, b.delay) = (1, Some(1));
            }),
        ),
        Case::holds(
            "voters: one more, then the leader less, one crashes, D=0, 3 ticks",
            262_189,
            48,
            search(&[add(), VoterChange::Remove(name(2))], None, 3, |b| {
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

/// Three voters become four.
fn add() -> VoterChange {
    VoterChange::Add(voter(3))
}

/// The learner in the place of the lowest-ranked voter.
fn replace() -> VoterChange {
    VoterChange::Replace {
        old: name(0),
        new: voter(3),
    }
}

/// So many ticks after the prologue, with two messages on their way at most.
fn search(
    changes: &[VoterChange],
    defect: Option<Defect>,
    ticks: u16,
    change: impl Fn(&mut Bounds),
) -> Search {
    let mut bounds = Bounds::new(4);
    (bounds.wire, bounds.crash) = (2, Crash::Unseen);
    (bounds.prologue, bounds.horizon) = (BEGUN, Some(BEGUN + ticks));
    bounds.budget.changes = changes.to_vec();
    change(&mut bounds);
    let mut rules = Changing::new(defect);
    rules.epoch = u64::try_from(changes.len()).unwrap_or(u64::MAX);
    timed(Lab {
        rules,
        bounds,
        aim: if defect.is_some() {
            Aim::Shortest
        } else {
            Aim::Everything
        },
    })
}
