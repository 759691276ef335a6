//! The invitation election in the scenarios that are meant for every election: in the simulator,
//! where each member's group can be seen. Here: 1 to 18.
//!
//! Agreement in each group is checked after every step, whatever happens.

mod messages;
mod networks;

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::invitation::{InvitationConfig, InvitationElection},
    protocol::Timings,
};
use bully_sim::{sim::World, trace::Checkpoint};

use super::{
    MS,
    losses::Scene,
    scenarios::{Scenarios, leads, led_by_the_best_of_five, scenarios},
    worlds::{Setting, acquired},
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
    const OBEYS_BY: &'static str = "accept";

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

    fn fails_over_within() -> Duration {
        let again = config().detector().heartbeat + config().worst_case_merge_with_losses();
        config().worst_case_failover(0) + again
    }

    fn returns_within() -> Duration {
        Self::finds_within()
    }

    fn hands_over_within() -> Duration {
        config().timings.delay_bound() * 5
    }

    fn own_scenes() -> Vec<Scene<Self>> {
        networks::scenes()
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
    for world in led_by_the_best_of_five::<InvitationElection>() {
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
fn s10_one_that_starts_another_election_ends_following_the_winner() {
    for mut world in led_by_the_best_of_five::<InvitationElection>() {
        world.campaign("c");
        leads(&mut world, "e");
        assert_eq!(
            acquired(&world, "c"),
            1,
            "a group of one, until it is found"
        );
    }
}
