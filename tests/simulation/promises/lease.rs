//! A lease in a store: the properties that it shares with the quorum, and those that depend on its store.

use std::{ops::Range, sync::Arc, time::Duration};

use actix_bully::{
    elections::lease::LeaseConfig,
    protocol::{AgentId, Score, Timings},
    testkit::faults::Conditions,
};
use actix_bully_oracles::{BullyScenario, LeaseScenario};
use bully_core::elections::lease::{RegisterConfig, Simulated, SimulatedConfig};
use bully_sim::sim::{Participant, World, chaos::Fault};

use super::{
    kit::{names, sides, size},
    leaders,
};

const REGISTER: &str = "register";

/// Checks that at most one agent leads at every instant. The register is one of the agents.
fn one_leads(seeds: Range<u64>, faults: &[Fault], skew: fn(u64) -> u32) {
    let faults = faults.iter().copied();
    let faults: Vec<_> = faults.filter(|f| LeaseScenario::can_happen(*f)).collect();
    leaders::one_leads(seeds, &faults, skew, |seed| {
        let faults_for = Duration::from_secs(4);
        let scenario = LeaseScenario::drawn(seed, faults_for).unwrap();
        (size(seed) + 1, scenario)
    });
}

pub(super) fn within_the_delay_bound() {
    one_leads(0..100, &BullyScenario::BOUNDED, |_| 0);
}

/// Checks all faults, with every clock wrong by up to 11 %.
pub(super) fn on_any_network() {
    one_leads(0..100, &Fault::ALL, |_| 110_000);
    assert!(
        leaders::clocks_that_err(400_000, led).0 > 0,
        "the clocks do not matter"
    );
    assert_eq!(leaders::clocks_that_err(110_000, led).0, 0);
}

pub(super) fn shares_no_term_while_the_store_remembers() {
    one_leads(1_000..1_060, &Fault::ALL, |_| 110_000);
}

fn config() -> LeaseConfig {
    let config = LeaseConfig::new("shop", "cron").unwrap();
    LeaseConfig {
        timings: Timings::lan(),
        ..config
    }
}

/// Returns a world of the agents `a`, `b`, … in which the last one has the highest rank and leads. Messages take up to
/// the delay bound.
pub(super) fn led(seed: u64, n: usize) -> World<Simulated> {
    let bound = config().timings.delay_bound();
    let delay = Conditions::builder().delay(bound / 20..=bound);
    let agents = names(n).into_iter().zip(1..).map(|(id, score)| {
        let config = SimulatedConfig::Agent(Arc::new(config()), REGISTER.parse().unwrap());
        Participant::voter(id, Some(Score::from(score)), config)
    });
    let register = SimulatedConfig::Register(RegisterConfig::default());
    let mut world = World::builder(seed)
        .agents(agents)
        .agent(Participant::observer(REGISTER.parse().unwrap(), register))
        .conditions(delay.build().unwrap())
        .build();
    let leader = world.settle(Duration::from_secs(60)).unwrap();
    assert_eq!(Some(leader), names(n).pop(), "seed {seed}");
    world.run_for(bound * 40);
    world
}

/// Returns a group that was led, and then divided until each side settled; and the agents on the side of the register.
fn divided(seed: u64) -> (World<Simulated>, Vec<AgentId>) {
    let n = size(seed);
    let (mut world, mut sides) = (led(seed, n), sides(seed, n));
    let with = usize::try_from(seed % 2).unwrap();
    let reaches = sides[with].clone();
    sides[with].push(REGISTER.parse().unwrap());
    world.partition(&sides);
    let silent = u32::try_from(n).unwrap();
    world.run_for(config().worst_case_failover(silent) * 2);
    (world, reaches)
}

pub(super) fn only_the_side_of_the_store_has_a_leader() {
    for seed in 0..200 {
        let (world, reaches) = divided(seed);
        assert_eq!(world.violation(), None);
        let leaders = world.believers();
        let [leader] = &leaders[..] else {
            panic!("{leaders:?} lead, seed {seed}");
        };
        assert!(reaches.contains(leader), "seed {seed}");
        for name in names(size(seed)) {
            let follows = world.view(&name).and_then(|view| view.leader);
            let expected = reaches.contains(&name).then_some(leader);
            assert_eq!(follows.as_ref().map(|one| &one.id), expected, "seed {seed}");
        }
    }
}

pub(super) fn heals_within_the_formula() {
    for seed in 0..200 {
        let (mut world, _) = divided(seed);
        world.heal();
        let above = u32::try_from(size(seed)).unwrap() - 1;
        let settled = world.settle(config().worst_case_failover(above));
        settled.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
}
