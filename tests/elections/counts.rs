//! What the bully election costs where nothing goes wrong but what is asked: the exact number of
//! messages, and of delays, for groups of two to nine; where a leader ranks below the others, of up to 20.
//!
//! Every message takes the delay D, so a time is a number of messages that led to each other. Not
//! here: the ASTRA rules (`seeds/elections.rs`, scenarios 5 and 6), and large groups (`scale.rs`).
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::{ops::RangeInclusive, sync::Arc, time::Duration};

use actix_bully::{
    protocol::{AgentId, Detector, Time},
    testkit::faults::Conditions,
};
use bully_core::{
    elections::bully::{Bully, BullyConfig},
    protocol::{After, Event},
};
use bully_sim::{
    sim::{Detection, Participant, World},
    trace::{Checkpoint, Trace, TraceEntry, What},
};

const D: Duration = Duration::from_millis(7);
const SIZES: RangeInclusive<usize> = 2..=9;
const AT_ONCE: After = After {
    min: Duration::ZERO,
    max: Duration::ZERO,
};
/// As in one process: all are there from the beginning, and an end is confirmed.
const CLOSED: Detection = Detection::Certain(AT_ONCE);
/// As across hosts: others may be about to come, and an end is only suspected.
const OPEN: Detection = Detection::Suspect(AT_ONCE);
/// As across hosts whose connections tell nothing.
const SILENT: Detection = Detection::Silent(AT_ONCE);

/// Agents "1" to "n", the score of each is its number; all start at 0.
fn world(seed: u64, n: usize, detection: Detection) -> World<Bully> {
    let config: Arc<BullyConfig> = Arc::default();
    let agent = |number: usize| {
        let score = i64::try_from(number).unwrap().into();
        Participant::voter(name(number), Some(score), Arc::clone(&config))
    };
    World::builder(seed)
        .agents((1..=n).map(agent))
        .conditions(Conditions::delayed(D))
        .detection(detection)
        .trace(Trace::new().with_repeated())
        .build()
}

/// The same, once "n" leads.
fn led(seed: u64, n: usize, detection: Detection) -> World<Bully> {
    let mut world = world(seed, n, detection);
    settles(&mut world, n);
    world
}

fn name(number: usize) -> AgentId {
    AgentId::new(&number.to_string()).unwrap()
}

fn detector() -> Detector {
    BullyConfig::default().timings.detector().unwrap()
}

fn settles(world: &mut World<Bully>, leader: usize) {
    let settled = world.settle(Duration::from_secs(10));
    assert_eq!(settled.unwrap(), name(leader));
}

/// How many messages of elections an event costs until `leader` is followed by all, and how long
/// that takes.
fn cost(
    world: &mut World<Bully>,
    leader: usize,
    event: impl FnOnce(&mut World<Bully>),
) -> (u64, Duration) {
    let (sent, began) = (world.trace().checkpoint(), world.now());
    event(world);
    settles(world, leader);
    let sent = world.trace().election_messages_since(sent);
    (sent, world.now().since(began))
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap()
}

#[test]
fn a_cold_start_of_a_closed_group_is_one_announcement() {
    for n in SIZES {
        let mut world = world(1, n, CLOSED);
        settles(&mut world, n);
        let sent = world.trace().election_messages_since(Checkpoint::default());
        assert_eq!(sent, count(n - 1), "{}", world.trace().to_text());
        assert_eq!(world.now().since(Time::ZERO), D);
        assert_eq!(world.trace().count_of("elected").sent, sent);
    }
}

/// A question, an answer and an announcement for each other.
#[test]
fn a_cold_start_across_hosts_is_a_question_to_all() {
    for n in SIZES {
        for detection in [OPEN, SILENT] {
            let mut world = world(1, n, detection);
            settles(&mut world, n);
            for kind in ["elect", "yield", "elected"] {
                let sent = world.trace().count_of(kind).sent;
                assert_eq!(sent, count(n - 1), "{kind}, {n} agents");
            }
            let sent = world.trace().election_messages_since(Checkpoint::default());
            assert_eq!(sent, count(3 * (n - 1)));
            assert_eq!(world.now().since(Time::ZERO), D * 3);
        }
    }
}

/// The next in rank asks no agent. One message is for the dead: the simulator counts what is sent.
#[test]
fn a_crash_that_is_told_is_one_announcement() {
    for n in SIZES {
        for detection in [CLOSED, OPEN] {
            let mut world = led(1, n, detection);
            let before = world.dropped();
            let crash = |world: &mut World<Bully>| assert!(world.crash(name(n)));
            let (sent, took) = cost(&mut world, n - 1, crash);
            assert_eq!(sent, count(n - 1), "{}", world.trace().to_text());
            assert_eq!(took, D);
            assert_ne!(world.dropped(), before, "what was sent to {n}");
        }
    }
}

