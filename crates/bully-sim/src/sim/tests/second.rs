//! Second processes with the same name, and replaced stores.

use std::collections::BTreeSet;

use super::{MS, id, inputs, settled, terms, three, voter};
use crate::sim::{Detection, StoreContents, World};
use bully_core::protocol::{Incarnation, Term};

#[test]
fn a_message_to_a_name_reaches_both_processes_and_neither_hears_the_other() {
    let mut world = settled();
    assert!(!world.has_second("a") && world.begin_second("a", StoreContents::New));
    assert!(world.has_second("a") && !world.begin_second("a", StoreContents::New));
    let stores: BTreeSet<_> = world.nodes.iter().map(|node| node.store).collect();
    assert_eq!(stores.len(), world.nodes.len(), "each has its own");
    let hear = |world: &World<_>| {
        let nodes = world.nodes.iter().filter_map(|node| node.machine.as_ref());
        let heard = |toy: &super::Toy| {
            toy.inputs
                .iter()
                .filter(|(what, _)| what.starts_with("beat"))
                .count()
        };
        nodes.map(heard).collect::<Vec<usize>>()
    };
    let before = hear(&world);
    world.run_for(MS(100));
    let after = hear(&world);
    assert!(
        after[0] > before[0] && after[3] > before[3],
        "{before:?} {after:?}"
    );
    assert_eq!(world.agents().count(), 3, "it has no other name");
    assert!(world.begin_second("c", StoreContents::New));
    world.run_for(MS(100));
    assert_eq!(world.views().count(), 5);
    let of_itself = inputs(&world, "c");
    assert!(!of_itself.iter().any(|what| what.ends_with("from c")));
}

#[test]
fn the_end_of_a_second_process_is_told_of_its_incarnation_alone() {
    let detection = Detection::Silent(MS(0).into());
    let mut world = three(1).detection(detection).build();
    world.run_for(MS(100));
    assert!(world.begin_second("c", StoreContents::Copied));
    assert!(world.end_second("c", true) && !world.end_second("c", true));
    world.run_for(MS(1));
    let known = world.known("a").unwrap().get(&id("c")).unwrap();
    let ended = [1, 2, 3].map(|number| known.has_ended(Incarnation(number)));
    assert_eq!(ended, [false, true, false]);
    world.crash("c");
    assert!(world.restart("c"));
    assert_eq!(
        world.incarnation("c"),
        Some(Incarnation(3)),
        "later than both"
    );
}

#[test]
fn a_store_is_new_or_a_copy_or_what_it_was_when_the_incarnation_began() {
    let mut world = settled();
    let began = world.durable("c").copied();
    assert_eq!((began, terms(&world, "c")), (Some(Term(1)), vec![1]));
    assert!(!world.replace_store("c", StoreContents::New), "it runs");
    for (contents, found) in [
        (StoreContents::Copied, Some(Term(1))),
        (StoreContents::Old, None),
        (StoreContents::New, None),
    ] {
        let mut world = settled();
        world.crash("c");
        assert!(world.replace_store("c", contents));
        assert_eq!(world.durable("c").copied(), found, "{contents:?}");
        assert!(world.restart("c"));
        world.run_for(MS(100));
        let known = world.known("a").unwrap().get(&id("c")).unwrap();
        assert_eq!(known.store, world.node("c").unwrap().store);
    }
    assert!(!world.replace_store("x", StoreContents::New));
    world.retire("c");
    assert!(world.view("c").is_none() && world.durable("c").is_none());
    assert!(world.join(voter("d", 1)));
}
