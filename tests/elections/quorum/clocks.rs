//! What each fault of a clock does to a lease: the rows of `quorum::clocks`, with their figures. The checks
//! that stop a world at its first violation are left out: two rows say that the promise is not kept.

use std::time::Duration;

use actix_bully::protocol::{Event, Term};
use actix_bully_oracles::Watched;
use bully_sim::sim::World;

use crate::quorum::kit::{D, Group, P, id, ms};

/// The agent `c` leads, and the world goes on after a violation. The clocks run at these rates.
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

/// For how long more than one leads in the next `span`, to a tick.
fn contested(world: &mut World<Watched>, span: Duration) -> Duration {
    let end = world.now().after(span);
    let mut contested = Duration::ZERO;
    while world.now() < end {
        // By ticks too, and not from step to step: a lease ends between two steps.
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

/// The longest that two lead, over 40 histories, when the clock of a leader that is cut off is this much slow
/// and those of its voters are this much fast, in per cent. Each leadership has a higher term than the one before.
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

/// The terms of all leaderships, each above the one before it.
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

/// The guest's clocks stop with it. What waited for it meanwhile is delivered when it goes on, unless it was cut
/// off as well.
#[test]
fn a_paused_machine_leads_until_it_hears_of_its_successor() {
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
