//! Networks that repeat, reorder, lose and delay, and a lost disk: scenarios 19 to 28.

use std::time::Duration;

use actix_bully::{
    elections::invitation::InvitationElection, protocol::Event, testkit::faults::Conditions,
};
use bully_sim::sim::World;

use super::{agents, config};
use crate::seeds::{
    MS,
    losses::{Act, Scene},
    scenarios::{four, leads, led},
    worlds::{SECONDS, seeds},
};

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

/// Where it says what only it says.
pub(super) fn scenes() -> Vec<Scene<InvitationElection>> {
    let scene = Scene::lasting(MS(700));
    vec![
        scene(shattered, Act::Do(World::heal), "d"),
        // Two that do not hear of each other invite the same.
        scene(shattered, Act::Do(two_merge), "d"),
        scene(asked, Act::Do(World::heal), "d"),
    ]
}

fn two_merge(world: &mut World<InvitationElection>) {
    world.heal();
    world.cut("c", "d");
    world.campaign("c");
    world.campaign("d");
}

/// The task is repeated by the check (`hand-out-task`), without another group.
#[test]
fn s25_one_that_missed_the_task_gets_it_by_the_next_check() {
    for seed in seeds() {
        let mut world = agents(5).watched(seed);
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
        let mut world = agents(5).watched(seed);
        leads(&mut world, "e");
        let before = leaderships_lost(&world);
        let delays = Conditions::builder().delay(MS(0)..=longest);
        world.set_conditions(delays.build().unwrap());
        world.run_for(SECONDS(10));
        let lost = leaderships_lost(&world) - before;
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

fn leaderships_lost(world: &World<InvitationElection>) -> usize {
    let events = world.agents().flat_map(|name| world.events(name));
    let lost = events.filter(|(_, event)| matches!(event, Event::Lost { .. }));
    lost.count()
}
