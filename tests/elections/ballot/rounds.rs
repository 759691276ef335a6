//! Tests of the ballot alone: rounds that are out of step, slow or unanswered, and the cost of a round, which is
//! exactly 2 n (n - 1) messages.

use std::{ops::Range, time::Duration};

use actix_bully::{
    protocol::{Event, LostReason},
    testkit::faults::Conditions,
};
use bully_sim::sim::Detection;

use crate::ballot::kit::{CAP, Group, ROUND, SEEDS, config, id, ms, usual};

/// Seeds of a test whose runs are long.
const FEW: Range<u64> = 0..2;

#[test]
fn s07_rounds_out_of_step_keep_the_bound() {
    let mut slowest = Duration::ZERO;
    for seed in 0..100 {
        let group = Group {
            starts_within: ms(ROUND),
            ..Group::of(5)
        };
        let mut net = group.world(seed);
        net.settle(ms(10 * ROUND));
        net.run(200 + seed % ROUND);
        let dead = net.agreed();
        net.world.crash(&dead);
        let began = net.world.now();
        let leader = net.settle(config(5).worst_case_failover());
        slowest = slowest.max(net.world.now().since(began));
        net.ends_with(&leader);
    }
    assert!(
        slowest > ms(2 * ROUND),
        "the bound is not far off: {slowest:?}"
    );
}

#[test]
fn s21_with_loss_agreement_takes_no_longer_than_ten_rounds() {
    for seed in 0..100 {
        let group = Group {
            network: usual().loss(150),
            ..Group::of(5)
        };
        let mut net = group.world(seed);
        net.settle(ms(10 * ROUND));
        let leader = net.agreed();
        let events = net.events();
        net.run(10 * ROUND);
        assert_eq!(
            (net.agreed(), net.events()),
            (leader, events),
            "and it lasts"
        );
    }
}

#[test]
fn s42_one_slow_voter_lengthens_rounds_up_to_the_cap_and_not_for_ever() {
    for seed in FEW {
        let mut net = Group::of(5).led(seed);
        let slow = Conditions::builder()
            .delay(ms(CAP)..=ms(CAP))
            .build()
            .unwrap();
        for other in ["b", "c", "d", "e"] {
            net.world.set_link("a", other, Some(slow));
            net.world.set_link(other, "a", Some(slow));
        }
        net.run(40 * CAP);
        assert_eq!(net.world.believers(), [id("e")], "the majority is well");
        for agent in ["b", "c", "d", "e"] {
            let takes = net.world.machine(agent).unwrap().round_takes();
            assert!(takes > ms(ROUND) && takes <= ms(CAP), "{takes:?}");
        }
        net.world.recover();
        net.run(40 * CAP);
        for agent in ["a", "b", "c", "d", "e"] {
            assert_eq!(net.world.machine(agent).unwrap().round_takes(), ms(ROUND));
        }
        let leader = net.agreed();
        net.ends_with(&leader);
    }
}

#[test]
fn s43_an_isolated_leader_loses_its_leadership_within_a_round() {
    for seed in SEEDS {
        let mut net = Group::of(5).led(seed);
        net.run(seed * 7 % ROUND);
        let before = net.world.events("e").len();
        net.world.isolate("e");
        net.world.run_for(config(5).worst_case_isolation());
        let isolated = LostReason::Isolated;
        assert!(matches!(
            net.since("e", before).as_slice(),
            [Event::Lost { reason, .. }] if *reason == isolated
        ));
        net.run(3 * ROUND);
        assert_eq!(net.believers(), ["d"]);
        net.world.heal();
        net.run(2 * ROUND);
        net.ends_with("d");
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

/// The crash of the leader is confirmed, so each other agent asks at once, and one round elects the next leader.
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
    // Four agents ask four agents each, and each gets three answers: the dead agent does not answer.
    assert_eq!(net.world.tally().sent - before, 4 * 4 + 4 * 3);
}
