//! Scenarios 19 to 22, 25 and 26, 39 to 43: what a network does.

use actix_bully::{
    elections::ballot::Ballot,
    protocol::{Event, LostReason},
    testkit::faults::{Conditions, ConditionsBuilder},
};
use bully_sim::{sim::World, trace::Trace};

use crate::ballot::{
    kit::{CAP, DELAY, Group, ROUND, SEEDS, config, id, ms, usual},
    losses::{Act, LossSuite, Scene, every_kind_but},
};

/// Where a run is long.
const FEW: std::ops::Range<u64> = 0..2;

#[test]
fn s19_copies_of_messages_change_nothing() {
    for seed in SEEDS {
        let group = Group {
            network: usual().duplication(1_000),
            ..Group::of(5)
        };
        let mut net = group.world(seed);
        assert_eq!(net.settle(ms(ROUND + DELAY)), "e");
        net.ends_with("e");
        assert_eq!(net.events(), 5, "each is told once");
        let takes = net.world.machine("a").unwrap().round_takes();
        assert_eq!(takes, ms(ROUND), "a copy is not a late answer");
    }
}

#[test]
fn s20_messages_in_any_order_do_no_harm() {
    for seed in SEEDS {
        let network = Conditions::builder().delay(ms(0)..=ms(ROUND / 2));
        let group = Group {
            network: network.in_any_order(),
            ..Group::of(5)
        };
        let mut net = group.world(seed);
        net.run(20 * ROUND);
        net.ends_with("e");
    }
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

fn kinds() -> Vec<&'static str> {
    let why = "it repairs a lost disk, which no scene of the suite has: a unit test sends it";
    every_kind_but::<Ballot>(&[("nack", why)])
}

/// An observer is told which agent leads.
fn observed() -> Group {
    Group {
        observers: vec!["x"],
        ..Group::of(5)
    }
}

fn led(seed: u64) -> World<Ballot> {
    let mut net = observed().led(seed);
    net.run(seed % ROUND);
    *net.world.trace_mut() = Trace::new().with_repeated();
    net.world
}

fn led_by_the_next(seed: u64) -> World<Ballot> {
    let mut world = led(seed);
    world.crash("e");
    world.settle(config(5).worst_case_failover()).unwrap();
    world
}

/// Where all that it says is said.
fn scenes() -> [Scene<Ballot>; 5] {
    let lasting = Scene::lasting(ms(5 * ROUND));
    // A ballot is for those that answer in time: the leader depends on what is lost.
    let scene = |stage, act| lasting(stage, act, "");
    [
        scene(led, Act::Nothing),
        scene(led, Act::Crash("e")),
        scene(led_by_the_next, Act::Restart("e")),
        scene(led, Act::Campaign("b")),
        scene(led, Act::StepDown("e")),
    ]
}

/// An agent leads, and it lasts.
#[track_caller]
fn recovers(world: &mut World<Ballot>, _: &str) {
    world.run_for(ms(10 * ROUND));
    let first = world.agreed();
    assert!(first.is_some(), "{}", world.trace().to_text());
    world.run_for(ms(10 * ROUND));
    assert_eq!(world.agreed(), first);
    assert_eq!(world.violation(), None);
}

/// Each message is lost, and that agent leads in the end.
fn losses() -> LossSuite<Ballot> {
    LossSuite {
        kinds: kinds(),
        scenes: scenes().into(),
        seeds: FEW,
        then: recovers,
    }
}

#[test]
fn s22_one_message_of_each_kind_is_lost() {
    losses().lose_each(8);
}

#[test]
fn s22_all_messages_of_a_kind_are_lost_at_one_moment() {
    losses().lose_first();
}

/// Of a whole round.
#[test]
fn s22_messages_of_each_kind_may_be_lost_for_a_round() {
    for kind in kinds() {
        for seed in SEEDS {
            let mut net = observed().led(seed);
            net.world.ignore(kind);
            net.world.step_down("e", None);
            net.run(ROUND + 1);
            net.world.recover();
            assert!(net.world.tally().ignored > 0, "{kind} was lost");
            net.settle(ms(6 * ROUND));
            let leader = net.agreed();
            net.ends_with(&leader);
        }
    }
}

