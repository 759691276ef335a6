//! Scenarios 7 to 9 and 11 to 14, 28, 41: agents that die and come back.

use actix_bully::protocol::{Event, Term};
use bully_sim::sim::Detection;
use std::{ops::Range, time::Duration};

use crate::{
    ballot::kit::{DELAY, Group, ROUND, SEEDS, config, ms},
    seeds::worlds,
};

#[test]
fn s07_the_next_leads_after_a_silent_death() {
    for seed in SEEDS {
        let mut net = Group::of(5).led(seed);
        net.run(seed * 7 % ROUND);
        net.world.crash("e");
        let bound = config(5).worst_case_failover();
        assert_eq!(net.settle(bound), "d", "rounds in step: the score decides");
        net.ends_with("d");
    }
}

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
fn s07_a_confirmed_death_costs_one_round() {
    for seed in SEEDS {
        let group = Group {
            detection: Detection::Certain(Duration::ZERO.into()),
            ..Group::of(5)
        };
        let mut net = group.led(seed);
        net.run(seed * 7 % ROUND);
        net.world.crash("e");
        assert_eq!(net.settle(ms(ROUND + DELAY)), "d");
        net.ends_with("d");
    }
}

/// The leader of five dies when it sends the message of this kind that follows so many others.
fn dies_of(kind: &'static str, spared: Range<u32>) {
    for spared in spared {
        for mut net in Group::of(5).nets() {
            worlds::dies_of(&mut net.world, "e", kind, spared);
            net.run(ROUND + DELAY);
            assert!(!net.world.is_running("e"));
            net.settle(config(5).worst_case_failover());
            net.ends_with("d");
        }
    }
}

/// It has no announcement: bmax spreads with the requests of the second round.
#[test]
fn s08_a_leader_that_dies_amid_its_first_round_is_succeeded() {
    dies_of("heartbeat_request", 4..8);
}

#[test]
fn s09_a_superior_that_dies_right_after_its_answer_is_succeeded() {
    dies_of("heartbeat_reply", 0..4);
}

#[test]
fn s11_the_last_of_five_does_not_lead() {
    for mut net in Group::of(5).led_nets() {
        for dead in ["b", "c", "d", "e"] {
            net.world.crash(dead);
        }
        net.run(20 * ROUND);
        assert!(net.believers().is_empty());
        assert_eq!(net.world.view("a").unwrap().leader, None);
    }
}

#[test]
fn s12_all_crash_and_return_with_higher_ballots() {
    for mut net in Group::of(5).led_nets() {
        let mut last = Term(0);
        for _ in 0..3 {
            for agent in ["a", "b", "c", "d", "e"] {
                net.world.crash(agent);
            }
            net.run(ROUND);
            for agent in ["a", "b", "c", "d", "e"] {
                net.world.restart(agent);
            }
            assert_eq!(net.settle(ms(3 * ROUND)), "e");
            let term = net.world.agreed().unwrap().term;
            assert!(term > last, "{term} after {last}");
            last = term;
        }
        net.ends_with("e");
    }
}

/// The leader is sticky.
#[test]
fn s13_a_recovered_superior_follows() {
    for mut net in Group::of(5).led_nets() {
        net.world.crash("e");
        net.settle(config(5).worst_case_failover());
        let (events, before) = (net.events(), net.world.events("e").len());
        net.world.restart("e");
        net.run(ROUND + DELAY);
        net.ends_with("d");
        let since = net.since("e", before);
        assert!(matches!(since.as_slice(), [Event::NewLeader(leader)] if leader.id == "d"));
        assert_eq!(net.events(), events + 1, "no other agent noticed");
    }
}

#[test]
fn s14_a_late_joiner_follows_after_its_first_round() {
    for mut net in Group::of(5).nets() {
        net.run(0);
        net.world.crash("a");
        assert_eq!(net.settle(ms(ROUND + DELAY)), "e");
        net.run(100);
        let events = net.events();
        net.world.restart("a");
        net.run(ROUND + DELAY);
        net.ends_with("e");
        assert_eq!(net.events(), events + 1, "no other agent noticed");
    }
}

#[test]
fn s41_after_a_restart_a_ballot_is_greater_than_any_that_was_used() {
    for seed in SEEDS {
        let mut net = Group::of(3).led(seed);
        let mut used = 0;
        for _ in 0..5 {
            net.world.crash("c");
            net.run(seed); // before or after the others notice
            net.world.restart("c");
            net.run(10 * ROUND);
            let idle = net.world.machine("c").unwrap();
            assert!(idle.own().is_none_or(|own| own.n > used));
            if net.agreed() != "c" {
                net.world.campaign("c");
                net.run(3 * ROUND);
            }
            let own = net.world.machine("c").unwrap().own().unwrap().n;
            assert!(own > used, "{own} after {used}");
            used = own;
        }
        net.ends_with("c");
    }
}

/// A ballot that was used must never be used again, so an agent that has forgotten its own does not stand.
#[test]
fn s28_a_voter_that_lost_its_record_does_not_come_back() {
    for mut net in Group::of(3).led_nets() {
        net.world.crash("c");
        net.settle(config(3).worst_case_failover());
        assert!(net.world.wipe("c"), "it held a record");
        assert!(!net.world.restart("c"));
        assert!(!net.world.is_running("c"));
        net.ends_with("b");
    }
}
