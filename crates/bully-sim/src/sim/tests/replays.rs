//! Messages that no agent sent.

use super::{MS, id, inputs, settled, three};

#[test]
fn a_replay_is_heard_and_a_forgery_is_dropped() {
    let mut world = three(1).build();
    assert_eq!(
        world.replay(0),
        None,
        "no message is remembered without a call"
    );
    world.remember_messages();
    world.settle(MS(100)).unwrap();
    world.run_for(MS(200));
    let kept = world.transit.remembered.messages.len();
    assert!((2..10).contains(&kept), "{kept} of twenty heartbeats");
    let before = world.dropped();
    let to = world.replay(0).unwrap();
    let heard = inputs(&world, to.as_str()).len();
    world.run_for(MS(0));
    assert_eq!(inputs(&world, to.as_str()).len(), heard + 1);
    assert_eq!(world.dropped(), before);

    for pick in 0..9 {
        let stranger = world.forge_sender(pick).unwrap();
        let other = world.forge_epoch(pick).unwrap();
        let heard = [&stranger, &other].map(|at| inputs(&world, at.as_str()).len());
        world.run_for(MS(0));
        assert_eq!(
            [&stranger, &other].map(|at| inputs(&world, at.as_str()).len()),
            heard
        );
    }
    let after = world.dropped();
    assert_eq!((after.stranger, after.epoch), (9, 9));
    assert!(world.is_calm(), "no replay remains under way");
}

#[test]
fn a_message_of_an_ended_incarnation_is_dropped_by_those_that_know() {
    let mut world = settled();
    world.remember_messages();
    world.campaign("c");
    world.run_for(MS(200));
    assert_eq!(world.replay_of_ended_incarnation(0), None, "all live");
    world.crash("c");
    world.restart("c");
    world.run_for(MS(0));
    let (before, to) = (world.dropped().ended, world.replay_of_ended_incarnation(0));
    assert!(to.is_some_and(|to| to != id("c")));
    world.run_for(MS(0));
    assert_eq!(world.dropped().ended, before + 1);
}

#[test]
fn a_message_is_heard_once_more_by_a_later_incarnation_of_its_receiver() {
    let mut world = settled();
    world.remember_messages();
    world.campaign("c");
    world.run_for(MS(200));
    assert_eq!(world.replay_to_later_incarnation(0), None, "all live");
    world.crash("b");
    world.restart("b");
    world.run_for(MS(0));
    let heard = inputs(&world, "b").len();
    assert_eq!(world.replay_to_later_incarnation(0), Some(id("b")));
    world.run_for(MS(0));
    assert_eq!(inputs(&world, "b").len(), heard + 1);
}
