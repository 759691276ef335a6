//! Networks that repeat, reorder, lose and delay, and a lost disk: scenarios 19 to 28.

use std::time::Duration;

use actix_bully::{elections::reorganization::Reorganization, testkit::faults::Conditions};
use bully_sim::sim::World;

use super::{agents, config, one_coordinator};
use crate::seeds::{
    MS,
    losses::{Act, Scene},
    scenarios::{leads, led},
    worlds::SECONDS,
};

/// The next one is about to take the place of the one that died, and has said this last.
fn succeeding(seed: u64, kind: &str) -> World<Reorganization> {
    let mut world = led(seed);
    let said = |world: &World<Reorganization>| world.trace().count_of(kind).sent;
    let before = said(&world);
    world.crash("d");
    assert!(world.run_until(|world| said(world) > before, SECONDS(5)));
    world
}

/// Where it says what only it says.
pub(super) fn scenes() -> Vec<Scene<Reorganization>> {
    let scene = Scene::lasting(MS(700));
    vec![
        // An agent that the higher one has halted refuses the other.
        scene(|seed| succeeding(seed, "halt"), Act::Restart("d"), "d"),
        scene(
            |seed| succeeding(seed, "new_coordinator"),
            Act::Restart("d"),
            "d",
        ),
        scene(|seed| succeeding(seed, "ready"), Act::Restart("d"), "d"),
        // Each misses the other, and takes the members away from it.
        scene(led, Act::Do(|w| w.cut("c", "d")), "d"),
    ]
}

/// T > 2 d is what it needs: above it the first assertion of the paper is broken in a share of all
/// histories, and in none below.
#[test]
fn s26_delays_above_t_break_its_promise_until_they_end() {
    let is_broken = |seed: u64, longest: Duration| {
        let mut setting = agents(5);
        let calm = setting.network;
        let delays = Conditions::builder().delay(MS(0)..=longest);
        setting.network = delays.build().unwrap();
        let mut world = setting.world(seed);
        let broken = world.run_until(|world| one_coordinator(world).is_err(), SECONDS(10));
        world.run_for(SECONDS(10));
        world.set_conditions(calm);
        world.run_for(MS(500));
        leads(&mut world, "e");
        broken
    };
    let count = |longest| (0..40).filter(|seed| is_broken(*seed, longest)).count();
    let (late, in_time) = (count(MS(500)), count(config().timings.delay_bound()));
    println!("two coordinated in {late} of 40 histories; with delays up to d in {in_time}");
    assert!(late > 0, "it would need no deadline");
    assert_eq!(in_time, 0);
}
