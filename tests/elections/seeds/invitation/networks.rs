//! Networks that repeat, reorder, lose and delay, and a lost disk: scenarios 19 to 28.

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::invitation::InvitationElection,
    protocol::Event,
    testkit::{faults::Conditions, sim::World},
};

use super::{agents, config, leads};
use crate::seeds::{
    MS,
    losses::{Losses, Scene, all_were_lost},
    worlds::{SECONDS, acquired, another_begins, seeds, top_crashes, top_returns, top_steps_down},
};

#[test]
fn s19_what_is_repeated_changes_nothing() {
    for seed in seeds() {
        let mut setting = agents(5);
        let network = setting.network.to_builder().duplication(1_000);
        setting.network = network.build().unwrap();
        let mut world = setting.checked(seed);
        leads(&mut world, "e");
        let before = acquired(&world, "e");
        world.run_for(SECONDS(5));
        leads(&mut world, "e");
        assert_eq!(acquired(&world, "e"), before);
        world.crash("e");
        leads(&mut world, "d");
        let before = acquired(&world, "d");
        world.run_for(SECONDS(5));
        leads(&mut world, "d");
        assert_eq!(acquired(&world, "d"), before);
    }
}

#[test]
fn s20_messages_that_overtake_each_other_do_no_harm() {
    for seed in seeds() {
        let mut setting = agents(5);
        setting.network = setting.network.to_builder().in_any_order().build().unwrap();
        let mut world = setting.checked(seed);
        leads(&mut world, "e");
        world.crash("e");
        leads(&mut world, "d");
        world.restart("e");
        leads(&mut world, "e");
    }
}

#[test]
fn s20_copies_that_come_after_the_election_change_nothing() {
    let mut setting = agents(5);
    let network = setting.network.to_builder().duplication(1_000);
    setting.network = network.slow(400, MS(1)..=MS(400)).build().unwrap();
    for seed in seeds() {
        let mut world = setting.checked(seed);
        world.run_for(MS(500));
        world.set_conditions(agents(5).network);
        leads(&mut world, "e");
        world.run_for(MS(500)); // all copies have come
        leads(&mut world, "e");
        let before = acquired(&world, "e");
        world.run_for(SECONDS(10));
        leads(&mut world, "e");
        assert_eq!(acquired(&world, "e"), before);
    }
}

/// A limit: an agent that does not hear its coordinator for the detection time, and has lost the question or the answer then,
/// leaves; so with so much loss one is always on its way. It settles once the loss ends.
#[test]
fn s21_with_15_percent_loss_it_settles_when_the_loss_ends() {
    for seed in seeds() {
        let mut setting = agents(5);
        let calm = setting.network;
        setting.network = calm.to_builder().loss(150).build().unwrap();
        let mut world = setting.checked(seed);
        world.run_for(SECONDS(10));
        world.set_conditions(calm);
        leads(&mut world, "e");
    }
}

/// All that it says.
const KINDS: [&str; 9] = [
    "are_you_coordinator",
    "place",
    "invitation",
    "accept",
    "decline",
    "ready",
    "are_you_there",
    "there",
    "resign",
];

/// Four agents; one that steps down has a long cool-down.
fn four(seed: u64) -> World<InvitationElection> {
    let mut setting = agents(4);
    Arc::make_mut(&mut setting.config).cooldown = SECONDS(60);
    setting.checked(seed)
}

fn led(seed: u64) -> World<InvitationElection> {
    let mut world = four(seed);
    leads(&mut world, "d");
    world
}

fn led_by_the_next(seed: u64) -> World<InvitationElection> {
    let mut world = led(seed);
    world.crash("d");
    leads(&mut world, "c");
    world
}

fn divided(seed: u64) -> World<InvitationElection> {
    let mut world = led(seed);
    world.partition([["a", "b"], ["c", "d"]]);
    let both = |world: &World<InvitationElection>| world.believers() == ["b", "d"];
    assert!(world.run_until(both, SECONDS(5)));
    world
}

/// All lead themselves: they invite each other.
fn shattered(seed: u64) -> World<InvitationElection> {
    let mut world = four(seed);
    world.partition([["a"], ["b"], ["c"]]);
    let all = |world: &World<InvitationElection>| world.believers().len() == 4;
    assert!(world.run_until(all, SECONDS(5)));
    world.run_for(MS(seed * 13));
    world
}

/// A member that has not heard its coordinator for L has asked whether it is there.
fn asked(seed: u64) -> World<InvitationElection> {
    let mut world = led(seed);
    let asked = |world: &World<InvitationElection>| world.trace().count_of("are_you_there").sent;
    world.cut_one_way("d", "a");
    assert!(world.run_until(|world| asked(world) > 0, SECONDS(5)));
    world
}

/// Where all that it says is said.
fn scenes() -> [Scene<InvitationElection>; 10] {
    let scene = Scene::lasting(MS(700));
    [
        scene(four, |_| {}, "d"),
        scene(led, |_| {}, "d"),
        scene(led, top_crashes, "c"),
        scene(led_by_the_next, top_returns, "d"),
        scene(led, another_begins, "d"),
        scene(led, top_steps_down, "c"),
        scene(divided, World::heal, "d"),
        scene(shattered, World::heal, "d"),
        // Two that do not hear of each other invite the same.
        scene(shattered, two_merge, "d"),
        scene(asked, World::heal, "d"),
    ]
}

