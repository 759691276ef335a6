//! The promises for every history in which the voters change: they are added, removed and replaced at any moment,
//! faster than leaders are elected, and while agents are down.

use std::collections::BTreeSet;

use super::{
    super::planner::Misfire,
    histories::{LATE, assert_complete, of_last_minute, suffer, twice},
    played,
    world::{AGENTS, Flaw, Setup, World},
};

const HISTORIES: usize = 25;

fn set(voters: &[usize]) -> BTreeSet<usize> {
    voters.iter().copied().collect()
}

/// Returns another list: with one voter more, one less, or another one.
fn changed(world: &mut World) -> BTreeSet<usize> {
    let mut voters = world.voters.clone();
    let others: Vec<_> = (0..AGENTS).filter(|host| !voters.contains(host)).collect();
    let new = world.rng.choice(others);
    let old = world.rng.choice(voters.clone());
    let kind = world.rng.u32(..4);
    if kind > 0 && voters.len() > 1 {
        voters.retain(|voter| Some(*voter) != old);
    }
    voters.extend(new.filter(|_| kind != 1));
    voters
}

fn voter(world: &mut World) -> usize {
    let voters = world.voters.clone();
    world.rng.choice(voters).unwrap()
}

fn fault(world: &mut World) {
    let host = world.rng.usize(..AGENTS);
    match world.rng.u32(..16) {
        0 => world.crash(host),
        1..4 => (0..AGENTS).for_each(|host| world.start(host)),
        4..9 => {
            let voter = voter(world);
            world.elect(voter);
        }
        9 => world.step_down(host),
        10 => {
            let ahead = world.rng.i64(-2_000..2_000);
            world.set_clock(host, ahead);
        }
        11 => {
            let cut = (0..AGENTS).filter(|_| world.rng.bool());
            let cut = cut.collect();
            world.cut(cut);
        }
        12 => world.cut(BTreeSet::new()),
        _ => {
            let voters = changed(world);
            world.change(voters);
        }
    }
}

/// Returns a history of changes and faults with a calm phase at its end, in which one of the voters leads.
fn history(setup: Setup, seed: u64) -> World {
    let mut world = World::new(setup, seed);
    world.change(set(&[0, 1, 2]));
    world.elect(0);
    suffer(&mut world, fault);
    let leader = voter(&mut world);
    world.elect(leader);
    world.run_for(120_000);
    world
}

#[test]
fn over_changes_of_the_voters_no_identity_runs_twice_and_the_work_goes_on() {
    for misfire in [Misfire::Skip, LATE] {
        let mut begun = 0;
        let all = played(HISTORIES);
        for seed in (0..).take(all) {
            let world = history(Setup::of(misfire), seed);
            assert_eq!(twice(&world), [], "seed {seed}");
            assert!(of_last_minute(&world) >= 50, "seed {seed}");
            begun += world.begun.len();
        }
        assert!(6 * begun > 550 * all, "{begun}");
    }
}

#[test]
fn over_changes_of_the_voters_every_due_time_is_run_to_its_end() {
    for seed in (0..).take(played(HISTORIES)) {
        let world = history(Setup::of(Misfire::AtLeastOnce), seed);
        // Clocks differ by at most 8 s.
        assert_complete(&world, 12_000, &format!("seed {seed}"));
    }
}

#[test]
fn a_leader_that_asks_no_former_voters_is_found() {
    let setup = Setup {
        flaw: Some(Flaw::ForgetsFormerVoters),
        ..Setup::of(LATE)
    };
    assert!((0..60).any(|seed| !twice(&history(setup, seed)).is_empty()));
}

/// Two of three voters know the last tick. One of them is removed, or replaced by an agent without this knowledge.
#[test]
fn three_four_and_three_voters_and_a_replacement_run_no_tick_again() {
    for (first, then) in [
        (set(&[0, 1, 2, 3]), set(&[1, 2, 3])),
        (set(&[1, 2, 3]), set(&[2, 3, 4])),
        (set(&[0, 1, 2, 3]), set(&[0, 1, 2])),
    ] {
        let mut world = World::new(Setup::of(LATE), 7);
        world.is_calm = true;
        (0..AGENTS).for_each(|host| world.set_clock(host, 0));
        world.change(set(&[0, 1, 2]));
        world.elect(0);
        world.run_for(3_000);
        world.crash(2);
        world.run_for(5_000);
        // No leader of the epoch in the middle runs a tick.
        world.change(first);
        world.change(then.clone());
        world.start(2);
        let before = world.begun.len();
        let leader = *then.last().unwrap();
        world.elect(leader);
        world.run_for(200);
        world.depose(0);
        world.run_for(10_000);
        assert_eq!(twice(&world), []);
        assert!(
            world.begun.len() > before + 5,
            "{then:?}: it goes on at once"
        );
    }
}

/// The voters that knew the last ticks are gone for ever. So ticks that may have run do not run again.
#[test]
fn ticks_known_only_to_former_voters_are_left_out_when_they_are_gone() {
    let mut world = World::new(Setup::of(LATE), 3);
    world.is_calm = true;
    world.change(set(&[0, 1, 2]));
    world.elect(0);
    world.run_for(5_000);
    world.change(set(&[2, 3, 4]));
    (0..2).for_each(|host| world.crash(host));
    let (before, from) = (world.begun.len(), world.now);
    world.elect(3);
    world.run_for(29_000);
    assert_eq!(world.begun.len(), before, "it waits for them");
    world.run_for(31_000);
    assert_eq!(twice(&world), []);
    assert!(world.begun.len() > before + 10, "since {from}");
}

/// An agent that never ran in an earlier epoch learns the voters of that epoch from the answers to its question.
#[test]
fn a_leader_that_joined_with_its_epoch_runs_no_tick_of_the_voters_before_it_again() {
    let mut world = World::new(Setup::of(LATE), 7);
    world.is_calm = true;
    world.crash(4);
    world.change(set(&[0, 1, 2]));
    world.elect(0);
    world.run_for(1_000);
    world.crash(2);
    (0..AGENTS).for_each(|host| world.set_clock(host, 0));
    world.run_for(5_000);
    // 0 and 1 continue alone, so of the new voters only 0 knows the last ticks. The other two elect 4, whose clock is
    // behind.
    world.cut(set(&[0, 1]));
    world.run_for(3_000);
    world.depose(0);
    let before = world.begun.len();
    world.change(set(&[0, 2, 4]));
    world.start(2);
    world.start(4);
    world.set_clock(4, -4_000);
    world.elect(4);
    world.run_for(10_000);
    assert_eq!(world.begun.len(), before, "it waits for a former voter");
    world.cut(set(&[]));
    world.run_for(10_000);
    assert_eq!(twice(&world), []);
    assert!(world.begun.len() > before + 5, "it goes on");
}
