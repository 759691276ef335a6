//! Elections without a failure: scenarios 1 to 6, and 10. Then observers: the leader tells them, and they are not in the
//! ring: they pass nothing on, and ask no member.

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::ring::Ring,
    protocol::{AgentId, Event},
};
use bully_sim::{
    sim::{Detection, Participant, World},
    trace::What,
};

use crate::ring::kit::{
    MS, acquired, builder, comes_to_lead, config, events, id, leads, led, mark, names, ring, seeds,
    sent,
};

#[test]
fn s01_one_alone_leads_at_once() {
    seeds(|seed| {
        let mut world = ring(seed, 1);
        assert_eq!(leads(&mut world, "a"), Duration::ZERO);
        assert_eq!(world.trace().kinds().len(), 0, "nothing is said");
    });
}

#[test]
fn s02_two_start_together_and_the_higher_leads() {
    seeds(|seed| {
        leads(&mut ring(seed, 2), "b");
    });
}

#[test]
fn s03_all_start_together_and_the_highest_leads() {
    seeds(|seed| {
        let mut world = ring(seed, 5);
        leads(&mut world, "e");
        let kinds = ["collect", "nominate", "coordinator", "hop_ack"];
        let all: u64 = kinds.iter().map(|kind| sent(&world, kind)).sum();
        assert!(all <= config().worst_case_messages(5, 5), "{all}");
        assert_eq!(acquired(&world, 0), ["e"]);
        assert_eq!(
            events(&world, 0, |e| matches!(e, Event::Lost { .. })),
            [""; 0]
        );
    });
}

#[test]
fn s04_of_equal_scores_the_larger_name_leads() {
    seeds(|seed| {
        for starters in [vec![], vec!["a"], vec!["a", "b", "c"], vec!["b", "a"]] {
            let mut world = builder(seed, &[7, 7, 7], &config()).build();
            world.run_for(Duration::ZERO);
            for starter in starters {
                world.campaign(starter);
            }
            leads(&mut world, "c");
            let leaders = events(&world, 0, |e| matches!(e, Event::Acquired { .. }));
            assert_eq!(leaders, ["c"]);
        }
    });
}

#[test]
fn s05_the_lowest_starts_alone_and_the_highest_leads() {
    seeds(|seed| {
        let mut world = ring(seed, 5);
        world.run_for(Duration::ZERO);
        world.campaign("a");
        leads(&mut world, "e");
    });
}

#[test]
fn s06_the_highest_starts_alone_and_leads() {
    seeds(|seed| {
        let mut world = ring(seed, 5);
        let took = leads(&mut world, "e");
        assert!(took <= config().worst_case_election(5, 0), "{took:?}");
        assert_eq!(sent(&world, "nominate"), 0, "it closes the circle itself");
    });
}

#[test]
fn s10_one_that_starts_another_election_ends_following_the_winner() {
    seeds(|seed| {
        for starter in names(5) {
            let mut world = led(seed, 5);
            let before = mark(&world);
            world.campaign(&starter);
            leads(&mut world, "e");
            assert_eq!(acquired(&world, before), [""; 0], "the leader goes on");
            let lost = |e: &Event| matches!(e, Event::Lost { .. } | Event::NoLeader { .. });
            assert_eq!(
                events(&world, before, lost),
                [""; 0],
                "no agent was without it"
            );
        }
    });
}

/// Three voters and an observer, by that detection.
fn watched(seed: u64, detection: Detection) -> World<Ring> {
    let observer = Participant::observer(id("o"), Arc::new(config()));
    let world = builder(seed, &[1, 2, 3], &config());
    world.agent(observer).detection(detection).build()
}

/// The agents that the observer has sent anything to.
fn spoken_to(world: &World<Ring>) -> Vec<AgentId> {
    let said = world
        .trace()
        .entries()
        .filter_map(|entry| match &entry.what {
            What::Sent { message, .. } | What::Lost { message, .. } if message.from == "o" => {
                Some(message.to.clone())
            }
            _ => None,
        });
    said.collect()
}

#[test]
fn an_observer_follows_and_says_nothing_whichever_member_is_silent() {
    for detection in [Detection::Silent, Detection::Suspect] {
        seeds(|seed| {
            let mut world = watched(seed, detection(Duration::ZERO.into()));
            comes_to_lead(&mut world, "c", MS(10_000));
            world.crash("c");
            comes_to_lead(&mut world, "b", MS(10_000));
            world.run_for(MS(10_000));
            assert_eq!(spoken_to(&world), [""; 0]);
            let leader = world.view("o").unwrap().leader.unwrap();
            assert_eq!(leader.id, "b");
        });
    }
}
