//! Counts the messages of the ballot election: a round costs exactly 2 n (n - 1). No message is lost, and each takes 5 ms.
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::{sync::Arc, time::Duration};

use actix_bully::{elections::ballot::Ballot, protocol::AgentId};
use bully_sim::sim::{Detection, Participant, World};

use crate::programs::{ROUND, SILENT, ballots, builder};

/// Returns a group of `n` voters with these observers.
fn world(n: i32, observers: &[&str], detection: Detection) -> World<Ballot> {
    let (scores, config) = (
        (1..=n).collect::<Vec<_>>(),
        ballots(usize::try_from(n).unwrap()),
    );
    let observers = observers.iter().map(|name| {
        let id: AgentId = name.parse().unwrap();
        Participant::observer(id, Arc::clone(&config))
    });
    let builder = builder(1, 'a', &scores, &config).agents(observers.collect::<Vec<_>>());
    builder.detection(detection).build()
}

#[test]
fn a_round_costs_a_question_and_an_answer_for_each_pair() {
    for n in 1..=9 {
        let per_round = u64::try_from(2 * n * (n - 1)).unwrap();
        let stated = ballots(usize::try_from(n).unwrap()).messages_per_round();
        assert_eq!(u64::try_from(stated).unwrap(), per_round);
        let mut world = world(n, &[], SILENT);
        world.run_for(ROUND / 2);
        for round in 1..=20 {
            assert_eq!(
                world.tally().sent,
                round * per_round,
                "n = {n}, round {round}"
            );
            world.run_for(ROUND);
        }
    }
}

#[test]
fn an_observer_costs_one_more() {
    let mut world = world(3, &["x", "y"], SILENT);
    world.settle(ROUND * 3).unwrap();
    world.run_for(ROUND / 2);
    let before = world.tally().sent;
    world.run_for(ROUND * 10);
    assert_eq!(world.tally().sent - before, 10 * (12 + 2));
}

/// The crash of the leader is confirmed, so each other agent asks at once, and one round elects the next leader.
#[test]
fn a_confirmed_death_costs_one_round_of_the_others() {
    let mut world = world(5, &[], Detection::Certain(Duration::ZERO.into()));
    world.settle(ROUND * 3).unwrap();
    world.run_for(ROUND / 2);
    let before = world.tally().sent;
    world.crash("e");
    world.run_for(ROUND / 3);
    // Four agents ask four agents each, and each gets three answers: the dead agent does not answer.
    assert_eq!(world.tally().sent - before, 4 * 4 + 4 * 3);
}
