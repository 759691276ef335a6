//! Observers are told by the leader, and are not in the ring: they pass nothing on, and ask no member.

use std::{sync::Arc, time::Duration};

use actix_bully::{elections::ring::Ring, protocol::AgentId};
use bully_sim::{
    sim::{Detection, Participant, World},
    trace::What,
};

use crate::ring::kit::{MS, builder, comes_to_lead, config, id, seeds};

/// Three voters and an observer, by that detection.
fn watched(seed: u64, detection: Detection) -> World<Ring> {
    let observer = Participant::observer(id("o"), Arc::new(config()));
    let world = builder(seed, &[1, 2, 3], &config());
    world.agent(observer).detection(detection).build()
}

/// The agents that the observer has sent anything to.
fn spoken_to(world: &World<Ring>) -> Vec<AgentId> {
    let said = world
        .trace()
        .entries()
        .filter_map(|entry| match &entry.what {
            What::Sent { message, .. } | What::Lost { message, .. } if message.from == "o" => {
                Some(message.to.clone())
            }
            _ => None,
        });
    said.collect()
}

#[test]
fn an_observer_follows_and_says_nothing_whichever_member_is_silent() {
    for detection in [Detection::Silent, Detection::Suspect] {
        seeds(|seed| {
            let mut world = watched(seed, detection(Duration::ZERO.into()));
            comes_to_lead(&mut world, "c", MS(10_000));
            world.crash("c");
            comes_to_lead(&mut world, "b", MS(10_000));
            world.run_for(MS(10_000));
            assert_eq!(spoken_to(&world), [""; 0]);
            let leader = world.view("o").unwrap().leader.unwrap();
            assert_eq!(leader.id, "b");
        });
    }
}
