//! Draws the stories of the two programs that this crate came from. Each story has SVG drawings of some moments, and a
//! Mermaid diagram.
//!
//! The drawings are beside the golden traces; `BLESS=1` rewrites them.

use std::sync::Arc;

use actix_bully::protocol::Time;
use bully_core::{elections::astra::Astra, protocol::Election};
use bully_sim::sim::World;

use crate::{
    programs,
    support::golden::golden,
    traces::kit::{seconds, world},
};

const AT: fn(u64) -> Time = Time::from_millis;

fn drawn<E: Election>(name: &str, protocol: &str, world: &World<E>, moments: &[u64]) {
    let recording = world.trace().to_recording(protocol, world.now());
    let file = |end: &str| format!("tests/elections/traces/{name}{end}");
    golden(&file(".mmd"), &recording.to_mermaid());
    for at in moments {
        golden(&file(&format!("-{at}ms.svg")), &recording.to_svg(AT(*at)));
    }
}

/// The lowest of five ASTRA agents asks all agents above it. Each of them asks the agents above it in turn, up to the
/// highest agent.
#[test]
fn the_story_of_astra() {
    let mut world: World<Astra> = world(&[1, 2, 3, 4, 5], &Arc::default());
    world.campaign("a");
    seconds(&mut world, 3);
    assert_eq!(world.agreed().unwrap().id, "e");
    drawn("story-of-astra", "astra", &world, &[2, 8, 3_000]);
}

/// The leader of the Go program's `main` crashes, recovers, and crashes together with another agent.
#[test]
fn the_story_of_the_go_program() {
    let world = programs::go_main::main_by_ours();
    let last = 13_000;
    assert_eq!(world.now(), AT(last));
    drawn("story-of-the-go-program", "bully", &world, &[6_005, last]);
}
