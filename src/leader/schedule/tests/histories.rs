//! What is promised of every history.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{
    super::{due::Every, interface::Rule, planner::Misfire},
    world::{AGENTS, INTERVAL, World, id},
};

const SEEDS: u64 = 120;

pub(super) fn rule(misfire: Misfire) -> Rule {
    Rule {
        name: id(0),
        times: Box::new(Every::new(INTERVAL).unwrap()),
        misfire,
    }
}

/// A history full of faults, and then a calm in which one agent leads.
fn history(rule: &Rule, seed: u64) -> World<'_> {
    let mut world = World::new(rule, seed);
    world.elect(0);
    for _ in 0..60 {
        let passes = world.rng.u64(1..1_500);
        world.run_for(passes);
        fault(&mut world);
    }
    world.is_calm = true;
    world.cut(BTreeSet::new());
    for host in 0..AGENTS {
        world.start(host);
        world.depose(host);
        // They differ by seconds still.
        let ahead = world.rng.i64(-2_000..2_000);
        world.set_clock(host, ahead);
    }
    let leader = world.rng.usize(..AGENTS);
    world.elect(leader);
    world.run_for(120_000);
    world
}

fn fault(world: &mut World<'_>) {
    let host = world.rng.usize(..AGENTS);
    match world.rng.u32(..14) {
        0..2 => world.crash(host),
        2..4 => (0..AGENTS).for_each(|host| world.start(host)),
        // Mostly those before believe that they lead for a while.
        4..8 => world.elect(host),
        8 => world.depose(host),
        9 => world.step_down(host),
        10 => {
            let ahead = world.rng.i64(-30_000..30_000);
            world.set_clock(host, ahead);
        }
        11 => {
            let ahead = world.rng.i64(-2_000..2_000);
            world.set_clock(host, ahead);
        }
        12 => {
            let cut = (0..AGENTS).filter(|_| world.rng.bool());
            let cut = cut.collect();
            world.cut(cut);
        }
        _ => world.cut(BTreeSet::new()),
    }
}

/// How often each due time began.
pub(super) fn times(world: &World<'_>) -> BTreeMap<u64, u32> {
    let mut times = BTreeMap::new();
    for begun in &world.begun {
        *times.entry(begun.tick.due.as_millis()).or_default() += 1;
    }
    times
}

#[test]
fn with_skip_no_identity_runs_twice_whatever_happens() {
    let mut begun = 0;
    for seed in 0..SEEDS {
        let rule = rule(Misfire::Skip);
        let world = history(&rule, seed);
        let twice: Vec<_> = times(&world).into_iter().filter(|(_, n)| *n > 1).collect();
        assert_eq!(twice, [], "seed {seed}");
        for begun in &world.begun {
            let late = begun.at.since(begun.tick.due);
            assert!(late <= Duration::from_secs(1), "seed {seed}: {begun:?}");
            assert!(!begun.tick.is_late && !begun.tick.is_repeat, "seed {seed}");
        }
        // The calm is long enough to run all that is due in its last minute, by whatever clock.
        let minute = world.wall(0).as_millis() - 60_000;
        let last = times(&world)
            .into_keys()
            .filter(|due| *due > minute)
            .count();
        assert!(last >= 50, "seed {seed}: {last}");
        begun += world.begun.len();
    }
    assert!(begun > 12_000, "{begun}");
}

#[test]
fn with_late_an_identity_runs_once_at_most_and_within_its_bound() {
    let within = Duration::from_secs(4);
    let mut late = 0;
    for seed in 0..SEEDS {
        let rule = rule(Misfire::Late { within });
        let world = history(&rule, seed);
        let twice: Vec<_> = times(&world).into_iter().filter(|(_, n)| *n > 1).collect();
        assert_eq!(twice, [], "seed {seed}");
        for begun in &world.begun {
            assert!(begun.at.since(begun.tick.due) <= within, "seed {seed}");
            late += u32::from(begun.tick.is_late);
        }
    }
    assert!(late > 40, "{late}");
}

#[test]
fn with_at_least_once_every_due_time_is_run_to_its_end() {
    let mut repeated = 0;
    for seed in 0..SEEDS {
        let rule = rule(Misfire::AtLeastOnce);
        let world = history(&rule, seed);
        let origin = world.origin.expect("a leader was acknowledged");
        let last = *world.done.last().expect("some were run");
        let mut due = rule.times.next_after(origin);
        let mut missing = Vec::new();
        while let Some(time) = due.filter(|time| *time <= last) {
            if !world.done.contains(&time) {
                missing.push(time);
            }
            due = rule.times.next_after(time);
        }
        let few: Vec<_> = missing.iter().take(3).collect();
        assert!(missing.is_empty(), "seed {seed}: since {origin}: {few:?}");
        // It has caught up: to the second before the end, by a clock that is 2 s off at most.
        let end = world.wall(0).as_millis();
        assert!(last.as_millis() + 6_000 > end, "seed {seed}: {last}");
        let again = world.begun.iter().filter(|begun| begun.tick.is_repeat);
        repeated += again.count();
        let unnamed = times(&world).into_iter().filter(|(due, times)| {
            let named = world
                .begun
                .iter()
                .filter(|begun| begun.tick.due.as_millis() == *due && begun.tick.is_repeat);
            *times > 1 && named.count() == 0
        });
        assert_eq!(
            unnamed.count(),
            0,
            "seed {seed}: a repetition says that it is one"
        );
    }
    assert!(repeated > 60, "{repeated}");
}

#[test]
fn a_leader_whose_clock_is_far_ahead_uses_up_no_due_time_of_its_successors() {
    for seed in 0..20 {
        let rule = rule(Misfire::Skip);
        let mut world = World::new(&rule, seed);
        world.is_calm = true;
        world.elect(0);
        world.run_for(5_000);
        let before = world.begun.len();
        assert!(before > 0, "seed {seed}");
        world.set_clock(0, 365 * 24 * 3_600_000);
        world.run_for(5_000);
        assert_eq!(world.begun.len(), before, "seed {seed}");
        // It follows, and says what it knows to whoever asks.
        world.depose(0);
        world.elect(1);
        world.run_for(15_000);
        assert!(world.begun.len() > before, "seed {seed}");
    }
}