#[test]
fn s25_an_agent_that_missed_an_election_follows_after_a_round() {
    for mut net in Group::of(5).led_nets() {
        net.world.isolate("a");
        net.world.campaign("d");
        net.run(10 * ROUND);
        assert_eq!(net.world.view("a").unwrap().leader, None);
        let events = net.events();
        net.world.heal();
        net.run(2 * ROUND + DELAY);
        net.ends_with("d");
        assert_eq!(net.events(), events + 1, "no other agent noticed");
    }
}

/// How many leaderships they cost is counted: without them none is lost.
#[test]
fn s26_delays_beyond_a_round_end_in_agreement_when_they_end() {
    let lost = |network: ConditionsBuilder| {
        let mut lost = 0;
        for seed in FEW {
            let mut net = Group::of(5).led(seed);
            net.world.set_conditions(network.build().unwrap());
            net.run(100 * ROUND);
            net.world.set_conditions(usual().build().unwrap());
            net.run(12 * CAP);
            let leader = net.agreed();
            assert_ne!(leader, "none");
            net.ends_with(&leader);
            let all = net.world.agents().flat_map(|agent| net.world.events(agent));
            lost += all.filter(|(_, e)| matches!(e, Event::Lost { .. })).count();
        }
        lost
    };
    let late = lost(Conditions::builder().delay(ms(ROUND)..=ms(5 * ROUND)));
    let in_time = lost(usual());
    println!("{late} leaderships were lost; with usual delays {in_time}");
    assert!(late > 0 && in_time == 0, "{late}, {in_time}");
}

#[test]
fn s39_of_four_split_in_halves_neither_side_elects() {
    for mut net in Group::of(4).nets() {
        net.world.partition([["a", "b"], ["c", "d"]]);
        net.run(50 * ROUND);
        assert_eq!((net.events(), net.believers().len()), (0, 0));
        net.world.heal();
        net.run(3 * ROUND);
        net.ends_with("d");
        assert_eq!(net.events(), 4, "no other agent led in between");

        net.world.partition([["a", "b"], ["c", "d"]]);
        net.run(2 * ROUND + DELAY);
        assert!(
            net.believers().is_empty(),
            "the leader has lost its majority"
        );
        net.run(50 * ROUND);
        assert!(net.believers().is_empty());
    }
}

#[test]
fn s40_a_hundred_steady_rounds_tell_of_one_leader_once() {
    for mut net in Group::of(5).nets() {
        net.run(100 * ROUND + DELAY);
        for agent in ["a", "b", "c", "d", "e"] {
            assert_eq!(net.world.events(agent).len(), 1, "{agent}");
        }
        net.ends_with("e");
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

/// Minority, majority, and one way only.
#[test]
fn a_partition_leaves_one_leader_on_the_side_of_the_majority() {
    for mut net in Group::of(5).led_nets() {
        net.world.partition([["d", "e"]]);
        net.run(4 * ROUND);
        assert_eq!(net.believers(), ["c"]);
        net.world.heal();
        net.run(2 * ROUND);
        net.ends_with("c");

        for other in ["a", "b", "d", "e"] {
            net.world.cut_one_way("c", other);
        }
        net.run(4 * ROUND);
        assert_eq!(
            net.believers(),
            ["e"],
            "a leader that is not heard does not lead"
        );
    }
}

/// A star: only the hub hears a majority.
#[test]
fn the_hub_of_a_star_leads() {
    for mut net in Group::of(5).led_nets() {
        let rim = ["b", "c", "d", "e"];
        for (at, one) in rim.iter().enumerate() {
            for other in &rim[at + 1..] {
                net.world.cut(one, other);
            }
        }
        net.run(20 * ROUND);
        assert_eq!(net.believers(), ["a"]);
        let events = net.events();
        net.run(100 * ROUND);
        assert_eq!(
            (net.believers(), net.events()),
            (vec!["a".to_owned()], events)
        );
    }
}
