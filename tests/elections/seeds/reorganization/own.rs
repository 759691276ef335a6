//! What only a reorganization can suffer: scenarios 29 to 32.

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::reorganization::{Reorganization, WhenAsked},
    protocol::{Term, Time},
};
use bully_classics::reorganization::PaperStatus;
use bully_sim::{
    sim::{Reaction, World},
    trace::{MessageText, What},
};

use super::{agents, config, leads, one_coordinator};
use crate::seeds::{
    MS,
    worlds::{SECONDS, dies_of, seeds},
};

#[test]
fn s29_the_halter_dies_before_it_is_the_coordinator() {
    for seed in seeds() {
        let mut world = agents(5).watched(seed);
        dies_of(&mut world, "e", "halt", 3); // all are halted, and hear no more
        world.run_for(MS(20));
        assert_eq!(
            (world.sprung(Reaction::Crash), world.is_running("e")),
            (1, false)
        );
        for name in ["a", "b", "c", "d"] {
            assert!(has_said(&world, name, "halt_ack", "e"), "{name} obeys");
            let status = world.machine(name).map(Reorganization::status);
            assert_eq!(status, Some(PaperStatus::Election));
        }
        // They wait until Takeover is over, then one of them begins.
        world.run_to(Time::ZERO.after(config().takeover()));
        let halts = world.trace().count_of("halt").sent;
        assert_eq!(halts, 4, "no other agent has halted one");
        leads(&mut world, "d");
        let longest = config().takeover() + config().worst_case_election();
        assert!(world.now().since(Time::ZERO) <= MS(20) + longest);
    }
}

fn has_said(world: &World<Reorganization>, from: &str, kind: &str, to: &str) -> bool {
    world.trace().entries().any(|entry| {
        let said = |message: &MessageText| {
            message.kind == kind && message.from == from && message.to == to
        };
        matches!(&entry.what, What::Sent { message, .. } if said(message))
    })
}

#[test]
fn s30_a_member_dies_between_its_halt_and_the_new_coordinator() {
    for kind in ["halt_ack", "new_coordinator_ack", "ready_ack"] {
        for seed in seeds() {
            let mut world = agents(5).watched(seed);
            dies_of(&mut world, "b", kind, 0);
            leads(&mut world, "e");
            assert_eq!(
                (world.sprung(Reaction::Crash), world.is_running("b")),
                (1, false)
            );
            let term = world.view("e").unwrap().leading;
            let again = kind != "ready_ack";
            assert_eq!(
                term > Some(Term(1)),
                again,
                "{kind}: again with a higher count"
            );
        }
    }
}

#[test]
fn s31_two_coordinators_notice_each_other() {
    for seed in seeds() {
        let mut world = agents(4).world(seed);
        leads(&mut world, "d");
        world.partition([["a", "b"], ["c", "d"]]);
        let both = |world: &World<Reorganization>| world.believers() == ["b", "d"];
        assert!(world.run_until(both, SECONDS(5)), "one on each side");
        let before = world.now();
        world.heal();
        leads(&mut world, "d");
        let said = |entry: &bully_sim::trace::TraceEntry| {
            entry.at >= before
                && matches!(&entry.what, What::Sent { message, .. } if message.kind == "not_normal")
        };
        assert!(
            world.trace().entries().any(said),
            "normal under another agent is a no"
        );
    }
}

#[test]
fn s32_two_halt_the_same_member_and_one_is_obeyed() {
    let mut both = 0;
    for seed in 0..60 {
        let mut world = agents(4).watched(seed);
        leads(&mut world, "d");
        world.crash("d");
        let halts = |world: &World<Reorganization>, by: &str| {
            let sent = |e: &bully_sim::trace::TraceEntry| matches!(&e.what, What::Sent { message, .. } if message.kind == "halt" && message.from == by);
            world.trace().entries().filter(|e| sent(e)).count()
        };
        assert!(world.run_until(|w| halts(w, "c") > 0, SECONDS(5)));
        world.run_for(Duration::from_micros(seed * 500));
        let before = halts(&world, "d");
        world.restart("d"); // it halts all, as c just did
        both += usize::from(halts(&world, "d") > before && world.believers().is_empty());
        leads(&mut world, "d");
    }
    assert!(both > 20, "both were at it: {both}");
}

#[test]
fn eager_members_elect_as_well() {
    let mut setting = agents(5);
    Arc::make_mut(&mut setting.config).when_asked = WhenAsked::Elect;
    for seed in seeds() {
        let mut world = setting.world(seed);
        world.set_invariant(one_coordinator);
        leads(&mut world, "e");
        world.crash("e");
        leads(&mut world, "d");
        world.campaign("a");
        leads(&mut world, "d");
    }
}
