//! The stories of the two programs that this crate came from, drawn: a moment of each as SVG, and each as Mermaid.
//!
//! The drawings are beside the golden traces; `BLESS=1` rewrites them.
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::{env, fs, path::PathBuf, sync::Arc};

use actix_bully::protocol::Time;
use bully_core::{elections::astra::Astra, protocol::Election};
use bully_sim::sim::World;

use crate::{
    programs,
    traces::kit::{seconds, world},
};

const AT: fn(u64) -> Time = Time::from_millis;

/// Compares a file of the folder of traces with what it should be.
fn golden(name: &str, text: &str) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/elections/traces");
    let path = folder.join(name);
    if env::var_os("BLESS").is_some() {
        fs::write(&path, text).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{name} differs; BLESS=1 rewrites it");
}

fn drawn<E: Election>(name: &str, protocol: &str, world: &World<E>, moments: &[u64]) {
    let recording = world.trace().to_recording(protocol, world.now());
    golden(&format!("{name}.mmd"), &recording.to_mermaid());
    for at in moments {
        golden(&format!("{name}-{at}ms.svg"), &recording.to_svg(AT(*at)));
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
