//! What is promised of a proxy beside a real election, under every fault of the simulator: each message at most once,
//! in the order of its sender, by an agent that leads.

use bully_sim::sim::chaos::Coverage;

use super::app::{Clerk, Post, Rivals};
use crate::{
    elections::quorum::QuorumBully,
    leader::tests::{Carrier, Story, each_fault_happened},
    protocol::Timings,
};
use bully_core::elections::bully::Bully;

const SEEDS: u64 = 20;

/// What one history came to.
struct Sums {
    delivered: usize,
    crossed: u64,
    unknown: u64,
}

/// Plays one history.
fn play<E: Carrier>(post: &Post, seed: u64, coverage: &mut Coverage) -> Result<Sums, String> {
    let agents = [3, 5][usize::from(seed.is_multiple_of(3))];
    let timings =
        [Timings::in_process(), Timings::lan()][usize::from(seed.is_multiple_of(4))].clone();
    let story = Story::<E, Clerk>::new(agents, timings, post.clone(), &["run", "answer"]);
    let report = story.play(seed);
    coverage.add(&report.coverage);
    let book = post.book();
    match report.violation {
        Some(violation) => Err(violation.to_string()),
        None => Ok(Sums {
            delivered: book.delivered(),
            crossed: book.crossed,
            unknown: book.unknown,
        }),
    }
}

fn histories<E: Carrier>(rivals: Rivals) {
    let mut coverage = Coverage::default();
    let all = (0..SEEDS).map(|seed| play::<E>(&Post::new(rivals), seed, &mut coverage));
    let all: Vec<_> = all.map(Result::unwrap).collect();
    each_fault_happened(&coverage, rivals == Rivals::Some);
    let delivered: usize = all.iter().map(|sums| sums.delivered).sum();
    let crossed: u64 = all.iter().map(|sums| sums.crossed).sum();
    let unknown: u64 = all.iter().map(|sums| sums.unknown).sum();
    assert!(delivered > 10_000, "{delivered}");
    assert!(crossed > 5_000 && unknown > 100, "{crossed}, {unknown}");
}

#[test]
fn with_votes_each_message_is_delivered_once_at_most_and_in_order_under_any_fault() {
    histories::<QuorumBully>(Rivals::None);
}

#[test]
fn without_votes_the_order_holds_for_each_leader_under_any_fault() {
    histories::<Bully>(Rivals::Some);
}
