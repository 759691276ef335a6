//! Scenario 22: one message of each kind is lost, each time another one. No rule is broken, and the highest
//! voter that is up leads in the end.

use actix_bully_oracles::Watched;
use bully_sim::{sim::World, trace::Trace};

use crate::{
    losses::{Act, LossSuite, Scene, every_kind_but},
    quorum::kit::{AFTER, D, Group, Net, ms},
};

const OF_A_CHANGE: &str = "histories in which the voters change lose it";
const OF_A_START: &str = "it is asked again when the other agent is heard: a unit test loses it";
const WITHOUT_DISKS: &str = "only voters without disks say it: `diskless.rs` loses it";

/// Messages that no scene says.
const SPARED: [(&str, &str); 12] = [
    (
        "nack",
        "a leader meets a voter of a higher term only after several other losses: chaos has them",
    ),
    (
        "behind",
        "it is said to an agent that missed a later term or epoch: chaos has such agents",
    ),
    ("recall", OF_A_START),
    ("recalled", OF_A_START),
    ("recover", WITHOUT_DISKS),
    ("recovered", WITHOUT_DISKS),
    ("seal", OF_A_CHANGE),
    ("sealed", OF_A_CHANGE),
    ("install", OF_A_CHANGE),
    ("ask_change", OF_A_CHANGE),
    ("change_answer", OF_A_CHANGE),
    ("enlist", OF_A_CHANGE),
];

fn start(seed: u64) -> World<Watched> {
    let (builder, scenario) = Group::of(4).builder(seed);
    let builder = builder.trace(Trace::new().with_repeated());
    Net::new(builder.build(), scenario).world
}

fn led(seed: u64) -> World<Watched> {
    let mut world = start(seed);
    leads(&mut world, "d");
    world.run_for(ms(seed * 7));
    world
}

fn led_by_the_next(seed: u64) -> World<Watched> {
    let mut world = led(seed);
    world.crash("d");
    leads(&mut world, "c");
    world
}

/// The lowest two ask first, and the others object.
fn low_ones_begin(world: &mut World<Watched>) {
    world.campaign("a");
    world.campaign("b");
}

/// And it lasts: after the cool-down of one that stepped down, and the grace period of another.
#[track_caller]
fn leads(world: &mut World<Watched>, name: &str) {
    let led = |world: &World<Watched>| {
        let agreed = world.agreed().map(|leader| leader.id);
        agreed.is_some_and(|leader| leader == name) && world.believers() == [name]
    };
    world.run_for(ms(D / 2 + 10)); // a leader that steps down prepares that first
    let ends = world.run_until(led, ms(20_000));
    world.run_for(ms(2 * AFTER));
    assert_eq!(world.violation(), None, "{}", world.trace().to_text());
    assert!(ends && led(world), "{}", world.trace().to_text());
}

#[test]
fn s22_one_message_of_each_kind_is_lost() {
    let scene = Scene::lasting(ms(2_000));
    let scenes = vec![
        scene(start, Act::Nothing, "d"),
        scene(start, Act::Do(low_ones_begin), "d"),
        scene(led, Act::Nothing, "d"),
        scene(led, Act::Crash("d"), "c"),
        scene(led_by_the_next, Act::Restart("d"), "d"),
        scene(led, Act::StepDown("d"), "d"),
    ];
    let losses = LossSuite {
        kinds: every_kind_but::<Watched>(&SPARED),
        scenes,
        seeds: 0..2,
        then: leads,
    };
    losses.lose_each(8);
}
