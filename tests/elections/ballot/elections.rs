//! Scenarios 1 to 6 and 10: starts, and elections that are asked for. Then the cost of a round
//! without faults: 2 n (n - 1) messages, exactly.

use std::time::Duration;

use bully_sim::sim::Detection;

use crate::ballot::kit::{DELAY, Group, ROUND, SEEDS, config, id, ms};

/// One round, and what the last answer takes.
const FIRST: u64 = ROUND + DELAY;

#[test]
fn s01_one_alone_leads_at_once() {
    let mut net = Group::of(1).world(1);
    assert_eq!(net.settle(ms(0)), "a");
    net.ends_with("a");
}

#[test]
fn s02_of_two_the_higher_leads() {
    for mut net in Group::of(2).nets() {
        assert_eq!(net.settle(ms(FIRST)), "b");
        net.ends_with("b");
    }
}

#[test]
fn s03_of_five_that_start_together_the_highest_leads_after_a_round() {
    for mut net in Group::of(5).nets() {
        net.run(ROUND - 1);
        let sent = usize::try_from(net.world.tally().sent).unwrap();
        assert_eq!(sent, config(5).messages_per_round());
        assert_eq!(net.settle(ms(FIRST)), "e");
        assert_eq!(net.events(), 5, "each is told once");
        net.ends_with("e");
    }
}

#[test]
fn s03_agents_that_start_one_by_one_agree_as_well() {
    for seed in SEEDS {
        let group = Group {
            starts_within: ms(5 * ROUND),
            ..Group::of(5)
        };
        let mut net = group.world(seed);
        net.settle(ms(10 * ROUND));
        let leader = net.agreed();
        net.ends_with(&leader);
    }
}

#[test]
fn s04_equal_scores_are_decided_by_the_name() {
    for mut net in Group::scored([Some(7), Some(7), Some(7)]).nets() {
        assert_eq!(net.settle(ms(FIRST)), "c");
        net.ends_with("c");
    }
}

/// The next ballot is the highest, whichever agent takes it.
#[test]
fn s05_the_lowest_campaigns_alone_and_takes_the_leadership() {
    for mut net in Group::of(5).led_nets() {
        net.world.campaign("a");
        net.run(2 * ROUND + DELAY);
        net.ends_with("a");
    }
}

#[test]
fn s06_the_highest_campaigns_while_it_leads_and_nothing_happens() {
    for mut net in Group::of(5).led_nets() {
        let events = net.events();
        net.world.campaign("e");
        net.ends_with("e");
        assert_eq!(net.events(), events);
    }
}

#[test]
fn s10_elections_beside_a_healthy_leader_end_with_one_leader() {
    for mut net in Group::of(5).led_nets() {
        net.world.campaign("b");
        net.world.campaign("d");
        net.run(2 * ROUND + DELAY);
        net.ends_with("d");
        assert_eq!(net.world.believers(), [id("d")]);
    }
}

#[test]
fn observers_are_told_and_witnesses_count() {
    for seed in SEEDS {
        let group = Group {
            observers: vec!["x", "y"],
            ..Group::scored([Some(1), None, None])
        };
        let mut net = group.world(seed);
        assert_eq!(net.settle(ms(FIRST)), "a");
        net.world.crash("c");
        net.ends_with("a");
        net.world.crash("b");
        net.run(2 * ROUND);
        assert!(net.believers().is_empty(), "a majority is needed");
        net.world.restart("b");
        net.run(4 * ROUND);
        net.ends_with("a");
    }
}

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
