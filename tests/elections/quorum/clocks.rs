//! Measures the effect of each fault of a clock on a lease: the rows of `quorum::clocks`, with their figures. The tests
//! leave out the checks that stop a world at its first violation, because two rows state that the promise does not
//! hold.

use std::time::Duration;

use actix_bully::protocol::{Event, Term};
use actix_bully_oracles::Watched;
use bully_sim::sim::World;

use crate::quorum::kit::{D, Group, P, id, ms};

/// Returns a world that `c` leads and that goes on after a violation. `clocks` has the drift of each agent's clock.
fn led_by_c(clocks: Vec<i32>, seed: u64) -> World<Watched> {
    let group = Group {
        clocks,
        ..Group::of(3).sticky()
    };
    let mut world = group.builder(seed).0.build();
    assert_eq!(world.settle(ms(500)).ok(), Some(id("c")));
    world.run_for(ms(50 + seed));
    world
}

const TICK: Duration = Duration::from_micros(100);

/// Returns the time for which more than one agent leads in the next `span`, with a precision of one tick.
fn contested(world: &mut World<Watched>, span: Duration) -> Duration {
    let end = world.now().after(span);
    let mut contested = Duration::ZERO;
    while world.now() < end {
        // The loop advances at most one tick, because a lease may end between two steps of the world.
        let tick = world.now().after(TICK);
        let next = world.next_at().filter(|at| *at > world.now());
        let until = next.map_or(tick, |at| at.min(tick));
        if world.believers().len() > 1 {
            contested += until.since(world.now());
        }
        world.run_to(until);
    }
    contested
}

/// Returns the longest time for which two agents lead, over 40 histories. The leader is cut off; its clock is `percent`
/// per cent slow, and the clocks of its voters are `percent` per cent fast. Each leadership has a higher term than the
/// one before.
fn contested_at(percent: i32) -> Duration {
    let rate = percent * 10_000;
    let worst = (0..40).map(|seed| {
        let mut world = led_by_c(vec![rate, rate, -rate], seed);
        world.isolate("c");
        let contested = contested(&mut world, ms(4 * P));
        assert_eq!(terms(&world).len(), 2, "of c and of its successor");
        contested
    });
    worst.max().unwrap()
}

/// Returns the terms of all leaderships, and asserts that each term is above the previous term.
fn terms(world: &World<Watched>) -> Vec<Term> {
    let mut acquired = Vec::new();
    for agent in world.agents() {
        for (at, event) in world.events(agent) {
            if let Event::Acquired { term, .. } = event {
                acquired.push((*at, *term));
            }
        }
    }
    acquired.sort();
    let terms: Vec<_> = acquired.into_iter().map(|(_, term)| term).collect();
    assert!(terms.is_sorted_by(|former, later| former < later));
    terms
}

#[test]
fn rates_up_to_the_bound_keep_one_leader() {
    for percent in [0, 1, 5, 10, 11] {
        assert_eq!(contested_at(percent), Duration::ZERO, "{percent} %");
    }
}

#[test]
fn rates_beyond_the_bound_are_not_covered() {
    for (percent, millis) in [(15, 6), (30, 43), (50, 113)] {
        let contested = contested_at(percent);
        let rounded = (contested + Duration::from_micros(500)).as_millis();
        assert_eq!(rounded, millis, "{percent} %: {contested:?}");
    }
}

/// The clocks of a paused virtual machine stop with it. Messages that waited meanwhile arrive when the machine goes on,
/// unless it was cut off as well.
#[test]
fn s63_a_paused_machine_leads_until_it_hears_of_its_successor() {
    let after_pause = |cut: bool, seed| {
        let mut world = led_by_c(Vec::new(), seed);
        world.set_clock_rate("c", -1_000_000);
        world.pause("c");
        if cut {
            world.isolate("c");
        }
        world.run_for(ms(5 * D));
        world.set_clock_rate("c", 0);
        world.resume("c");
        assert_eq!(world.believers().len(), 2, "nothing was delivered yet");
        let contested = contested(&mut world, ms(3 * D));
        terms(&world);
        contested
    };
    let worst = |cut| (0..60).map(|seed| after_pause(cut, seed)).max().unwrap();
    assert_eq!(worst(false), TICK, "what waited ends it at once");
    let alone = worst(true);
    assert!(
        alone <= ms(D) && alone > ms(D - 2),
        "the rest of its lease: {alone:?}"
    );
}
