//! What it costs where nothing goes wrong: 2 n (n - 1) messages per round, exactly.

use bully_sim::sim::Detection;
use std::time::Duration;

use crate::ballot::kit::{Group, ROUND, config};

#[test]
fn a_round_costs_a_question_and_an_answer_for_each_pair() {
    for n in 1..=9 {
        let size = usize::try_from(n).unwrap();
        let per_round = u64::try_from(config(size).messages_per_round()).unwrap();
        assert_eq!(per_round, u64::try_from(2 * n * (n - 1)).unwrap());
        let mut net = Group::of(n).world(1);
        net.run(ROUND - 1);
        for round in 1..=20 {
            let sent = net.world.tally().sent;
            assert_eq!(sent, round * per_round, "n = {n}, round {round}");
            net.run(ROUND);
        }
    }
}

#[test]
fn an_observer_costs_one_more() {
    let group = Group {
        observers: vec!["x", "y"],
        ..Group::of(3)
    };
    let mut net = group.led(1);
    net.run(ROUND - 5);
    let before = net.world.tally().sent;
    net.run(10 * ROUND);
    assert_eq!(net.world.tally().sent - before, 10 * (12 + 2));
}

/// The end of the leader is confirmed: each of the others asks at once, and a round elects.
#[test]
fn a_confirmed_death_costs_one_round_of_the_others() {
    let group = Group {
        detection: Detection::Certain(Duration::ZERO.into()),
        ..Group::of(5)
    };
    let mut net = group.led(1);
    net.run(4);
    let before = net.world.tally().sent;
    net.world.crash("e");
    net.run(5);
    // 4 ask 4 each, and 3 answer each of them; the dead one is asked in vain.
    assert_eq!(net.world.tally().sent - before, 4 * 4 + 4 * 3);
}
