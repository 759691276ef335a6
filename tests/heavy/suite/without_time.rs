//! Without time: two plain bullies lead, and votes are safe all the same.
//!
//! One term: claims are made again for the same term, so that two terms without time are more than ten million states. The
//! searches with time have two and three.

use bully_core::elections::quorum::Defect;

use crate::{
    actors::Reach,
    bully::{Astra, Plain},
    case::{Case, Search, asynchronous},
    quorum::Quorum,
    rules::Rules,
};

pub(super) fn cases() -> Vec<Case> {
    vec![
        two(2, 52, 4, Astra::new(3), "ASTRA, n=2", "astra-2.txt"),
        two(3, 316, 4, Astra::new(3), "ASTRA, n=3", "astra-3.txt"),
        two(
            2,
            71,
            3,
            Plain::default(),
            "default bully, n=2",
            "default-2.txt",
        ),
        two(
            3,
            365,
            3,
            Plain::default(),
            "default bully, n=3",
            "default-3.txt",
        ),
        Case::holds(
            "votes, n=3, one crash",
            224_832,
            23,
            search(votes(None, 1), 2),
        ),
        Case::breaks(
            "two votes in one term",
            110,
            ("VoteOnce", 3),
            search(votes(Some(Defect::VoteTwice), 2), 1),
        ),
        Case::breaks(
            "votes never stored",
            59,
            ("DiskFirst", 3),
            search(votes(Some(Defect::VolatileVote), 2), 1),
        ),
        Case::breaks(
            "votes never stored, one crash",
            3_844,
            ("VoteOnce", 6),
            search(unseen(), 2),
        ),
    ]
}

/// Questions and votes alone, in so many terms.
fn votes(defect: Option<Defect>, terms: u8) -> Quorum {
    let mut rules = Quorum::new(3, 1, defect);
    (rules.terms, rules.votes_only) = (terms, true);
    rules
}

/// What comes of a vote that is not on the disk, where no rule looks at the disk.
fn unseen() -> Quorum {
    let mut rules = votes(Some(Defect::VolatileVote), 1);
    rules.tolerated = Some("DiskFirst");
    rules
}

/// So many incarnations each, of which one at a time may end.
fn search(mut rules: Quorum, incarnations: u64) -> Search {
    let crashes = if incarnations > 1 { 1 } else { 0 };
    rules.witnesses = crashes;
    let reach = Reach {
        crashes,
        incarnations,
        ..Reach::new(3, u64::MAX)
    };
    asynchronous(rules, reach)
}

fn two<R: Rules>(
    n: usize,
    unique: usize,
    steps: usize,
    rules: R,
    name: &str,
    golden: &'static str,
) -> Case {
    Case::breaks(
        name,
        unique,
        ("at most one leads", steps),
        asynchronous(rules, Reach::new(n, 2)),
    )
    .kept_as(golden)
}
