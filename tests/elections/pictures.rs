//! The stories of the two programs that this crate came from, drawn: a moment of each as SVG, and each as Mermaid.
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

/// ASTRA's: the lowest of five asks all above it, and they ask those above them, up to the highest.
#[test]
fn the_story_of_astra() {
    let mut world: World<Astra> = world(&[1, 2, 3, 4, 5], &Arc::default());
    world.campaign("a");
    seconds(&mut world, 3);
    assert_eq!(world.agreed().unwrap().id, "e");
    drawn("story-of-astra", "astra", &world, &[2, 8, 3_000]);
}

/// The Go program's `main`: its leader crashes, recovers, and crashes with another one.
#[test]
fn the_story_of_the_go_program() {
    let world = programs::go_main::main_by_ours();
    let last = 13_000;
    assert_eq!(world.now(), AT(last));
    drawn("story-of-the-go-program", "bully", &world, &[6_005, last]);
}
