//! The 1982 protocol as the notes known as *Bully* describe it, beside the machine that follows the paper: the fault of
//! each rule of the notes, and the outcome of the same story here.
//!
//! The texts are in `tests/elections/traces/`; `BLESS=1 cargo test --test simulation notes` rewrites them.
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::{
        invitation::{InvitationConfig, InvitationElection},
        reorganization::{Reorganization, ReorganizationConfig},
    },
    protocol::{AgentId, Timings},
    testkit::faults::Conditions,
};
use bully_core::protocol::Election;
use bully_sim::{
    sim::{Detection, Participant, World},
    trace::Trace,
};
use noted::{ELECTION, Noted, REORGANIZATION};

use crate::golden;

mod noted;

const MS: fn(u64) -> Duration = Duration::from_millis;

/// Returns a world of nodes "1" to "n". As in the notes, no node hears of a crash.
fn world<E: Election>(n: i32, config: &E::Config) -> World<E> {
    let agent = |number: i32| {
        let id = AgentId::new(&number.to_string()).unwrap();
        Participant::voter(id, Some(number.into()), config.clone())
    };
    World::builder(1)
        .agents((1..=n).map(agent))
        .conditions(Conditions::delayed(MS(5)))
        .detection(Detection::Silent(Duration::ZERO.into()))
        .trace(Trace::new())
        .build()
}

fn as_written(n: i32) -> World<Noted> {
    world(n, &())
}

fn repaired(n: i32) -> World<Reorganization> {
    world(n, &Arc::new(ReorganizationConfig::new(Timings::lan())))
}

/// Plays a story with both protocols, and compares both with their texts.
fn side_by_side(
    name: &str,
    n: i32,
    old: fn(&mut World<Noted>),
    new: fn(&mut World<Reorganization>),
) -> (World<Noted>, World<Reorganization>) {
    let (mut noted, mut machine) = (as_written(n), repaired(n));
    old(&mut noted);
    new(&mut machine);
    assert_eq!(machine.violation(), None);
    let status = |node: &Noted| (node.status.to_owned(), node.coordinator.clone());
    golden(&format!("{name}.as-written"), &told(&noted, status));
    let status = |node: &Reorganization| (node.status().to_string(), node.coordinator().cloned());
    golden(&format!("{name}.reorganization"), &told(&machine, status));
    (noted, machine)
}

/// Returns the trace of a world, and the status and the coordinator of each node at its end.
fn told<E: Election>(world: &World<E>, of: fn(&E) -> (String, Option<AgentId>)) -> String {
    let states = world.agents().filter_map(|id| {
        let (status, coordinator) = of(world.machine(id)?);
        let under = coordinator
            .as_ref()
            .map_or("no coordinator", AgentId::as_str);
        Some(format!("{id} in {status} under {under}\n"))
    });
    world.trace().to_text() + &states.collect::<String>()
}

fn golden(name: &str, text: &str) {
    golden::golden(&format!("tests/elections/traces/{name}.txt"), text);
}

fn under<'a>(world: &'a World<Noted>, id: &str) -> Option<&'a str> {
    let node = world.machine(id).unwrap();
    node.coordinator.as_ref().map(AgentId::as_str)
}

fn believers(world: &World<Reorganization>) -> Vec<String> {
    world.believers().iter().map(ToString::to_string).collect()
}

/// "Sets its status to Reorganization" is the last sentence of the notes: no node is ever Normal.
#[test]
fn the_notes_end_at_reorganization() {
    fn story<E: Election>(world: &mut World<E>) {
        world.run_for(MS(1_000));
    }
    let (noted, machine) = side_by_side("1982-ends-early", 2, story, story);
    let node = noted.machine("1").unwrap();
    assert_eq!(node.status, REORGANIZATION);
    assert_eq!(under(&noted, "1"), Some("2"));
    assert_eq!(noted.believers(), [""; 0], "no node works");
    assert_eq!(believers(&machine), ["2"]);
}

/// "i < j < n" leaves out the highest node: no node asks it, and another node coordinates as well.
#[test]
fn the_notes_leave_the_highest_node_out() {
    fn story<E: Election>(world: &mut World<E>) {
        world.run_for(MS(600));
        world.campaign("2"); // node 2 asks no node, and halts 1
        world.run_for(MS(1_000));
    }
    let (noted, machine) = side_by_side("1982-highest-left-out", 3, story, story);
    let coordinators = ["1", "2", "3"].map(|id| under(&noted, id));
    assert_eq!(coordinators, ["2", "2", "3"].map(Some));
    assert_eq!(believers(&machine), ["3"]);
}

/// Without a Timeout no node notices that the coordinator has crashed.
#[test]
fn the_notes_have_no_time_out() {
    fn story<E: Election>(world: &mut World<E>) {
        world.run_for(MS(600));
        world.crash("3");
        world.run_for(MS(2_000));
    }
    let (noted, machine) = side_by_side("1982-coordinator-dies", 3, story, story);
    assert_eq!(under(&noted, "2"), Some("3"), "node 3 has crashed");
    assert_eq!(believers(&machine), ["2"]);
}

/// A halted node waits for "I am elected" for ever.
#[test]
fn the_notes_let_a_halted_node_wait_for_ever() {
    let dies_while_all_are_halted = MS(208);
    let mut noted = as_written(3);
    noted.run_for(dies_while_all_are_halted);
    noted.crash("3");
    noted.run_for(MS(5_000));
    assert_eq!(noted.machine("1").unwrap().status, ELECTION);
    assert_eq!(under(&noted, "2"), None);
    let mut machine = repaired(3);
    machine.run_for(MS(8)); // it halts the others without a wait for T: no node is above it
    machine.crash("3");
    machine.run_for(MS(5_000));
    assert_eq!(believers(&machine), ["2"]);
}

/// An election, a crash and a recovery, by the rules of the paper.
#[test]
fn a_crash_and_a_recovery() {
    let mut world = repaired(3);
    world.settle(MS(1_000)).unwrap();
    world.crash("3");
    world.settle(MS(2_000)).unwrap();
    world.restart("3");
    world.settle(MS(2_000)).unwrap();
    golden(
        "crash-and-recovery.reorganization",
        &world.trace().to_text(),
    );
}

/// The paper's second algorithm: a partition, and the merge after it.
#[test]
fn two_groups_are_merged() {
    let config = InvitationConfig::new(Timings::lan());
    let mut world: World<InvitationElection> = world(3, &Arc::new(config));
    world.settle(MS(1_000)).unwrap();
    world.isolate("1");
    world.run_for(MS(800));
    world.heal();
    world.settle(MS(2_000)).unwrap();
    golden("partition-and-merge.invitation", &world.trace().to_text());
}
