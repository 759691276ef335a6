//! The promises for every history, with each place of the marks and each source of due times.

use std::{
    collections::{BTreeMap, BTreeSet},
    iter,
    time::Duration,
};

use super::{
    super::{due::DueTimes, planner::Misfire},
    played,
    world::{AGENTS, Flaw, Marks, Setup, Source, World, every},
};
use crate::clock::WallTime;

const HISTORIES: usize = 40;

pub(super) const LATE: Misfire = Misfire::Late {
    within: Duration::from_secs(4),
};

/// Lets 60 faults happen. Then ends all faults: all agents run, and none leads.
pub(super) fn suffer(world: &mut World, fault: fn(&mut World)) {
    for _ in 0..60 {
        let passes = world.rng.u64(1..1_500);
        world.run_for(passes);
        fault(world);
    }
    world.is_calm = true;
    world.cut(BTreeSet::new());
    for host in 0..AGENTS {
        world.start(host);
        world.depose(host);
    }
}

/// Returns a history of faults with a calm phase at its end, in which one agent leads.
fn history(setup: Setup, seed: u64) -> World {
    let mut world = World::new(setup, seed);
    world.elect(0);
    suffer(&mut world, fault);
    for host in 0..AGENTS {
        // The clocks still differ by seconds.
        let ahead = world.rng.i64(-2_000..2_000);
        world.set_clock(host, ahead);
    }
    // After this time, every earlier operation of the store has been done, or never will be.
    world.run_for(5_000);
    let leader = world.rng.usize(..AGENTS);
    world.elect(leader);
    world.run_for(120_000);
    world
}

