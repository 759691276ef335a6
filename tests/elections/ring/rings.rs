//! Tests of faults that only a ring can have: scenarios 33 to 36.

use std::time::Duration;

use actix_bully::{
    elections::ring::{Ring, RingConfig},
    protocol::{Role, Term, Time},
    testkit::faults::Conditions,
};
use bully_sim::{
    sim::{Reaction, World},
    trace::What,
};

use crate::ring::kit::{
    D, MS, acquired, builder, comes_to_lead_above, config, dies_of, led, mark, ring, seeds, sent,
};

const DELAY: Duration = Duration::from_millis(7);

/// Returns a ring whose members `dead` have just crashed. `starter` begins an election at this moment, without
/// knowledge of the crashes.
fn begins(scores: &[i32], dead: &[&str], starter: &str, config: &RingConfig) -> World<Ring> {
    let world = builder(1, scores, config).conditions(Conditions::delayed(DELAY));
    let mut world = world.build();
    world.settle(MS(5_000)).unwrap();
    world.run_for(MS(60)); // no heartbeat is under way
    for name in dead {
        world.crash(name);
    }
    world.campaign(starter);
    world
}

#[test]
fn s33_two_adjacent_dead_members_cost_two_hops() {
    let once = RingConfig {
        sends: 1,
        hop: Some(D * 2 + MS(20)),
        ..RingConfig::default()
    };
    for config in [config(), once] {
        let mut world = begins(&[1, 2, 3, 4, 5, 6], &["c", "d"], "b", &config);
        let began = world.now();
        let took = comes_to_lead_above(&mut world, Term(1), "f", MS(10_000));
        // a, b, e and f are left. The token of b collects 4 entries, the nomination takes 2 hops, and f announces
        // itself over 4 hops. The last acknowledgement ends the election.
        let hops = 4 + 2 + 4 + 1;
        assert_eq!(took, config.hop() * 2 + DELAY * hops, "2 Hop and 11 d");
        assert!(took <= config.worst_case_election(6, 2));
        // Each dead member gets a message as often as the configuration sends it, and no more.
        let tries = lost_on(&world, &["c", "d"], began);
        assert_eq!(tries, usize::try_from(config.sends).unwrap() * 2);
    }
}

/// Returns the number of messages to `dead` since then, without probes and heartbeats.
fn lost_on(world: &World<Ring>, dead: &[&str], since: Time) -> usize {
    let entries = world.trace().entries().filter(|entry| entry.at >= since);
    let to_them = entries.filter(|entry| match &entry.what {
        What::Sent { message, .. } => {
            dead.contains(&message.to.as_str()) && message.kind != "probe" && message.kind != "beat"
        }
        _ => false,
    });
    to_them.count()
}

#[test]
fn s34_the_origin_dies_while_its_token_circulates() {
    seeds(|seed| {
        // The origin dies at the first hop of its token, or at a later hop.
        for hops in 0..4 {
            let mut world = led(seed, 5);
            world.run_for(MS(500));
            let before = sent(&world, "collect");
            let term = world.view("a").unwrap().term;
            world.campaign("c");
            let gone = |w: &World<Ring>| sent(w, "collect") > before + hops;
            assert!(world.run_until(gone, MS(5_000)));
            world.crash("c");
            let bound = config().worst_case_election(5, 1) + D * 2;
            comes_to_lead_above(&mut world, term, "e", bound);
            // The next member closed the circle, so this election has a winner and no other election began.
            assert_eq!(world.view("a").unwrap().term, term.next().unwrap());
        }
    });
}

#[test]
fn s35_the_winner_dies_before_its_nomination() {
    seeds(|seed| {
        let mut world = led(seed, 5);
        world.run_for(MS(500));
        let before = mark(&world);
        dies_of(&mut world, "e", "collect", 0); // `e` enters the list and crashes
        world.campaign("b");
        assert!(world.run_until(|w| sent(w, "nominate") > 0, MS(5_000)));
        assert_eq!(
            (world.sprung(Reaction::Crash), world.is_running("e")),
            (1, false)
        );
        // The nomination returns without having met `e`, so another election begins at once.
        let bound = config().worst_case_election(5, 1) * 2;
        comes_to_lead_above(&mut world, Term(1), "d", bound);
        assert_eq!(acquired(&world, before), ["d"]);
    });
}

#[test]
fn s36_the_token_is_lost_with_the_one_that_held_it() {
    seeds(|seed| {
        // `a` acknowledges the token and does not pass it on. No member leads, and the timer `Token` ends the wait.
        let mut world = ring(seed, 5);
        dies_of(&mut world, "a", "hop_ack", 0);
        world.run_for(MS(200));
        assert_eq!(
            (world.sprung(Reaction::Crash), world.is_running("a")),
            (1, false)
        );
        let view = world.view("e").unwrap();
        assert_eq!((view.role, view.leader), (Role::Candidate, None));
        let bound = config().token(5) + config().worst_case_election(5, 1);
        let took = comes_to_lead_above(&mut world, view.term, "e", bound);
        assert!(took + MS(200) > config().token(5), "{took:?}");
    });
}