/// The same number where only silence tells: a step between two in line is longer than the jitter
/// and a delay, so the first announces itself before the slot of the second.
#[test]
fn a_crash_that_no_agent_is_told_of_costs_no_more() {
    let timings = BullyConfig::default().timings;
    let Detector {
        heartbeat,
        detection,
    } = detector();
    assert!(timings.step() > timings.jitter() + D);
    for n in SIZES {
        for seed in 0..20 {
            let mut world = led(seed, n, SILENT);
            let crash = |world: &mut World<Bully>| assert!(world.crash(name(n)));
            let (sent, took) = cost(&mut world, n - 1, crash);
            assert_eq!(sent, count(n - 1), "{n} agents, seed {seed}");
            // A heartbeat may have left just before the end, or an interval before it.
            let soonest = detection.saturating_sub(heartbeat) + D;
            let longest = detection + timings.jitter() + D * 2;
            assert!((soonest..=longest).contains(&took), "{took:?}");
        }
    }
}

/// It asks the leader alone, which gives way; then it tells all.
#[test]
fn a_recovery_asks_the_leader_alone() {
    for n in SIZES {
        let mut world = led(1, n, CLOSED);
        world.crash(name(n));
        settles(&mut world, n - 1);
        let restart = |world: &mut World<Bully>| assert!(world.restart(name(n)));
        let (sent, took) = cost(&mut world, n, restart);
        assert_eq!(sent, count(n + 1), "{}", world.trace().to_text());
        assert_eq!(took, D * 3);
    }
}

/// Each heartbeat tells every other one, and nothing else is said.
#[test]
fn a_leader_costs_n_minus_1_messages_per_heartbeat_interval() {
    let interval = detector().heartbeat;
    for n in SIZES {
        for detection in [CLOSED, OPEN, SILENT] {
            let mut world = led(1, n, detection);
            for _ in 0..20 {
                *world.trace_mut() = Trace::new().with_repeated();
                world.run_for(interval);
                assert_eq!(world.trace().count_of("heartbeat").sent, count(n - 1));
                assert_eq!(world.trace().kinds().count(), 1, "nothing else is said");
                let leader = name(n);
                let others = |entry: &&TraceEntry| matches!(&entry.what, What::Sent { message, .. } if message.from != leader);
                assert_eq!(world.trace().entries().filter(others).count(), 0);
            }
        }
    }
}

/// The score of the leader "n" falls from n to 0.
fn fall(world: &mut World<Bully>, n: usize, next: usize) -> (u64, Duration) {
    follow(world, n, next, |world| {
        world.set_score(name(n), Some(0.into()))
    })
}

/// The leader "n" hands over to "1", the last.
fn hand_over_to_the_last(world: &mut World<Bully>, n: usize, next: usize) -> (u64, Duration) {
    follow(world, n, next, |world| {
        world.step_down(name(n), Some(name(1)))
    })
}

/// How many messages of elections follow a command within two seconds, and how long it takes until all of `n` agents
/// follow `next`.
fn follow(
    world: &mut World<Bully>,
    n: usize,
    next: usize,
    command: impl FnOnce(&mut World<Bully>) -> bool,
) -> (u64, Duration) {
    let (sent, began) = (world.trace().checkpoint(), world.now());
    assert!(command(world));
    let next = name(next);
    let agreed = |w: &World<Bully>| w.agreed().is_some_and(|leader| leader.id == next);
    let is_led = world.run_until(agreed, Duration::from_secs(1));
    assert!(is_led, "{n} agents\n{}", world.trace().to_text());
    let took = world.now().since(began);
    world.run_for(Duration::from_secs(1));
    assert_eq!(world.believers(), [next]);
    (world.trace().election_messages_since(sent), took)
}

/// The news, a question of the best, the answer, and an announcement for each other: the others wait for their turn.
#[test]
fn a_leader_whose_score_falls_to_the_last_place_is_asked_by_the_best_alone() {
    for n in SIZES.chain([10, 20]) {
        for detection in [CLOSED, OPEN, SILENT] {
            let (sent, took) = fall(&mut led(1, n, detection), n, n - 1);
            println!("{n} agents: {sent} messages");
            assert_eq!(sent, count(n + 1), "{n} agents");
            assert_eq!(took, D * 4);
        }
    }
}

/// The best is dead, and no agent knows that: the next in rank asks one step and a jitter later.
#[test]
fn a_leader_whose_score_falls_is_asked_by_the_next_if_the_best_is_dead() {
    let timings = BullyConfig::default().timings;
    for n in [5, 10, 20] {
        for seed in 0..20 {
            let mut world = led(seed, n, SILENT);
            world.crash(name(n - 1));
            let (sent, took) = fall(&mut world, n, n - 2);
            assert_eq!(sent, count(n + 1), "{n} agents, seed {seed}");
            let soonest = D * 4 + timings.step();
            assert!(
                (soonest..=soonest + timings.jitter()).contains(&took),
                "{took:?}"
            );
        }
    }
}