fn fault(world: &mut World) {
    let host = world.rng.usize(..AGENTS);
    match world.rng.u32(..14) {
        0..2 => world.crash(host),
        2..4 => (0..AGENTS).for_each(|host| world.start(host)),
        // Former leaders mostly believe that they lead for some time.
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

/// Returns how often each due time began.
pub(super) fn times(world: &World) -> BTreeMap<u64, u32> {
    let mut times = BTreeMap::new();
    for begun in &world.begun {
        *times.entry(begun.tick.due.as_millis()).or_default() += 1;
    }
    times
}

pub(super) fn twice(world: &World) -> Vec<(u64, u32)> {
    times(world).into_iter().filter(|(_, n)| *n > 1).collect()
}

/// Returns the number of due times in the last minute that have begun.
pub(super) fn of_last_minute(world: &World) -> usize {
    let minute = world.wall(0).as_millis() - 60_000;
    let last = times(world).into_keys().filter(|due| *due > minute);
    last.count()
}

/// Asserts that each due time was run to its end. The last one is at most `behind` milliseconds before the end of the
/// history.
pub(super) fn assert_complete(world: &World, behind: u64, of: &str) {
    let (left_out, last) = (left_out(world), world.done.last().unwrap());
    assert_eq!(left_out, None, "{of}");
    let end = world.wall(0).as_millis();
    assert!(last.as_millis() + behind > end, "{of}: {last}");
}

/// Returns the first due time that was not run to its end, although a later one was.
fn left_out(world: &World) -> Option<WallTime> {
    let origin = world.origin.expect("a leader was acknowledged");
    let last = *world.done.last().expect("some were run");
    let due = iter::successors(every().next_after(origin), |time| every().next_after(*time));
    let mut due = due.take_while(|time| *time <= last);
    due.find(|time| !world.done.contains(time))
}

/// Returns a setup for each place of the marks, and for each source of due times.
fn setups(misfire: Misfire) -> [Setup; 3] {
    let rule = Setup::of(misfire);
    let stream = Setup {
        source: Source::Stream,
        ..rule
    };
    let store = Setup {
        marks: Marks::InStore,
        ..rule
    };
    [rule, stream, store]
}

#[test]
fn with_skip_no_identity_runs_twice_whatever_happens() {
    for setup in setups(Misfire::Skip) {
        let (mut begun, mut given_up) = (0, 0);
        let all = played(HISTORIES);
        for seed in (0..).take(all) {
            let world = history(setup, seed);
            assert_eq!(twice(&world), [], "{setup:?}, seed {seed}");
            for begun in &world.begun {
                let late = begun.at.since(begun.tick.due);
                assert!(late <= Duration::from_secs(1), "seed {seed}: {begun:?}");
                assert!(!begun.tick.is_late && !begun.tick.is_repeat, "seed {seed}");
            }
            // The calm phase is long enough to run all due times of its last minute, by any clock.
            let last = of_last_minute(&world);
            assert!(last >= 50, "{setup:?}, seed {seed}: {last}");
            begun += world.begun.len();
            given_up += usize::try_from(world.given_up()).unwrap();
        }
        assert!(begun > 100 * all, "{setup:?}: {begun}");
        assert!(
            given_up > 3 * all || setup.marks == Marks::AtVoters,
            "{given_up}"
        );
    }
}

#[test]
fn with_late_an_identity_runs_once_at_most_and_within_its_bound() {
    for setup in setups(LATE) {
        let mut late = 0;
        let all = played(HISTORIES);
        for seed in (0..).take(all) {
            let world = history(setup, seed);
            assert_eq!(twice(&world), [], "{setup:?}, seed {seed}");
            for begun in &world.begun {
                let after = begun.at.since(begun.tick.due);
                assert!(after <= Duration::from_secs(4), "{setup:?}, seed {seed}");
                late += usize::from(begun.tick.is_late);
            }
        }
        assert!(10 * late > 3 * all, "{setup:?}: {late}");
    }
}

#[test]
fn with_at_least_once_every_due_time_is_run_to_its_end() {
    for setup in setups(Misfire::AtLeastOnce) {
        let mut repeated = 0;
        let all = played(HISTORIES);
        for seed in (0..).take(all) {
            let of = format!("{setup:?}, seed {seed}");
            let world = history(setup, seed);
            // The leader has caught up to the last second, by a clock that is wrong by at most 2 s.
            assert_complete(&world, 6_000, &of);
            let again = world.begun.iter().filter(|begun| begun.tick.is_repeat);
            let again: BTreeSet<_> = again.map(|begun| begun.tick.due.as_millis()).collect();
            repeated += again.len();
            let unnamed = twice(&world).into_iter();
            let unnamed = unnamed.filter(|(due, _)| !again.contains(due));
            assert_eq!(unnamed.count(), 0, "{of}: a repeated tick is marked");
        }
        assert!(10 * repeated > 4 * all, "{setup:?}: {repeated}");
    }
}

/// Returns a history in which the beginning of the first leader, whose clock is 4 s ahead, reaches one voter alone. Then
/// another leader runs the schedule, and the next one asks that voter.
fn beginnings(setup: Setup, at: u64) -> World {
    let mut world = World::new(setup, at);
    world.is_calm = true;
    (0..AGENTS).for_each(|host| world.set_clock(host, 0));
    world.set_clock(0, 4_000);
    world.elect(0);
    world.run_for(at);
    for (cut, leader) in [([0, 4], 1), ([0, 1], 2)] {
        world.cut(cut.into());
        world.run_for(100);
        world.elect(leader);
        world.run_for(2_500);
    }
    world.run_for(5_000);
    world
}

#[test]
fn after_an_acknowledged_beginning_no_due_time_is_left_out() {
    let sound = Setup::of(Misfire::AtLeastOnce);
    let broken = Setup {
        flaw: Some(Flaw::BeginsAsDone),
        ..sound
    };
    let mut found = 0;
    for at in 0..200 {
        let of = format!("cut after {at} ms");
        assert_complete(&beginnings(sound, at), 6_000, &of);
        found += usize::from(left_out(&beginnings(broken, at)).is_some());
    }
    assert!(found > 20, "{found}");
}

#[test]
fn a_rule_that_is_broken_makes_a_tick_begin_twice() {
    for (flaw, marks) in [
        (Flaw::ForgetsRecord, Marks::AtVoters),
        (Flaw::WritesToTooFew, Marks::AtVoters),
        (Flaw::ReadsTooFew, Marks::AtVoters),
        (Flaw::ObeysFormerLeaders, Marks::AtVoters),
        (Flaw::ReadsOnly, Marks::InStore),
        (Flaw::RunsFirst, Marks::InStore),
    ] {
        let setup = Setup {
            marks,
            flaw: Some(flaw),
            ..Setup::of(LATE)
        };
        let is_found = (0..100).any(|seed| !twice(&history(setup, seed)).is_empty());
        assert!(is_found, "{flaw:?}");
    }
}

#[test]
fn a_leader_whose_clock_is_far_ahead_uses_up_no_due_time_of_its_successors() {
    for seed in 0..20 {
        let mut world = World::new(Setup::of(Misfire::Skip), seed);
        world.is_calm = true;
        world.elect(0);
        world.run_for(5_000);
        let before = world.begun.len();
        assert!(before > 0, "seed {seed}");
        world.set_clock(0, 365 * 24 * 3_600_000);
        world.run_for(5_000);
        assert_eq!(world.begun.len(), before, "seed {seed}");
        // If the clock is set right in the same leadership, the schedule continues.
        world.set_clock(0, 0);
        world.run_for(5_000);
        let meanwhile = world.begun.len();
        assert!(meanwhile >= before + 4, "seed {seed}: {meanwhile}");
        world.set_clock(0, 365 * 24 * 3_600_000);
        world.run_for(5_000);
        // The agent follows, and answers every question with the marks that it knows.
        world.depose(0);
        world.elect(1);
        world.run_for(15_000);
        assert!(world.begun.len() > meanwhile, "seed {seed}");
    }
}
