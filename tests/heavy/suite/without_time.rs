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
        two(2, Astra::new(3), "ASTRA, n=2", "astra-2.txt"),
        two(3, Astra::new(3), "ASTRA, n=3", "astra-3.txt"),
        two(2, Plain::default(), "default bully, n=2", "default-2.txt"),
        two(3, Plain::default(), "default bully, n=3", "default-3.txt"),
        Case::holds("votes, n=3, one crash", search(votes(1), 2)),
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

fn two<R: Rules>(n: usize, rules: R, name: &str, golden: &'static str) -> Case {
    let search = asynchronous(rules, Reach::new(n, 2));
    Case::breaks(name, "at most one leads", search).kept_as(golden)
}