/// No agent above has asked yet: no election begins.
#[test]
fn a_leader_whose_score_rises_again_before_the_first_turn_leads_on() {
    for n in [5, 10, 20] {
        let mut world = led(1, n, SILENT);
        world.crash(name(n - 1));
        let sent = world.trace().checkpoint();
        for score in [0, count(n)] {
            let score = i64::try_from(score).unwrap();
            assert!(world.set_score(name(n), Some(score.into())));
            world.run_for(Duration::from_millis(60));
        }
        world.run_for(Duration::from_secs(1));
        assert_eq!(world.believers(), [name(n)]);
        assert_eq!(world.trace().election_messages_since(sent), 0);
    }
}

/// Three messages for each other: the end, what the successor says, and what the best says. The best asks in the slot
/// that it has since the end, so the successor leads for a step.
#[test]
fn a_successor_in_the_last_place_is_asked_by_the_best_alone() {
    let timings = BullyConfig::default().timings;
    for n in (3..=9).chain([10, 20]) {
        for detection in [CLOSED, OPEN, SILENT] {
            let mut world = led(1, n, detection);
            let (sent, took) = hand_over_to_the_last(&mut world, n, n - 1);
            println!("{n} agents: {sent} messages in {took:?}");
            assert_eq!(sent, count(3 * n - 1), "{n} agents");
            let soonest = D * 4 + timings.step();
            assert!((soonest..=soonest + timings.jitter()).contains(&took));
            let reign = world.events(name(1)).iter().rev().take(3);
            let mut at = reign
                .filter(|(_, event)| matches!(event, Event::Acquired { .. } | Event::Lost { .. }));
            let (lost, acquired) = (at.next().unwrap().0, at.next().unwrap().0);
            assert_eq!(lost.since(acquired) + D * 3, took, "for how long it led");
        }
    }
}

/// The best is dead, and no agent knows that: the next in rank asks one step later.
#[test]
fn a_successor_in_the_last_place_is_asked_by_the_next_if_the_best_is_dead() {
    let timings = BullyConfig::default().timings;
    for n in [5, 10, 20] {
        for seed in 0..20 {
            let mut world = led(seed, n, SILENT);
            world.crash(name(n - 1));
            let (sent, took) = hand_over_to_the_last(&mut world, n, n - 2);
            assert_eq!(sent, count(3 * n - 1), "{n} agents, seed {seed}");
            let soonest = D * 4 + timings.step() * 2;
            assert!((soonest..=soonest + timings.jitter()).contains(&took));
        }
    }
}

/// The others hear nothing of the successor: the best leads in its slot.
#[test]
fn a_successor_that_is_dead_costs_a_step() {
    let timings = BullyConfig::default().timings;
    for n in [5, 10, 20] {
        let mut world = led(1, n, SILENT);
        world.crash(name(1));
        let (sent, took) = hand_over_to_the_last(&mut world, n, n - 1);
        assert_eq!(sent, count(2 * (n - 1)), "{n} agents");
        let soonest = D * 2 + timings.step();
        assert!((soonest..=soonest + timings.jitter()).contains(&took));
    }
}

/// All but the leader rise above it at one moment, before they know of each other: the first that asks leads for a
/// moment, the best asks all, and the others wait.
#[test]
fn scores_that_rise_together_cost_six_messages_for_each_agent() {
    for n in [5, 10, 20] {
        for detection in [CLOSED, OPEN, SILENT] {
            let mut world = led(1, n, detection);
            let rise = |world: &mut World<Bully>| {
                for number in 1..n {
                    let score = i64::try_from(n + number).unwrap();
                    assert!(world.set_score(name(number), Some(score.into())));
                }
            };
            let (sent, took) = cost(&mut world, n - 1, rise);
            println!("{n} agents: {sent} messages in {took:?}");
            assert_eq!((sent, took), (count(6 * n - 8), D * 5), "{n} agents");
        }
    }
}

/// All but the lowest begin again at one moment, while it leads.
#[test]
fn agents_that_return_together_cost_six_messages_for_each_agent() {
    for n in [5, 10, 20] {
        for detection in [CLOSED, OPEN, SILENT] {
            let mut world = led(1, n, detection);
            for number in 2..=n {
                assert!(world.crash(name(number)));
            }
            settles(&mut world, 1);
            let again = |world: &mut World<Bully>| {
                for number in 2..=n {
                    assert!(world.restart(name(number)));
                }
            };
            let (sent, took) = cost(&mut world, n, again);
            println!("{n} agents: {sent} messages in {took:?}");
            assert_eq!((sent, took), (count(6 * n - 8), D * 5), "{n} agents");
        }
    }
}
