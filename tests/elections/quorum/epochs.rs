//! Tests of other voters in another epoch (81). The order that `quorum::epoch` prescribes gives one leader after another.
//! All epochs share one record of the oracle. `quorum_agents.rs` has two epochs at one time.

use actix_bully::{
    elections::{bully::Preemption, quorum::QuorumConfig},
    protocol::{Term, Timings},
    testkit::faults::Conditions,
};
use actix_bully_oracles::{QuorumScenario, Watch, Watched};
use bully_sim::sim::Participant;

use crate::quorum::kit::{AFTER, D, Group, Net, P, id, ms};

/// First term of the epoch after the first epoch.
const NEXT: Term = Term(1 << 40);

/// Returns the voters `a`, `b` and `c` of the first epoch, led by `c`, and the oracle with which voters of the next
/// epochs start.
fn old(seed: u64) -> (Net, QuorumScenario) {
    let group = Group::of(3);
    let (builder, scenario) = group.builder(seed);
    let again = scenario.clone();
    let mut net = Net::new(builder.build(), scenario);
    assert_eq!(net.settle(ms(500)), id("c"));
    net.run(50);
    (net, again)
}

fn epoch(scenario: &QuorumScenario, names: &[&str], number: u64) -> Watch {
    let config = QuorumConfig {
        timings: Timings::in_process(),
        preemption: Preemption::After(ms(AFTER)),
        epoch: number,
        ..QuorumConfig::new(names.iter().map(|name| id(name)))
    };
    scenario.watch().epoch(config)
}

fn voter(name: &str, score: i32, watch: &Watch) -> Participant<Watched> {
    Participant::voter(id(name), Some(score.into()), watch.clone())
}

/// Some voters stay, one goes, and a new voter comes. Messages of the old epoch stay in transit for long.
#[test]
fn s81_stopping_all_before_starting_others_has_one_leader_after_another() {
    for seed in 0..100 {
        let (mut net, scenario) = old(seed);
        let slow = Conditions::builder()
            .delay(ms(0)..=ms(1))
            .duplication(300)
            .slow(500, ms(1)..=ms(4 * P))
            .in_any_order();
        net.world.set_conditions(slow.build().unwrap());
        net.run(20);
        let before = net.leader().term;
        for name in ["a", "b", "c"] {
            net.world.leave(name);
        }
        net.run(seed % 7);
        let watch = epoch(&scenario, &["b", "c", "d"], 1);
        for (name, score) in [("b", 2), ("c", 3), ("d", 4)] {
            assert!(net.world.join(voter(name, score, &watch)), "with its store");
        }
        let then = net.mark();
        net.run(P);
        assert_eq!(net.believers(), [""; 0], "no leader between");
        net.world.set_conditions(Conditions::default());
        net.run(5 * P);
        // A slow first message delays a link, so other voters may lead before `d` and hand over to it.
        let acquired = net.acquired_since(&then).len();
        assert!((1..=3).contains(&acquired), "seed {seed}: {acquired}");
        let leader = net.leader();
        assert!(before < NEXT && leader.term > NEXT, "{}", leader.term);
        for name in ["b", "c", "d"] {
            assert!(net.durable_term(name) > NEXT);
        }
    }
}

/// The leader cannot be reached, or hangs, so only the other old voters are stopped before the new voters start. The old
/// leader ends by itself before the new voters elect a leader.
#[test]
fn s81_a_leader_that_cannot_be_stopped_ends_before_the_new_epoch_has_one() {
    for (seed, hangs) in (0..50).flat_map(|seed| [(seed, true), (seed, false)]) {
        let (mut net, scenario) = old(seed);
        net.run(seed % 25);
        if hangs {
            net.world.pause("c");
        } else {
            net.world.isolate("c");
        }
        for name in ["a", "b"] {
            net.world.leave(name);
        }
        // All voters are new, so no store knows of the old epoch.
        let watch = epoch(&scenario, &["d", "e", "f"], 1);
        for (name, score) in [("d", 1), ("e", 2), ("f", 3)] {
            net.world.join(voter(name, score, &watch));
        }
        net.run(D);
        assert_eq!(net.believers(), [""; 0], "its lease is over");
        let then = net.mark();
        net.until_leads("f", 2 * P);
        net.world.heal();
        net.world.resume("c");
        net.run(4 * P);
        assert_eq!(net.believers(), ["f"]);
        assert_eq!(net.acquired_since(&then).len(), 1, "after c, only f");
    }
}

/// Each voter stops before it starts in the next epoch, one after the other. The old majority ends when the second
/// voter stops, and the old and the new majority share a voter.
#[test]
fn s81_a_group_that_keeps_most_of_its_voters_may_restart_them_in_turn() {
    for seed in 0..50 {
        let (mut net, scenario) = old(seed);
        let watch = epoch(&scenario, &["a", "b", "c", "d"], 1);
        net.world.join(voter("d", 4, &watch));
        for (name, score) in [("a", 1), ("b", 2), ("c", 3)] {
            net.run(seed * 5 % 300);
            net.world.leave(name);
            assert!(net.world.join(voter(name, score, &watch)));
        }
        net.run(6 * P);
        let leader = net.leader();
        assert!(leader.term > NEXT);
    }
}
