//! Agents that crash, hang and come back: scenarios 7 to 9, and 11 to 14. No member is told: only
//! silence tells, unless something else is said.

use std::time::Duration;

use actix_bully::{
    elections::ring::{Ring, RingConfig},
    protocol::Event,
    testkit::faults::Conditions,
};
use bully_sim::sim::{Detection, Reaction, Trap, World};

use crate::{
    ring::kit::{
        MS, acquired, builder, comes_to_lead, comes_to_lead_above, config, events, id, leads, led,
        led_rings, mark, names, ring, seeds, sent,
    },
    seeds::worlds::dies_of,
};

#[test]
fn s07_the_leader_crashes_and_the_next_one_leads_within_the_bound() {
    seeds(|seed| {
        for n in [2, 3, 5, 8] {
            let mut world = led(seed, n);
            world.run_for(MS(500));
            let members = names(usize::try_from(n).unwrap());
            let [.., next, top] = members.as_slice() else {
                unreachable!()
            };
            world.crash(top);
            let bound = config().worst_case_failover(members.len(), 1);
            let took = comes_to_lead(&mut world, next.as_str(), bound);
            assert!(
                took > config().detector().detection,
                "it has to be noticed: {took:?}"
            );
        }
    });
}

#[test]
fn s07_a_confirmed_death_is_answered_at_once() {
    seeds(|seed| {
        let confirmed = Detection::Certain(Duration::ZERO.into());
        let mut world = builder(seed, &[1, 2, 3, 4, 5], &config())
            .detection(confirmed)
            .conditions(Conditions::delayed(MS(15)))
            .build();
        leads(&mut world, "e");
        world.run_for(MS(500));
        let before = ["collect", "nominate", "coordinator"].map(|kind| sent(&world, kind));
        world.crash("e");
        let took = comes_to_lead(&mut world, "d", config().worst_case_election(4, 0));
        assert!(took <= config().worst_case_election(4, 0), "{took:?}");
        let after = ["collect", "nominate", "coordinator"].map(|kind| sent(&world, kind));
        let sent: Vec<u64> = after
            .iter()
            .zip(before)
            .map(|(now, then)| now - then)
            .collect();
        assert_eq!(sent, [4, 0, 4], "one token, from the first slot");
    });
}

#[test]
fn s08_the_leader_crashes_when_half_of_the_others_know_of_it() {
    seeds(|seed| {
        for spared in 0..4 {
            let mut world = ring(seed, 5);
            // After so many hops of the announcement the member that passes it on dies; first the leader.
            let by = (spared == 0).then(|| id("e"));
            let (kind, then) = ("coordinator", Reaction::Crash);
            world.arm(&Trap {
                by,
                kind,
                spared,
                then,
            });
            let sprung = |w: &World<Ring>| w.sprung(Reaction::Crash) > 0;
            assert!(world.run_until(sprung, MS(60_000)));
            if world.is_running("e") {
                world.crash("e");
            }
            let left = world.highest().unwrap().id;
            leads(&mut world, left.as_str());
            let keeps = world
                .views()
                .any(|(_, view)| view.leader.unwrap().id == "e");
            assert!(!keeps, "no member keeps the dead one");
        }
    });
}

#[test]
fn s09_the_superior_crashes_right_after_its_acknowledgement() {
    // The token's, as it passes it on; the nomination's, before it announces itself.
    for (kind, spared) in [("collect", 0), ("hop_ack", 1)] {
        for mut world in led_rings() {
            world.run_for(MS(500));
            let term = world.view("a").unwrap().term;
            let announced = sent(&world, "coordinator");
            dies_of(&mut world, "e", kind, spared);
            world.campaign("c");
            let sprung = |w: &World<Ring>| w.sprung(Reaction::Crash) == 1;
            assert!(world.run_until(sprung, MS(1_000)), "{kind}");
            assert!(!world.is_running("e"));
            assert_eq!(sent(&world, "coordinator"), announced, "not one is told");
            let n = 5;
            let bound = config().worst_case_failover(n, 1) + config().token(n);
            comes_to_lead_above(&mut world, term, "d", bound);
        }
    }
}

#[test]
fn s09_one_that_passes_the_nomination_on_crashes_right_after_it() {
    for mut world in led_rings() {
        world.run_for(MS(500));
        let term = world.view("a").unwrap().term;
        dies_of(&mut world, "d", "nominate", 0);
        world.campaign("c");
        let sprung = |w: &World<Ring>| w.sprung(Reaction::Crash) == 1;
        assert!(world.run_until(sprung, MS(1_000)));
        let bound = config().worst_case_election(5, 1);
        comes_to_lead_above(&mut world, term, "e", bound);
        assert!(!world.is_running("d"));
    }
}

#[test]
fn s11_all_but_the_lowest_crash_and_it_leads() {
    for mut world in led_rings() {
        for name in ["b", "c", "d", "e"] {
            world.crash(name);
        }
        comes_to_lead(&mut world, "a", config().worst_case_failover(5, 4));
    }
}

#[test]
fn s12_all_crash_and_all_restart() {
    for mut world in led_rings() {
        let term = world.view("a").unwrap().term;
        for name in names(5) {
            assert!(world.crash(name));
        }
        world.run_for(MS(1_000));
        for name in names(5) {
            assert!(world.restart(name));
        }
        leads(&mut world, "e");
        assert!(
            world.view("a").unwrap().term > term,
            "above every earlier one"
        );
    }
}

#[test]
fn s13_the_highest_recovers_and_leads_again_with_one_change() {
    for mut world in led_rings() {
        world.crash("e");
        comes_to_lead(&mut world, "d", MS(10_000));
        let before = mark(&world);
        world.restart("e");
        comes_to_lead(&mut world, "e", MS(10_000));
        assert_eq!(acquired(&world, before), ["e"]);
    }
}

#[test]
fn s13_one_that_may_not_challenge_yet_leaves_the_leader_alone() {
    seeds(|seed| {
        let sticky = RingConfig {
            challenge_after: Duration::from_secs(30),
            ..RingConfig::default()
        };
        let mut world = builder(seed, &[1, 2, 3, 4, 5], &sticky).build();
        leads(&mut world, "e");
        world.crash("e");
        comes_to_lead(&mut world, "d", MS(10_000));
        let before = mark(&world);
        world.restart("e");
        world.run_for(Duration::from_secs(20));
        leads(&mut world, "d");
        assert_eq!(acquired(&world, before), [""; 0]);
        comes_to_lead(&mut world, "e", Duration::from_secs(15));
    });
}

#[test]
fn s14_one_that_was_down_during_the_announcement_follows_by_a_heartbeat() {
    for mut world in led_rings() {
        world.crash("a");
        world.crash("e");
        comes_to_lead(&mut world, "d", MS(20_000));
        world.run_for(MS(1_000));
        let (before, elections) = (mark(&world), sent(&world, "collect"));
        world.restart("a");
        // Its neighbour passes it over until a probe is answered; then comes a heartbeat.
        let lap = config().timings.delay_bound() * 5;
        let beats = config().probe() + config().detector().heartbeat * 2;
        comes_to_lead(&mut world, "d", beats + lap * 2 + config().hop());
        assert_eq!(sent(&world, "collect"), elections, "without an election");
        assert_eq!(acquired(&world, before), [""; 0]);
        let changed = events(&world, before, |e| !matches!(e, Event::Draining { .. }));
        assert_eq!(changed, ["a"], "no other agent hears of it");
    }
}
