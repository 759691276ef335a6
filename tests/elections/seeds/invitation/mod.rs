//! The invitation election in the scenarios that are meant for every election: in the simulator,
//! where each member's group can be seen. Here: 1 to 18.
//!
//! Agreement in each group is checked after every step, whatever happens.

mod messages;
mod networks;

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::invitation::{InvitationConfig, InvitationElection},
    protocol::{Event, LostReason, Timings},
    testkit::{
        sim::{Reaction, World},
        trace::Checkpoint,
    },
};

use super::{
    MS,
    scenarios::{Scenarios, leads, scenarios},
    worlds::{SECONDS, Setting, acquired, dies_of, seeds},
};

/// T = 200 ms, d = 9 ms.
fn config() -> InvitationConfig {
    InvitationConfig {
        cooldown: MS(2_000),
        ..InvitationConfig::new(Timings::lan())
    }
}

impl Scenarios for InvitationElection {
    const ON_ANY_NETWORK: bool = true;
    const ELECTS_ONCE: bool = false;
    const ANNOUNCED_BY: [&'static str; 2] = ["invitation", "ready"];

    fn agents(n: usize) -> Setting<Self> {
        let config = Arc::new(config());
        Setting::of(n, Arc::clone(&config), &config.timings)
    }

    fn promise(world: &World<Self>) -> Result<(), String> {
        one_coordinator_in_each_group(world)
    }

    fn settles_within() -> Duration {
        config().worst_case_failover(8) * 2 + config().takeover() * 2
    }

    fn finds_within() -> Duration {
        let check = config().detector().heartbeat + config().gathering();
        check * 2 + config().worst_case_merge()
    }

    fn cooling_down_for(mut config: Self::Config, cooldown: Duration) -> Self::Config {
        Arc::make_mut(&mut config).cooldown = cooldown;
        config
    }
}

scenarios!(InvitationElection);

fn agents(n: usize) -> Setting<InvitationElection> {
    InvitationElection::agents(n)
}

fn one_coordinator_in_each_group(world: &World<InvitationElection>) -> Result<(), String> {
    for id in world.agents() {
        let Some(machine) = world.machine(id) else {
            continue;
        };
        if machine.group().map(|group| &group.id) != machine.coordinator() {
            return Err(format!("{id}: {machine:?}"));
        }
    }
    Ok(())
}

#[test]
fn s03_all_start_together_and_the_highest_leads() {
    for seed in seeds() {
        let mut world = agents(5).watched(seed);
        leads(&mut world, "e");
        let messages = world.trace().election_messages_since(Checkpoint::default());
        // One merge of four; a second one of all if one was not yet there for the first.
        assert!(
            messages <= 2 * 3 * 4 + 4,
            "{messages}\n{}",
            world.trace().to_text()
        );
    }
}

#[test]
fn s06_the_highest_is_told_to_start_and_only_looks_for_others() {
    let mut world = agents(5).watched(1);
    leads(&mut world, "e");
    let before = (world.trace().checkpoint(), acquired(&world, "e"));
    world.campaign("e");
    world.run_for(SECONDS(1));
    leads(&mut world, "e");
    assert_eq!(
        world.trace().election_messages_since(before.0),
        0,
        "but for the check"
    );
    assert_eq!(acquired(&world, "e"), before.1);
}

#[test]
fn s07_the_leader_crashes_and_the_next_one_leads_within_the_bound() {
    for seed in seeds() {
        let mut world = agents(5).watched(seed);
        leads(&mut world, "e");
        world.crash("e");
        let crashed = world.now();
        leads(&mut world, "d");
        let took = world.now().since(crashed);
        let again = config().detector().heartbeat + config().worst_case_merge_with_losses();
        assert!(took <= config().worst_case_failover(0) + again, "{took:?}");
    }
}

#[test]
fn s09_a_member_dies_right_after_it_has_accepted() {
    for seed in seeds() {
        let mut world = agents(5).watched(seed);
        dies_of(&mut world, "b", "accept", 0);
        leads(&mut world, "e");
        assert_eq!(world.sprung(Reaction::Crash), 1);
    }
}

#[test]
fn s10_one_that_starts_another_election_ends_following_the_winner() {
    for seed in seeds() {
        let mut world = agents(5).watched(seed);
        leads(&mut world, "e");
        world.campaign("c");
        leads(&mut world, "e");
        assert_eq!(
            acquired(&world, "c"),
            1,
            "a group of one, until it is found"
        );
    }
}

#[test]
fn s14_one_that_was_down_during_the_election_is_found_by_the_next_check() {
    for seed in seeds() {
        let mut world = agents(5).watched(seed);
        leads(&mut world, "e");
        world.crash("a");
        world.run_for(SECONDS(1));
        world.restart("a");
        let restarted = world.now();
        leads(&mut world, "e");
        let check = config().detector().heartbeat + config().gathering();
        let longest = check * 2 + config().worst_case_merge();
        assert!(world.now().since(restarted) <= longest);
    }
}

#[test]
fn s16_a_leader_that_cannot_be_elected_any_more_hands_over() {
    for seed in seeds() {
        let mut world = agents(5).watched(seed);
        leads(&mut world, "e");
        let began = world.now();
        world.set_score("e", None);
        world.run_for(MS(1));
        leads(&mut world, "d");
        let first = |name: &str, wanted: fn(&Event) -> bool| {
            let mut events = world.events(name).iter();
            let found = events.find(|(at, event)| *at >= began && wanted(event));
            found.unwrap().0
        };
        let resigned = |event: &Event| {
            let reason = LostReason::Resigned;
            matches!(event, Event::Lost { reason: why, .. } if *why == reason)
        };
        let lost = first("e", resigned);
        let next = first("d", |event| matches!(event, Event::Acquired { .. }));
        let gap = next.since(lost);
        assert!(
            lost < next,
            "the leadership ends before the next one begins"
        );
        assert!(gap <= config().timings.delay_bound() * 5, "{gap:?}");
        world.set_score("e", Some(5.into()));
        leads(&mut world, "e");
    }
}
