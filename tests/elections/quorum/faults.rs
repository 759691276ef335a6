//! Scenarios of the network: cuts, partitions, one-way links, slow messages.

use actix_bully::{
    protocol::{Event, LostReason},
    testkit::faults::Conditions,
};
use bully_sim::sim::Detection;

use crate::quorum::kit::{AFTER, D, Group, H, ms};

#[test]
fn s57_a_flapping_top_agent_does_not_bounce_the_leadership() {
    let mut net = Group::of(5).led(7);
    let then = net.mark();
    for _ in 0..20 {
        net.world.isolate("e");
        net.run(130);
        net.world.heal();
        net.run(140);
    }
    assert!(
        net.acquired_since(&then).len() <= 2,
        "{:?}",
        net.acquired_since(&then)
    );
    net.run(AFTER * 40);
    net.follows("e");
}

#[test]
fn s66_a_late_acknowledgement_is_worth_what_is_left_of_it() {
    let mut net = Group::of(3).led(8);
    let slow = Conditions::builder()
        .delay(ms(70)..=ms(70))
        .build()
        .unwrap();
    for other in ["a", "b"] {
        net.world.set_link(other, "c", Some(slow));
    }
    net.run(1_000);
    assert_eq!(net.believers(), ["c"], "just in time");
    let cut = net.mark();
    net.world.isolate("c");
    net.until_leads("b", 400);
    let why = LostReason::LeaseExpired;
    let is_it = |event: &Event| matches!(event, Event::Lost { reason, .. } if *reason == why);
    let lost = net
        .events_since(&cut)
        .into_iter()
        .find(|(.., event)| is_it(event));
    assert!(lost.expect("c lost it").0.since(cut.at) <= ms(D));
}

#[test]
fn s74_a_confirmed_end_is_not_waited_for() {
    for seed in 0..50 {
        let detection = Detection::Certain(ms(0).into());
        let group = Group {
            detection,
            ..Group::of(5)
        };
        let mut net = group.led(seed);
        net.run(seed % H); // heartbeats may be under way
        net.world.crash("e");
        let took = net.until_leads("d", 400);
        assert!(took <= ms(8), "seed {seed}: {took:?}"); // six delays
    }
}
