//! Golden traces: the messages between agents, fault by fault, as written and repaired.
//!
//! The texts are beside this file; `.ci/bless` rewrites them. `astra.rs` plays the faults of the ASTRA seed:
//! `*.as-written.txt` shows its rules word for word, `*.astra.txt` shows the repaired rules in the same story, and
//! `*.swift.txt` shows the default rules. `gossip.rs` plays the faults of the gossip leader election: `ble-*` shows its
//! rules, and `*.ballot.txt` shows the repair. `*.ring.txt` shows the ring election.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

mod astra;
mod gossip;
pub(crate) mod kit;
use crate::support;

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::ring::{Ring, RingConfig},
    protocol::Timings,
};
use bully_core::elections::bully::{Bully, BullyConfig};
use bully_sim::sim::World;
use kit::{golden, with_beliefs, world};
use support::ble;

fn swift(scores: &[i32]) -> World<Bully> {
    let config = BullyConfig {
        timings: Timings::lan(),
        ..BullyConfig::default()
    };
    world(scores, &Arc::new(config))
}

/// The text shows the crash of a leader in the default profile.
#[test]
fn a_crash_costs_one_announcement() {
    let mut world = swift(&[1, 2, 3]);
    world.settle(Duration::from_secs(3)).unwrap();
    world.crash("c");
    world.settle(Duration::from_secs(3)).unwrap();
    world.restart("c");
    world.settle(Duration::from_secs(3)).unwrap();
    golden("crash-and-recovery.swift", &with_beliefs(&world));
}

/// A ring elects a leader, loses two neighbours (one of them is the leader), and gets the leader back.
#[test]
fn a_ring_passes_over_the_dead() {
    let config = RingConfig::new(Timings::lan());
    let mut world: World<Ring> = world(&[1, 2, 3, 4], &Arc::new(config));
    world.settle(Duration::from_secs(3)).unwrap();
    world.crash("c");
    world.crash("d");
    world.settle(Duration::from_secs(3)).unwrap();
    world.restart("d");
    world.settle(Duration::from_secs(3)).unwrap();
    assert_eq!(world.violation().map(ToString::to_string), None);
    golden("two-neighbours-die.ring", &with_beliefs(&world));
}
