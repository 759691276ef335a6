//! Scenarios of the network: cuts, partitions, one-way links, slow messages.

use actix_bully::{
    protocol::{Event, LostReason},
    testkit::faults::Conditions,
};
use bully_core::protocol::After;
use bully_sim::sim::Detection;

use crate::quorum::kit::{AFTER, D, Group, H, P, id, ms};

const FIVE: [&str; 5] = ["a", "b", "c", "d", "e"];

#[test]
fn s48_a_leader_cut_from_all_stops_itself_before_another_starts() {
    for seed in 0..20 {
        let mut net = Group::of(5).led(seed);
        let cut = net.mark();
        net.world.isolate("e");
        net.until_leads("d", 400);
        let lost = net.lost_since(&cut, "e", LostReason::LeaseExpired);
        let [(acquired, successor)] = &net.acquired_since(&cut)[..] else {
            panic!("one succeeds");
        };
        assert_eq!(successor, "d");
        assert!(
            lost.since(cut.at) <= ms(D) && lost < *acquired,
            "seed {seed}"
        );
        let healed = net.mark();
        net.world.heal();
        net.run(AFTER * 4);
        net.follows("e");
        assert_eq!(net.acquired_since(&healed).len(), 1, "one hand-over back");
    }
}

#[test]
fn s49_a_follower_that_was_cut_off_disturbs_no_leader() {
    let mut net = Group::of(5).led(1);
    let before = net.leader();
    let term = net.durable_term("b");
    let then = net.mark();
    net.world.isolate("b");
    net.run(3_000);
    assert_eq!(net.durable_term("b"), term, "it asks, and claims nothing");
    net.world.heal();
    net.run(500);
    assert_eq!(net.leader(), before);
    let others = net.events_since(&then).into_iter();
    assert_eq!(others.filter(|(_, agent, _)| *agent != id("b")).count(), 0);
}

#[test]
fn s50_only_the_majority_leads() {
    let mut net = Group::of(5).led(2);
    net.world.partition([vec!["a", "b", "c"], vec!["d", "e"]]);
    net.run(1_000);
    assert_eq!(net.believers(), ["c"]);
    net.world.heal();
    net.run(AFTER * 4);
    net.follows("e");
}

#[test]
fn s51_an_even_split_has_no_leader() {
    let mut net = Group::of(4).led(3);
    net.world.partition([["a", "b"], ["c", "d"]]);
    net.run(1_000);
    assert_eq!(net.believers(), [""; 0]);
    net.world.heal();
    net.settle(ms(500));
    net.run(AFTER * 4);
    net.follows("d");
}

/// Scenarios 52 and 53.
#[test]
fn s52_a_leader_that_cannot_hear_or_cannot_be_heard_is_replaced() {
    for deaf in [true, false] {
        let mut net = Group::of(5).led(4);
        let cut = net.mark();
        for other in ["a", "b", "c", "d"] {
            if deaf {
                net.world.cut_one_way(other, "e");
            } else {
                net.world.cut_one_way("e", other);
            }
        }
        // Deaf, it keeps its followers until its lease is over; they wait for another promise.
        net.until_leads("d", 600);
        net.lost_since(&cut, "e", LostReason::LeaseExpired);
        net.run(2_000);
        assert_eq!(net.believers(), ["d"]);
        assert_eq!(
            net.acquired_since(&cut).len(),
            1,
            "nothing happens any more"
        );
    }
}

#[test]
fn s54_a_follower_that_cannot_hear_the_leader_starts_nothing() {
    let mut net = Group::of(5).led(5);
    let leader = net.leader();
    net.world.cut_one_way("e", "b");
    let then = net.mark();
    net.run(3_000);
    assert_eq!(net.believers(), ["e"]);
    for agent in FIVE {
        assert_eq!(net.durable_term(agent), leader.term);
    }
    assert_eq!(net.acquired_since(&then).len(), 0);
}

#[test]
fn s55_a_top_agent_that_can_speak_and_not_hear_loses_once() {
    let mut net = Group::of(5).led(6);
    let then = net.mark();
    for other in ["a", "b", "c", "d"] {
        net.world.cut_one_way(other, "e");
    }
    net.run(10_000);
    assert_eq!(net.believers(), ["d"]);
    assert_eq!(net.acquired_since(&then).len(), 1);
}

