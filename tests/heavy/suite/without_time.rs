//! Without time: two plain bullies lead, and votes are safe all the same.
//!
//! One term: claims are made again for the same term, so that two terms without time are more than ten million states. The
//! searches with time have two and three.

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
        Case::holds("votes, n=3, one crash", 224_832, 23, search(votes(1), 2)),
    ]
}

/// Questions and votes alone, in so many terms.
pub(super) fn votes(terms: u8) -> Quorum {
    let mut rules = Quorum::new(3, 1);
    (rules.terms, rules.votes_only) = (terms, true);
    rules
}

/// So many incarnations each, of which one at a time may end.
pub(super) fn search(mut rules: Quorum, incarnations: u64) -> Search {
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