fn two_merge(world: &mut World<InvitationElection>) {
    world.heal();
    world.cut("c", "d");
    world.campaign("c");
    world.campaign("d");
}

/// And it lasts, whatever the loss made an agent do.
#[track_caller]
fn recovers(world: &mut World<InvitationElection>, leader: &str) {
    world.heal();
    leads(world, leader);
    world.run_for(SECONDS(1));
    leads(world, leader);
}

#[test]
fn s22_one_message_of_each_kind_is_lost() {
    let mut lost = Losses::new();
    for seed in 0..5 {
        for scene in scenes() {
            scene.lose_each(seed, &KINDS, 8, recovers, &mut lost);
        }
    }
    println!("{lost:?}");
    all_were_lost(&KINDS, &lost);
}

#[test]
fn s22_all_messages_of_a_kind_are_lost_at_one_moment() {
    let mut lost = Losses::new();
    for seed in 0..5 {
        for scene in scenes() {
            scene.lose_first(seed, &KINDS, recovers, &mut lost);
        }
    }
    println!("{lost:?}");
    all_were_lost(&KINDS, &lost);
}

#[test]
fn s25_one_that_missed_the_election_is_found_by_the_next_check() {
    for seed in seeds() {
        let mut world = agents(5).checked(seed);
        leads(&mut world, "e");
        world.crash("e");
        world.isolate("a");
        let others_agree = |world: &World<InvitationElection>| {
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
        let check = config().detector().heartbeat + config().gathering();
        assert!(took <= check * 2 + config().worst_case_merge(), "{took:?}");
    }
}

/// The task is repeated by the check (`hand-out-task`), without another group.
#[test]
fn s25_one_that_missed_the_task_gets_it_by_the_next_check() {
    for seed in seeds() {
        let mut world = agents(5).checked(seed);
        world.ignore("ready");
        let lost = |world: &World<InvitationElection>| world.trace().count_of("ready").lost;
        assert!(world.run_until(|world| lost(world) == 4, SECONDS(5)));
        let leading = world.view("e").unwrap().leading;
        assert!(leading.is_some());
        for name in ["a", "b", "c", "d"] {
            assert_eq!(world.view(name).unwrap().leader, None, "{name}");
        }
        world.recover();
        let began = world.now();
        leads(&mut world, "e");
        let took = world.now().since(began);
        let check = config().detector().heartbeat + config().timings.delay_bound() * 3;
        assert!(took <= check, "{took:?}");
        assert_eq!(world.view("a").unwrap().leader.map(|l| l.term), leading);
    }
}

/// It promises one leader only while messages take no longer than d: above that leaderships are
/// lost again and again, and below none is.
#[test]
fn s26_delays_above_t_cost_leaderships_until_they_end() {
    let lost = |seed: u64, longest: Duration| {
        let mut world = agents(5).checked(seed);
        leads(&mut world, "e");
        let before = losses(&world);
        let delays = Conditions::builder().delay(MS(0)..=longest);
        world.set_conditions(delays.build().unwrap());
        world.run_for(SECONDS(10));
        let lost = losses(&world) - before;
        world.set_conditions(agents(5).network);
        world.run_for(MS(500));
        leads(&mut world, "e");
        lost
    };
    let bound = config().timings.delay_bound();
    let late: usize = seeds().map(|seed| lost(seed, MS(500))).sum();
    let in_time: usize = seeds().map(|seed| lost(seed, bound)).sum();
    println!("{late} leaderships were lost; with delays up to d {in_time}");
    assert!(late > 0 && in_time == 0, "{late}, {in_time}");
}

fn losses(world: &World<InvitationElection>) -> usize {
    let events = world.agents().flat_map(|name| world.events(name));
    let lost = events.filter(|(_, event)| matches!(event, Event::Lost { .. }));
    lost.count()
}

#[test]
fn s28_a_member_that_lost_its_record_does_not_come_back() {
    for seed in seeds() {
        let mut world = agents(3).checked(seed);
        leads(&mut world, "c");
        world.crash("c");
        leads(&mut world, "b");
        assert!(world.wipe("c"));
        assert!(!world.restart("c"), "it may have promised what it forgot");
        leads(&mut world, "b");
        assert!(!world.is_running("c"));
    }
}

#[test]
fn two_sides_of_a_partition_have_a_coordinator_each_and_merge_after_it() {
    for seed in seeds() {
        let mut world = agents(4).checked(seed);
        leads(&mut world, "d");
        world.partition([["a", "b"], ["c", "d"]]);
        let both = |world: &World<InvitationElection>| world.believers() == ["b", "d"];
        assert!(world.run_until(both, SECONDS(5)), "one on each side");
        world.heal();
        leads(&mut world, "d");
        assert_eq!(world.view("a").unwrap().leader.unwrap().id, "d");
    }
}
