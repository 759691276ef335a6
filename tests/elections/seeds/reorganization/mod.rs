//! The reorganization of 1982 in the scenarios that are meant for every election, and in its own:
//! in the simulator, where each member's status can be seen. Here: 1 to 18.
//!
//! Where the paper's assumptions hold, its first assertion is checked after every step.

mod messages;
mod networks;
mod own;

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::reorganization::{Reorganization, ReorganizationConfig},
    protocol::{Time, Timings},
};
use bully_sim::{
    sim::{Reaction, World},
    trace::Checkpoint,
};

use super::{
    MS,
    losses::Scene,
    scenarios::{Scenarios, leads, led_by_the_best_of_five, scenarios},
    worlds::{Setting, acquired, dies_of},
};

/// T = 200 ms, d = 9 ms.
fn config() -> ReorganizationConfig {
    ReorganizationConfig {
        cooldown: MS(2_000),
        ..ReorganizationConfig::new(Timings::lan())
    }
}

impl Scenarios for Reorganization {
    const ON_ANY_NETWORK: bool = false;
    const ELECTS_ONCE: bool = true;
    const ANNOUNCED_BY: [&'static str; 2] = ["new_coordinator", "ready"];
    const OBEYS_BY: &'static str = "halt_ack";

    fn agents(n: usize) -> Setting<Self> {
        let config = Arc::new(config());
        Setting::of(n, Arc::clone(&config), &config.timings)
    }

    fn promise(world: &World<Self>) -> Result<(), String> {
        one_coordinator(world)
    }

    fn settles_within() -> Duration {
        config().worst_case_failover() * 2 + config().takeover() * 2
    }

    fn finds_within() -> Duration {
        let check = config().detector().heartbeat + config().timings.delay_bound() * 2;
        check + config().worst_case_election_with_losses()
    }

    fn fails_over_within() -> Duration {
        config().worst_case_failover()
    }

    fn returns_within() -> Duration {
        // Not without an election: in the paper a recovery is one, for all.
        config().detector().heartbeat + config().worst_case_election()
    }

    fn hands_over_within() -> Duration {
        config().timings.delay_bound() + config().worst_case_election()
    }

    fn own_scenes() -> Vec<Scene<Self>> {
        networks::scenes()
    }

    fn cooling_down_for(mut config: Self::Config, cooldown: Duration) -> Self::Config {
        Arc::make_mut(&mut config).cooldown = cooldown;
        config
    }
}

scenarios!(Reorganization);

fn agents(n: usize) -> Setting<Reorganization> {
    Reorganization::agents(n)
}

fn one_coordinator(world: &World<Reorganization>) -> Result<(), String> {
    let mut all = world
        .agents()
        .filter_map(|id| world.machine(id)?.coordinator());
    let first = all.next();
    match all.find(|other| Some(*other) != first) {
        Some(other) => Err(format!("{first:?} and {other} coordinate")),
        None => Ok(()),
    }
}

#[test]
fn s03_all_start_together_and_the_highest_leads() {
    for world in led_by_the_best_of_five::<Reorganization>() {
        let messages = world.trace().election_messages_since(Checkpoint::default());
        // Each pair a question and an answer, but for the pairs of the highest that it halts first;
        // and the winner's six for each of the others.
        assert!(messages <= 20 + 6 * 4, "{messages}");
        assert_eq!(acquired(&world, "e"), 1);
        assert!(world.now().since(Time::ZERO) <= config().worst_case_election());
    }
}

#[test]
fn s09_the_superior_dies_right_after_it_said_that_it_is_there() {
    for mut world in led_by_the_best_of_five::<Reorganization>() {
        world.crash("e");
        dies_of(&mut world, "d", "there", 0);
        leads(&mut world, "c");
        assert_eq!(world.sprung(Reaction::Crash), 1);
    }
}

#[test]
fn s10_one_that_starts_another_election_ends_following_the_winner() {
    for mut world in led_by_the_best_of_five::<Reorganization>() {
        world.campaign("c");
        leads(&mut world, "e");
        // The price: its coordinator finds it out of order, and puts all in order again.
        assert_eq!(acquired(&world, "e"), 2);
    }
}
