//! Golden traces: the messages between agents, and drawings of two stories.
//!
//! The texts are beside this file; `.ci/bless` rewrites them. The stories of `../programs/stories.txt` that have a trace
//! compare it with these texts: `*.as-written.txt` shows the rules word for word, `*.astra.txt` and `*.ballot.txt` the
//! repair in the same story. `*.bully.txt` shows the default rules, and `*.ring.txt` the ring election.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::{
        ballot::Ballot,
        ring::{Ring, RingConfig},
    },
    protocol::{Time, Timings},
};
use bully_core::{
    elections::{
        astra::Astra,
        bully::{Bully, BullyConfig},
    },
    protocol::Election,
};
use bully_sim::{sim::World, trace::Trace};

use crate::{
    programs::{ROUND, SILENT, ballots, builder, five_nodes, machines::Told},
    scenarios::play::{apply, play},
    support::golden::golden,
};

fn world<E: Election>(scores: &[i32], config: &E::Config) -> World<E> {
    let mut world = builder(1, 'a', scores, config).trace(Trace::new()).build();
    world.run_for(Duration::ZERO);
    world
}

/// Returns the trace, the leaders that the agents follow, and the counts of the machines.
pub(crate) fn with_beliefs<E: Told>(world: &World<E>) -> String {
    let running = || {
        world
            .views()
            .filter_map(|(id, view)| Some((id, world.machine(id)?, view)))
    };
    let believes =
        running().map(|(id, machine, view)| format!("{id} {}\n", machine.believes(&view)));
    let counted =
        running().filter_map(|(id, machine, _)| Some(format!("{id} {}\n", machine.counted()?)));
    world.trace().to_text() + &believes.collect::<String>() + &counted.collect::<String>()
}

pub(crate) fn golden_trace(name: &str, text: &str) {
    golden(&format!("tests/elections/traces/{name}.txt"), text);
}

/// Runs each command as soon as the agents have settled, and compares the trace.
fn settles_after_each<E: Told>(mut world: World<E>, commands: &str, name: &str) {
    for command in commands.split("; ") {
        world.settle(Duration::from_secs(3)).unwrap();
        for command in command.split(", ") {
            apply(&mut world, command);
        }
    }
    world.settle(Duration::from_secs(3)).unwrap();
    assert_eq!(world.violation().map(ToString::to_string), None);
    golden_trace(&format!("{name}.{}", E::NAME), &with_beliefs(&world));
}

/// The text shows the crash of a leader in the default profile.
#[test]
fn a_crash_costs_one_announcement() {
    let config = Arc::new(BullyConfig {
        timings: Timings::lan(),
        ..BullyConfig::default()
    });
    let world: World<Bully> = world(&[1, 2, 3], &config);
    settles_after_each(world, "crash c; restart c", "crash-and-recovery");
}

/// A ring elects a leader, loses two neighbours (one of them is the leader), and gets the leader back.
#[test]
fn a_ring_passes_over_the_dead() {
    let config = Arc::new(RingConfig::new(Timings::lan()));
    let world: World<Ring> = world(&[1, 2, 3, 4], &config);
    settles_after_each(world, "crash c, crash d; restart d", "two-neighbours-die");
}

/// The text has every message of the first two rounds. No agent announces itself; all agents ask.
#[test]
fn gossip_elects_without_an_announcement() {
    let mut world = builder(1, 'a', &[1, 2, 3], &ballots(3))
        .trace(Trace::new().with_repeated())
        .build();
    world.run_for(ROUND + Duration::from_millis(10));
    assert_eq!(world.agreed().unwrap().id, "c");
    golden_trace("two-rounds.ballot", &with_beliefs::<Ballot>(&world));
}

fn drawn<E: Election>(name: &str, protocol: &str, world: &World<E>, moments: &[u64]) {
    let recording = world.trace().to_recording(protocol, world.now());
    let file = |end: &str| format!("tests/elections/traces/{name}{end}");
    golden(&file(".mmd"), &recording.to_mermaid());
    for at in moments {
        golden(
            &file(&format!("-{at}ms.svg")),
            &recording.to_svg(Time::from_millis(*at)),
        );
    }
}

/// The lowest of five ASTRA agents asks all agents above it. Each of them asks the agents above it in turn, up to the
/// highest agent.
#[test]
fn the_story_of_astra() {
    let mut world: World<Astra> = world(&[1, 2, 3, 4, 5], &Arc::default());
    world.campaign("a");
    world.run_for(Duration::from_secs(3));
    assert_eq!(world.agreed().unwrap().id, "e");
    drawn("story-of-astra", "astra", &world, &[2, 8, 3_000]);
}

/// The leader of the Go program's `main` crashes, recovers, and crashes together with another agent.
#[test]
fn the_story_of_the_go_program() {
    let mut world: World<Bully> = five_nodes(&Arc::default(), SILENT);
    play(
        &mut world,
        "wait 2s; crash 4; wait 4s; restart 4; wait 4s; crash 4 3; wait 3s",
    );
    assert_eq!(world.now(), Time::from_millis(13_000));
    drawn("story-of-the-go-program", "bully", &world, &[6_005, 13_000]);
}
