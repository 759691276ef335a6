//! What is promised of leaders that keep the mark of a schedule in one store. Their world: `world.rs`.

use std::time::Duration;

use super::{
    super::{interface::Rule, planner::Misfire},
    histories::rule,
};
use crate::clock::WallTime;
use world::{AGENTS, DAWN, Flaw, World};

mod world;

const SEEDS: u64 = 150;

/// A history full of faults, and then a calm in which one agent leads.
fn history(rule: &Rule, flaw: Option<Flaw>, seed: u64) -> World<'_> {
    let mut world = World::new(rule, flaw, seed);
    world.elect(0);
    for _ in 0..60 {
        let passes = world.rng.u64(1..1_500);
        world.run_for(passes);
        fault(&mut world);
    }
    world.is_calm = true;
    for host in 0..AGENTS {
        world.start(host);
        world.depose(host);
    }
    // What was given up is done by then, or never.
    world.run_for(5_000);
    let leader = world.rng.usize(..AGENTS);
    world.elect(leader);
    world.run_for(60_000);
    world
}

fn fault(world: &mut World<'_>) {
    let host = world.rng.usize(..AGENTS);
    match world.rng.u32(..10) {
        0..2 => world.crash(host),
        2..4 => (0..AGENTS).for_each(|host| world.start(host)),
        // Those before believe that they lead.
        4..8 => world.elect(host),
        8 => world.depose(host),
        _ => world.step_down(host),
    }
}

/// How many due times began more than once.
fn begun_twice(world: &World<'_>) -> usize {
    world.times().values().filter(|times| **times > 1).count()
}

#[test]
fn in_a_store_no_tick_begins_twice_and_all_of_a_calm_minute_begin() {
    let (mut begun, mut given_up) = (0, 0);
    for (misfire, most) in [
        (Misfire::Skip, Duration::from_secs(1)),
        (
            Misfire::Late {
                within: Duration::from_secs(4),
            },
            Duration::from_secs(4),
        ),
    ] {
        let rule = rule(misfire);
        for seed in 0..SEEDS {
            let world = history(&rule, None, seed);
            assert_eq!(begun_twice(&world), 0, "{misfire:?}, seed {seed}");
            for (tick, at) in &world.begun {
                assert!(at.since(tick.due) <= most, "seed {seed}: {tick:?} at {at}");
            }
            let calm = WallTime::from_millis(DAWN + world.now - 50_000);
            let last = world.times().into_keys().filter(|due| *due > calm).count();
            assert!(last >= 46, "{misfire:?}, seed {seed}: {last}");
            begun += world.begun.len();
            given_up += world.given_up;
        }
    }
    assert!(begun > 20_000, "{begun}");
    assert!(
        given_up > 1_000,
        "{given_up} were done after they were given up"
    );
}

#[test]
fn in_a_store_a_tick_that_was_broken_off_is_repeated_until_it_has_ended() {
    let rule = rule(Misfire::AtLeastOnce);
    let mut repeated = 0;
    for seed in 0..SEEDS {
        let world = history(&rule, None, seed);
        let origin = world.origin.expect("a leader was acknowledged");
        let last = *world.done.last().expect("some were run");
        let mut due = rule.times.next_after(origin);
        while let Some(time) = due.filter(|time| *time <= last) {
            assert!(world.done.contains(&time), "seed {seed}: {time} is missing");
            due = rule.times.next_after(time);
        }
        let end = world.moment(0).wall;
        assert!(
            last.after(Duration::from_secs(6)) > end,
            "seed {seed}: {last}"
        );
        let again = world.begun.iter().filter(|(tick, _)| tick.is_repeat);
        repeated += again.count();
    }
    assert!(repeated > 60, "{repeated}");
}

#[test]
fn histories_find_a_leader_that_does_not_write_its_term_and_a_tick_before_its_mark() {
    let rule = rule(Misfire::Skip);
    for flaw in [Flaw::ReadsOnly, Flaw::RunsFirst] {
        let found = (0..SEEDS).find(|seed| begun_twice(&history(&rule, Some(flaw), *seed)) > 0);
        assert!(found.is_some(), "{flaw:?}");
    }
}
