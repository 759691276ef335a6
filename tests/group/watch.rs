//! The calls of a bridge to a group: it opens the group in time, watches it, and delivers messages to this process
//! only.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use actix_bully::{
    Group,
    group::{Envelope, OpenError, Update},
    protocol::Incarnation,
};
use bully_core::protocol::{Leaders, Requirements, Rules, Storage};

use crate::kit::{FIRST, Scene, id, play, resign, up, up_in};

#[test]
fn a_watcher_is_told_once_until_it_looks() {
    play(async {
        let mut scene = Scene::new();
        let signals = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&signals);
        let watch = scene.group.watch(move || {
            counter.fetch_add(1, Relaxed);
        });
        let signalled = || signals.swap(0, Relaxed);
        let incarnation = scene.join("a", Some(1));
        let second = scene.join("b", Some(1));
        assert_eq!(signalled(), 1);
        let (route, _) = scene.host("host-b");
        assert_eq!(route.apply(up("x", 1)), []);
        assert_eq!(signalled(), 0, "it has not looked yet");
        let here: Vec<_> = watch.look().here().map(|m| m.id.to_string()).collect();
        assert_eq!(here, ["a", "b"]);
        scene.group.down(&id("a"), incarnation);
        scene.group.set_score(&id("b"), second, None);
        assert_eq!(signalled(), 1);
        let _seen = watch.look();
        drop(watch);
        scene.group.leave(&id("a"), incarnation);
        assert_eq!(signalled(), 0, "the watch is gone");
    });
}

#[test]
fn a_message_from_another_host_stays_in_this_process() {
    play(async {
        let scene = Scene::of([("a", Some(1)), ("b", Some(1))]);
        let (route, link) = scene.host("host-b");
        route.apply(["x", "y"].map(|name| Update::Known(up_in(name, 1))));
        let envelope = Envelope {
            from: id("x"),
            incarnation: FIRST,
            message: resign(),
        };
        scene.group.deliver_here(&envelope, None);
        assert_eq!(scene.messages().await, "a1 b1 ");
        assert_eq!(scene.group.counters().sent, 2);
        let some = ["b", "y", "stranger"].map(id);
        scene.group.deliver_here(&envelope, Some(&some));
        assert_eq!(scene.messages().await, "a0 b1 ");
        let sent = scene.group.counters().sent;
        assert_eq!(sent, 3, "a message without a receiver is not counted");
        scene.group.down(&id("b"), FIRST);
        scene.group.deliver_here(&envelope, None);
        let heard = scene.messages().await;
        assert_eq!(heard, "a1 b0 ", "a member that is down hears nothing");
        assert_eq!(link.take(), [""; 0]);
    });
}

#[test]
fn a_group_is_opened_before_its_agents_and_numbers_their_incarnations() {
    play(async {
        let mut scene = Scene::new();
        let group = scene.group.clone();
        let incarnation = scene.join("a", Some(1));
        let floor = Incarnation(500);
        let late = Err(OpenError::TooLate { id: id("a") });
        assert_eq!(group.open("host-a", floor), late);
        assert!(group.members().is_closed(), "nothing was changed");
        assert!(group.leave(&id("a"), incarnation));
        assert_eq!(group.open("host-a", floor), Ok(()));
        assert!(!group.members().is_closed());
        assert!(scene.join("a", Some(1)) > floor);
        group.set_closed(true);
        let again = group.open("host-a", Incarnation(400));
        assert_eq!(again, Ok(()), "the group numbers its own incarnations");
        assert!(scene.join("b", Some(1)) > floor);
    });
}

#[test]
fn an_agent_that_has_ended_for_good_keeps_no_group_closed() {
    play(async {
        let scene = Scene::of([("a", Some(1))]);
        assert!(scene.group.note_volatile(&id("a")));
        scene.group.retire(&id("a"), FIRST);
        assert_eq!(scene.group.open("host-a", Incarnation(1)), Ok(()));
    });
}

#[test]
fn a_volatile_record_keeps_a_group_closed() {
    let group: Group = Group::new("g").unwrap();
    let quorum = Requirements {
        leaders: Leaders::PerTerm,
        storage: Storage::Record,
        epoch: 3,
        ..Requirements::new(Rules::new("quorum"))
    };
    assert_eq!(group.requirements(), None);
    let incarnation = group.reserve(&id("a"), quorum.clone()).unwrap();
    assert_eq!(group.requirements(), Some(quorum));
    assert!(group.note_volatile(&id("a")));
    let volatile = OpenError::Volatile { id: id("a") };
    assert_eq!(group.open("host-a", Incarnation(1)), Err(volatile));
    group.leave(&id("a"), incarnation);
    assert_eq!(group.requirements(), None, "the group has no agent");
    assert_eq!(group.open("host-a", Incarnation(1)), Ok(()));
    let is_noted = group.note_volatile(&id("a"));
    assert!(!is_noted, "an open group refuses volatile records");
}
