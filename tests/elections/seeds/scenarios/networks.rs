//! The same for networks that lose, repeat, delay and reorder, and for what a member missed meanwhile: scenarios 19 to 28.

use bully_sim::sim::World;

use super::{Scenarios, leads};
use crate::seeds::{
    MS,
    losses::{Act, LossSuite, Scene, every_kind_but},
    worlds::{SECONDS, Setting, acquired, seeds},
};

pub(crate) fn s19_what_is_repeated_changes_nothing<E: Scenarios>() {
    for seed in seeds() {
        let mut setting = E::agents(5);
        let network = setting.network.to_builder().duplication(1_000);
        setting.network = network.build().unwrap();
        let mut world = setting.watched(seed);
        leads(&mut world, "e");
        let before = acquired(&world, "e");
        assert!(before == 1 || !E::ELECTS_ONCE);
        world.run_for(SECONDS(5));
        leads(&mut world, "e");
        assert_eq!(acquired(&world, "e"), before);
        world.crash("e");
        leads(&mut world, "d");
        let before = acquired(&world, "d");
        assert!(before == 1 || !E::ELECTS_ONCE);
        world.run_for(SECONDS(5));
        leads(&mut world, "d");
        assert_eq!(acquired(&world, "d"), before);
    }
}

pub(crate) fn s20_messages_that_overtake_each_other_do_no_harm<E: Scenarios>() {
    for seed in seeds() {
        let mut setting = E::agents(5);
        setting.network = setting.network.to_builder().in_any_order().build().unwrap();
        let mut world = setting.watched(seed);
        leads(&mut world, "e");
        world.crash("e");
        leads(&mut world, "d");
        world.restart("e");
        leads(&mut world, "e");
    }
}

pub(crate) fn s20_copies_that_come_after_the_election_change_nothing<E: Scenarios>() {
    let mut setting = E::agents(5);
    let network = setting.network.to_builder().duplication(1_000);
    setting.network = network.slow(400, MS(1)..=MS(400)).build().unwrap();
    for seed in seeds() {
        let mut world = setting.faulty(seed);
        world.run_for(MS(500));
        world.set_conditions(E::agents(5).network);
        leads(&mut world, "e");
        world.run_for(MS(500)); // all copies have come
        leads(&mut world, "e");
        let before = acquired(&world, "e");
        world.run_for(SECONDS(10));
        leads(&mut world, "e");
        assert_eq!(acquired(&world, "e"), before);
    }
}

/// A limit: nothing is promised while messages are lost, and the bounds hold once they are not.
pub(crate) fn s21_with_15_percent_loss_it_settles_when_the_loss_ends<E: Scenarios>() {
    for seed in seeds() {
        let mut setting = E::agents(5);
        let calm = setting.network;
        setting.network = calm.to_builder().loss(150).build().unwrap();
        let mut world = setting.faulty(seed);
        world.run_for(SECONDS(10));
        world.set_conditions(calm);
        leads(&mut world, "e");
    }
}

pub(crate) fn s25_one_that_missed_the_election_is_found_by_the_next_check<E: Scenarios>() {
    for seed in seeds() {
        let mut world = E::agents(5).faulty(seed);
        leads(&mut world, "e");
        world.crash("e");
        world.isolate("a");
        let others_agree = |world: &World<E>| {
            let follows = |name| world.view(name).unwrap().leader;
            let mut others = ["b", "c", "d"].into_iter();
            others.all(|name| follows(name).is_some_and(|leader| leader.id == "d"))
        };
        assert!(world.run_until(others_agree, SECONDS(5)));
        let missed = world.view("a").unwrap().leader;
        assert!(missed.is_none_or(|leader| leader.id != "d"));
        let healed = world.now();
        world.heal();
        leads(&mut world, "d");
        let took = world.now().since(healed);
        assert!(took <= E::finds_within(), "{took:?}");
    }
}

pub(crate) fn s28_a_member_that_lost_its_record_does_not_come_back<E: Scenarios>() {
    for seed in seeds() {
        let mut world = E::agents(3).faulty(seed);
        leads(&mut world, "c");
        world.crash("b");
        leads(&mut world, "c");
        world.restart("b");
        leads(&mut world, "c");
        world.crash("c");
        leads(&mut world, "b");
        assert!(world.wipe("c"));
        assert!(!world.restart("c"), "it may have promised what it forgot");
        leads(&mut world, "b");
        assert!(!world.is_running("c"));
    }
}

pub(crate) fn s22_one_message_of_each_kind_is_lost<E: Scenarios>() {
    losses::<E>().lose_each(8);
}

pub(crate) fn s22_all_messages_of_a_kind_are_lost_at_one_moment<E: Scenarios>() {
    losses::<E>().lose_first();
}

/// Four agents; one that steps down has a long cool-down.
pub(crate) fn four<E: Scenarios>(seed: u64) -> World<E> {
    let setting = E::agents(4);
    let config = E::cooling_down_for(setting.config.clone(), SECONDS(60));
    Setting { config, ..setting }.faulty(seed)
}

pub(crate) fn led<E: Scenarios>(seed: u64) -> World<E> {
    let mut world = four(seed);
    leads(&mut world, "d");
    world
}

fn led_by_the_next<E: Scenarios>(seed: u64) -> World<E> {
    let mut world = led(seed);
    world.crash("d");
    leads(&mut world, "c");
    world
}

/// One coordinator on each side.
fn divided<E: Scenarios>(seed: u64) -> World<E> {
    let mut world = led(seed);
    world.partition([["a", "b"], ["c", "d"]]);
    let both = |world: &World<E>| world.believers() == ["b", "d"];
    assert!(world.run_until(both, SECONDS(5)));
    world
}

/// Where all that such an election says is said.
fn scenes<E: Scenarios>() -> Vec<Scene<E>> {
    let scene = Scene::lasting(MS(700));
    let mut all = vec![
        scene(four, Act::Nothing, "d"),
        scene(led, Act::Nothing, "d"),
        scene(led, Act::Crash("d"), "c"),
        scene(led_by_the_next, Act::Restart("d"), "d"),
        scene(led, Act::Campaign("b"), "d"),
        scene(led, Act::StepDown("d"), "c"),
        scene(divided, Act::Do(World::heal), "d"),
    ];
    all.extend(E::own_scenes());
    all
}

/// Each message is lost, and that agent leads in the end.
fn losses<E: Scenarios>() -> LossSuite<E> {
    LossSuite {
        kinds: every_kind_but::<E>(&[]),
        scenes: scenes(),
        seeds: 0..2,
        then: recovers,
    }
}

/// And it lasts, whatever the loss made an agent do.
#[track_caller]
fn recovers<E: Scenarios>(world: &mut World<E>, leader: &str) {
    world.heal();
    leads(world, leader);
    world.run_for(SECONDS(1));
    leads(world, leader);
}
