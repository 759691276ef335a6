//! Tests of voters that are slower than their timings assume, for ten minutes of virtual time. They count the changes
//! of the leadership and measure the time without a leader. `c` ranks highest, then `b`, then `a`.
//!
//! The command prints the table of `tests/README.md`:
//! `cargo test --test elections -- slow_voters --nocapture`.

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::quorum::QuorumConfig, protocol::Timings, testkit::faults::Conditions,
};
use bully_core::elections::quorum::QuorumBully;
use bully_sim::sim::{Detection, Participant, World};

use super::kit::{id, ms};

const SPAN: Duration = ms(600_000);
const NAMES: [&str; 3] = ["a", "b", "c"];

/// The slow part of a group.
#[derive(Clone, Copy)]
enum Slow {
    /// Time that each voter needs to write a record, in milliseconds.
    Disks([u64; 3]),
    /// Delay of each message, in milliseconds.
    Network(u64),
}

/// Returns a group that has not started.
fn world(config: &QuorumConfig, slow: Slow, seed: u64) -> World<QuorumBully> {
    let (writes, delay) = match slow {
        Slow::Disks(writes) => (writes, Duration::from_micros(100)..=ms(1)),
        Slow::Network(delay) => ([0; 3], ms(delay)..=ms(delay + 1)),
    };
    let config = Arc::new(config.clone());
    let voter = |(name, score): (&&str, i32)| {
        Participant::voter(id(name), Some(score.into()), Arc::clone(&config))
    };
    let conditions = Conditions::builder().delay(delay).build().unwrap();
    let mut world = World::builder(seed)
        .agents(NAMES.iter().zip(1..).map(voter))
        .conditions(conditions)
        .detection(Detection::Silent(Duration::ZERO.into()))
        .build();
    world.set_invariant(|world| {
        let is_contested = world.is_contested();
        (!is_contested)
            .then_some(())
            .ok_or_else(|| String::from("two lead"))
    });
    for (name, write) in NAMES.iter().zip(writes) {
        world.set_write_time(name, ms(write));
    }
    world
}

/// Returns the number of leaderships and the time without a leader.
fn watch(config: &QuorumConfig, slow: Slow) -> (usize, Duration) {
    let mut world = world(config, slow, 1);
    let (mut leaderships, mut vacant, mut last) = (0, Duration::ZERO, None);
    while world.now().since(actix_bully::protocol::Time::ZERO) < SPAN {
        world.run_for(ms(10));
        let leader = world.beliefs().next().map(|(id, term)| (id.clone(), term));
        match leader {
            None => vacant += ms(10),
            Some(_) if leader == last => {}
            Some(_) => {
                leaderships += 1;
                last = leader;
            }
        }
    }
    assert_eq!(world.violation(), None);
    (leaderships, vacant)
}

fn config(timings: Timings) -> QuorumConfig {
    QuorumConfig {
        timings,
        ..QuorumConfig::new(NAMES.map(id))
    }
}

/// Write times of groups in which two of three voters are slow, in milliseconds.
const TWO: [[u64; 3]; 9] = [
    [500, 500, 0],
    [500, 0, 500],
    [0, 500, 500],
    [750, 750, 0],
    [750, 0, 750],
    [0, 750, 750],
    [1_000, 1_000, 0],
    [1_000, 0, 1_000],
    [0, 1_000, 1_000],
];

#[test]
fn with_two_slow_voters_of_three_there_is_a_leader_for_95_percent_of_the_time() {
    for writes in TWO {
        let (leaderships, vacant) = watch(&config(Timings::default()), Slow::Disks(writes));
        println!("default, writes {writes:?}: {leaderships}, {vacant:?} without a leader");
        assert!(vacant <= SPAN / 20, "{writes:?}: {vacant:?}");
    }
}

/// Position of the only slow voter: the voter with the highest rank first.
const ONE: [usize; 3] = [2, 1, 0];

/// Returns each preset with its two write times, in milliseconds.
fn presets() -> [(&'static str, Timings, [u64; 2]); 2] {
    [
        ("lan", Timings::lan(), [150, 400]),
        ("default", Timings::default(), [500, 1_000]),
    ]
}

/// `slow-waits`: the best-ranked voter must not take the leadership again and again, only to lose it at its next write.
#[test]
fn with_one_slow_voter_of_three_the_leadership_hardly_moves() {
    for (preset, timings, times) in presets() {
        for (write, slow) in times.into_iter().flat_map(|t| ONE.map(|slow| (t, slow))) {
            let mut writes = [0; 3];
            writes[slow] = write;
            let (leaderships, vacant) = watch(&config(timings.clone()), Slow::Disks(writes));
            println!("{preset}, writes {writes:?}: {leaderships}, {vacant:?} without a leader");
            assert!(
                leaderships <= 3 && vacant <= ms(1_000),
                "{preset} {writes:?}: {leaderships}, {vacant:?}"
            );
        }
    }
}

/// Returns the longest time from the silent crash of a leader until the next agent leads.
fn fails_over(write: u64) -> Duration {
    let longest = (1..=20).map(|seed| {
        let timings = Timings::default();
        let mut world = world(&config(timings), Slow::Disks([write; 3]), seed);
        let is_led = |world: &World<QuorumBully>| !world.believers().is_empty();
        assert!(world.run_until(is_led, ms(60_000)), "seed {seed}");
        world.run_for(ms(5_000 + seed * 17));
        if let Some(leader) = world.believers().first() {
            world.crash(leader);
        }
        let before = world.now();
        assert!(world.run_until(is_led, ms(60_000)), "seed {seed}");
        assert_eq!(world.violation(), None);
        world.now().since(before)
    });
    longest.max().unwrap()
}

/// The bound holds if a voter writes within T / 4. The page of the election has the figure for slower disks.
#[test]
fn a_leader_that_ends_has_a_successor_within_the_bound_and_one_deadline() {
    let timings = Timings::default();
    let bound = timings.worst_case_quorum_failover(0) + timings.deadline();
    for write in [0, 150, 500, 1_000, 1_800] {
        let longest = fails_over(write);
        println!("writes in {write} ms: the next leader within {longest:?}");
        assert!(write > 500 || longest <= bound, "{write}: {longest:?}");
    }
}

/// The delay is three times the bound, so no answer comes within a round of the length E.
#[test]
fn on_a_network_that_is_slower_than_stated_one_agent_leads() {
    for (timings, delay) in [(Timings::default(), 120), (Timings::lan(), 27)] {
        let (leaderships, vacant) = watch(&config(timings), Slow::Network(delay));
        println!("{delay} ms one way: {leaderships}, {vacant:?} without a leader");
        assert!(
            (leaderships, vacant) <= (1, ms(2_000)),
            "{leaderships}, {vacant:?}"
        );
    }
}