/// Scenarios 56 and 70.
#[test]
fn s56_the_hub_of_a_star_leads_and_stays() {
    for seed in 0..5 {
        let (builder, scenario) = Group::of(5).builder(seed);
        let mut net = crate::quorum::kit::Net::new(builder.build(), scenario);
        for (at, one) in FIVE.iter().enumerate().skip(1) {
            for other in FIVE.iter().skip(at + 1) {
                net.world.cut(one, other);
            }
        }
        net.until_leads("a", 1_000);
        let then = net.mark();
        net.run(20_000);
        net.follows("a");
        assert_eq!(net.acquired_since(&then).len(), 0, "seed {seed}");
    }
}

#[test]
fn s57_a_flapping_top_agent_does_not_bounce_the_leadership() {
    let mut net = Group::of(5).led(7);
    let then = net.mark();
    for _ in 0..20 {
        net.world.isolate("e");
        net.run(130);
        net.world.heal();
        net.run(140);
    }
    assert!(
        net.acquired_since(&then).len() <= 2,
        "{:?}",
        net.acquired_since(&then)
    );
    net.run(AFTER * 40);
    net.follows("e");
}

#[test]
fn s65_late_timers_prolong_no_leadership() {
    for seed in 0..50 {
        let mut net = Group::of(5).led(seed);
        net.world.set_lateness(After::jittered(ms(0), ms(2 * D)));
        net.run(200);
        net.world.isolate("e");
        net.run(2_000);
        assert!(!net.believers().contains(&"e".into()));
    }
}

#[test]
fn s66_a_late_acknowledgement_is_worth_what_is_left_of_it() {
    let mut net = Group::of(3).led(8);
    let slow = Conditions::builder()
        .delay(ms(70)..=ms(70))
        .build()
        .unwrap();
    for other in ["a", "b"] {
        net.world.set_link(other, "c", Some(slow));
    }
    net.run(1_000);
    assert_eq!(net.believers(), ["c"], "just in time");
    let cut = net.mark();
    net.world.isolate("c");
    net.until_leads("b", 400);
    let lost = net.lost_since(&cut, "c", LostReason::LeaseExpired);
    assert!(lost.since(cut.at) <= ms(D));
}

#[test]
fn s74_a_confirmed_end_is_not_waited_for() {
    for seed in 0..50 {
        let detection = Detection::Certain(ms(0).into());
        let group = Group {
            detection,
            ..Group::of(5)
        };
        let mut net = group.led(seed);
        net.run(seed % H); // heartbeats may be under way
        net.world.crash("e");
        let took = net.until_leads("d", 400);
        assert!(took <= ms(8), "seed {seed}: {took:?}"); // six delays
    }
}

#[test]
fn s75_a_suspicion_voids_no_promise() {
    let detection = Detection::Suspect(ms(0).into());
    let group = Group {
        detection,
        ..Group::of(5)
    };
    let mut net = group.led(9);
    net.world.crash("e");
    let took = net.until_leads("d", 400);
    assert!(took > ms(P - H - 2), "{took:?}");
}

/// A leader is silent: the next one leads within the time that the timings print.
#[test]
fn s07_a_fail_over_takes_no_longer_than_the_formula_says() {
    for n in [3, 5, 9] {
        for seed in 0..100 {
            let group = Group::of(n);
            let config = group.config();
            let bound = config.timings.worst_case_quorum_failover(1);
            let mut net = group.led(seed);
            net.run(seed % H);
            let top = net.leader().id;
            let then = net.mark();
            net.world.crash(&top);
            let someone = |world: &bully_sim::sim::World<_>| !world.believers().is_empty();
            assert!(net.world.run_until(someone, bound), "n {n}, seed {seed}");
            let acquired = net.acquired_since(&then);
            let second = group.names()[group.names().len() - 2].to_string();
            assert_eq!(acquired[0].1, second);
        }
    }
}

/// The steady state costs two messages per follower and heartbeat.
#[test]
fn a_steady_state_is_quiet() {
    let mut net = Group::of(5).led(10);
    let then = net.mark();
    let before = net.world.tally().sent;
    net.run(1_000);
    let sent = net.world.tally().sent - before;
    assert!(sent <= 2 * 4 * (1_000 / H + 1), "{sent}");
    let events = net.events_since(&then).into_iter();
    assert_eq!(
        events
            .filter(|(.., e)| !matches!(e, Event::Renewed { .. }))
            .count(),
        0
    );
}
