//! What the bully election costs where nothing goes wrong but what is asked: the exact number of messages, and of delays,
//! for groups of two to nine; where a leader ranks below the others, of up to 20. Then the plain ASTRA rules.
//!
//! Every message takes the delay D, so a time is a number of messages that led to each other. Not here: large groups
//! (`tests/cluster/scale.rs`).
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::{ops::RangeInclusive, sync::Arc, time::Duration};

use actix_bully::{
    protocol::{AgentId, Time, Timings},
    testkit::faults::Conditions,
};
use bully_core::{
    elections::{
        astra::{Astra, AstraConfig},
        bully::{Bully, BullyConfig},
    },
    protocol::{After, Election},
};
use bully_sim::{
    sim::{Detection, Participant, TermOrder, World},
    trace::{Checkpoint, Trace, TraceEntry, What},
};

const D: Duration = Duration::from_millis(7);
const SIZES: &[usize] = &[2, 3, 4, 5, 6, 7, 8, 9];
const LARGE: &[usize] = &[5, 10, 20];
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
fn world<E: Election>(seed: u64, n: usize, told: Detection, config: &E::Config) -> World<E> {
    let agent = |number: usize| {
        let score = i64::try_from(number).unwrap().into();
        Participant::voter(name(number), Some(score), config.clone())
    };
    World::builder(seed)
        .agents((1..=n).map(agent))
        .conditions(Conditions::delayed(D))
        .detection(told)
        .term_order(TermOrder::Any)
        .trace(Trace::new().with_repeated())
        .build()
}

fn bullies(seed: u64, n: usize, told: Detection) -> World<Bully> {
    world(seed, n, told, &Arc::default())
}

/// The same, once "n" leads.
fn led(seed: u64, n: usize, told: Detection) -> World<Bully> {
    let mut world = bullies(seed, n, told);
    settles(&mut world, n);
    world
}

fn name(number: usize) -> AgentId {
    AgentId::new(&number.to_string()).unwrap()
}

fn timings() -> Timings {
    BullyConfig::default().timings
}

fn settles<E: Election>(world: &mut World<E>, leader: usize) {
    let settled = world.settle(Duration::from_secs(10));
    assert_eq!(settled.unwrap(), name(leader));
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap()
}

/// How many messages of elections follow a command, until all follow `next` and for two seconds more, and how long it
/// takes until all follow.
fn cost(
    world: &mut World<Bully>,
    next: usize,
    command: impl FnOnce(&mut World<Bully>),
) -> (u64, Duration) {
    let (sent, began) = (world.trace().checkpoint(), world.now());
    command(world);
    let next = name(next);
    let agreed =
        |w: &World<Bully>| w.is_calm() && w.agreed().is_some_and(|leader| leader.id == next);
    let is_led = world.run_until(agreed, Duration::from_secs(10));
    assert!(is_led, "{}", world.trace().to_text());
    let took = world.now().since(began);
    world.run_for(Duration::from_secs(2));
    assert_eq!(world.believers(), [next]);
    (world.trace().election_messages_since(sent), took)
}

fn score(world: &mut World<Bully>, number: usize, score: usize) {
    let score = i64::try_from(score).unwrap();
    assert!(world.set_score(name(number), Some(score.into())));
}

fn crash(world: &mut World<Bully>, number: usize) {
    assert!(world.crash(name(number)));
}

fn hand_over_to_the_last(world: &mut World<Bully>, n: usize) {
    assert!(world.step_down(name(n), Some(name(1))));
}

/// What is done to a group that "n" leads, and what it costs.
struct Row {
    what: &'static str,
    sizes: &'static [usize],
    told: &'static [Detection],
    /// Where only silence tells, a random part of a wait shows.
    seeds: u64,
    before: fn(&mut World<Bully>, usize),
    command: fn(&mut World<Bully>, usize),
    next: fn(usize) -> usize,
    messages: fn(usize) -> usize,
    took: fn() -> RangeInclusive<Duration>,
}

/// So many delays, exactly.
fn delays(count: u32) -> RangeInclusive<Duration> {
    D * count..=D * count
}

/// So many delays, and so many steps in line.
fn slots(count: u32, steps: u32) -> RangeInclusive<Duration> {
    let soonest = D * count + timings().step() * steps;
    soonest..=soonest + timings().jitter()
}

const USUAL: Row = Row {
    what: "",
    sizes: LARGE,
    told: &[CLOSED, OPEN, SILENT],
    seeds: 1,
    before: |_, _| (),
    command: |_, _| (),
    next: |n| n - 1,
    messages: |_| 0,
    took: || delays(0),
};

const ROWS: [Row; 10] = [
    // The next in rank asks no agent. One message is for the dead: the simulator counts what is sent.
    Row {
        what: "a crash that is told is one announcement",
        sizes: SIZES,
        told: &[CLOSED, OPEN],
        command: crash,
        messages: |n| n - 1,
        took: || delays(1),
        ..USUAL
    },
    // A step between two in line is longer than the jitter and a delay, so the first announces itself before the slot of
    // the second. A heartbeat may have left just before the end, or an interval before it.
    Row {
        what: "a crash that no agent is told of costs no more",
        sizes: SIZES,
        told: &[SILENT],
        seeds: 20,
        command: crash,
        messages: |n| n - 1,
        took: || {
            let found = timings().detector().unwrap();
            found.detection.saturating_sub(found.heartbeat) + D
                ..=found.detection + timings().jitter() + D * 2
        },
        ..USUAL
    },
    // It asks the leader alone, which gives way; then it tells all.
    Row {
        what: "a recovery asks the leader alone",
        sizes: SIZES,
        told: &[CLOSED],
        before: |world, n| {
            crash(world, n);
            settles(world, n - 1);
        },
        command: |world, n| assert!(world.restart(name(n))),
        next: |n| n,
        messages: |n| n + 1,
        took: || delays(3),
        ..USUAL
    },
    // The news, a question of the best, the answer, and an announcement for each other: the others wait for their turn.
    Row {
        what: "a leader whose score falls to the last place is asked by the best alone",
        sizes: &[2, 3, 4, 5, 6, 7, 8, 9, 10, 20],
        command: |world, n| score(world, n, 0),
        messages: |n| n + 1,
        took: || delays(4),
        ..USUAL
    },
    // No agent knows that the best is dead: the next in rank asks one step and a jitter later.
    Row {
        what: "a leader whose score falls is asked by the next if the best is dead",
        told: &[SILENT],
        seeds: 20,
        before: |world, n| crash(world, n - 1),
        command: |world, n| score(world, n, 0),
        next: |n| n - 2,
        messages: |n| n + 1,
        took: || slots(4, 1),
        ..USUAL
    },
    // Three messages for each other: the end, what the successor says, and what the best says. The best asks in the slot
    // that it has since the end, so the successor leads for a step.
    Row {
        what: "a successor in the last place is asked by the best alone",
        sizes: &[3, 4, 5, 6, 7, 8, 9, 10, 20],
        command: hand_over_to_the_last,
        messages: |n| 3 * n - 1,
        took: || slots(4, 1),
        ..USUAL
    },
    Row {
        what: "a successor in the last place is asked by the next if the best is dead",
        told: &[SILENT],
        seeds: 20,
        before: |world, n| crash(world, n - 1),
        command: hand_over_to_the_last,
        next: |n| n - 2,
        messages: |n| 3 * n - 1,
        took: || slots(4, 2),
        ..USUAL
    },
    // The others hear nothing of the successor: the best leads in its slot.
    Row {
        what: "a successor that is dead costs a step",
        told: &[SILENT],
        before: |world, _| crash(world, 1),
        command: hand_over_to_the_last,
        messages: |n| 2 * (n - 1),
        took: || slots(2, 1),
        ..USUAL
    },
    // All but the leader rise above it at one moment, before they know of each other: the first that asks leads for a
    // moment, the best asks all, and the others wait.
    Row {
        what: "scores that rise together cost six messages for each agent",
        command: |world, n| (1..n).for_each(|number| score(world, number, n + number)),
        messages: |n| 6 * n - 8,
        took: || delays(5),
        ..USUAL
    },
    Row {
        what: "agents that return together while the lowest leads cost six messages for each agent",
        before: |world, n| {
            (2..=n).for_each(|number| crash(world, number));
            settles(world, 1);
        },
        command: |world, n| (2..=n).for_each(|number| assert!(world.restart(name(number)))),
        next: |n| n,
        messages: |n| 6 * n - 8,
        took: || delays(5),
        ..USUAL
    },
];

#[test]
fn each_event_costs_exactly_so_many_messages_and_delays() {
    for row in &ROWS {
        for (n, told) in row
            .sizes
            .iter()
            .flat_map(|n| row.told.iter().map(|told| (*n, *told)))
        {
            for seed in 1..=row.seeds {
                let mut world = led(seed, n, told);
                (row.before)(&mut world, n);
                let (sent, took) = cost(&mut world, (row.next)(n), |world| (row.command)(world, n));
                let case = format!("{}: {n} agents, {told:?}, seed {seed}", row.what);
                assert_eq!(sent, count((row.messages)(n)), "{case}");
                assert!((row.took)().contains(&took), "{case}: {took:?}");
            }
        }
    }
}

/// In a closed group one announcement; across hosts a question, an answer and an announcement for each other.
#[test]
fn a_cold_start_is_one_announcement_or_a_question_to_all() {
    for (told, kinds) in [
        (CLOSED, &["elected"][..]),
        (OPEN, &["elect", "yield", "elected"]),
        (SILENT, &["elect", "yield", "elected"]),
    ] {
        for n in SIZES.iter().copied() {
            let mut world = bullies(1, n, told);
            settles(&mut world, n);
            for kind in kinds {
                let sent = world.trace().count_of(kind).sent;
                assert_eq!(sent, count(n - 1), "{kind}, {n} agents");
            }
            let sent = world.trace().election_messages_since(Checkpoint::default());
            assert_eq!(
                sent,
                count(kinds.len() * (n - 1)),
                "{}",
                world.trace().to_text()
            );
            assert_eq!(
                world.now().since(Time::ZERO),
                D * u32::try_from(kinds.len()).unwrap()
            );
        }
    }
}

/// Scenarios 5 and 6: the lowest begins, or the highest.
#[test]
fn the_plain_astra_rules_take_one_and_a_half_n_n_minus_1_messages_from_the_lowest_and_2_n_minus_1_from_the_highest()
 {
    let config = Arc::<AstraConfig>::default();
    for n in SIZES.iter().copied() {
        for (starter, messages, delays) in [(1, 3 * n * (n - 1) / 2, 2), (n, 2 * (n - 1), 1)] {
            let mut world = world::<Astra>(1, n, CLOSED, &config);
            world.run_for(Duration::ZERO);
            world.campaign(name(starter));
            settles(&mut world, n);
            let sent = world.trace().election_messages_since(Checkpoint::default());
            assert_eq!(sent, count(messages), "{n} agents, {starter} begins");
            let took = world.now().since(Time::ZERO);
            assert_eq!(
                took,
                config.timings.deadline() + D * delays,
                "{n} agents, {starter} begins"
            );
        }
    }
}

/// Each heartbeat tells every other one, and nothing else is said.
#[test]
fn a_leader_costs_n_minus_1_messages_per_heartbeat_interval() {
    let interval = timings().detector().unwrap().heartbeat;
    for n in SIZES.iter().copied() {
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

/// No agent above has asked yet: no election begins.
#[test]
fn a_leader_whose_score_rises_again_before_the_first_turn_leads_on() {
    for n in LARGE.iter().copied() {
        let mut world = led(1, n, SILENT);
        world.crash(name(n - 1));
        let sent = world.trace().checkpoint();
        for now in [0, n] {
            score(&mut world, n, now);
            world.run_for(Duration::from_millis(60));
        }
        world.run_for(Duration::from_secs(1));
        assert_eq!(world.believers(), [name(n)]);
        assert_eq!(world.trace().election_messages_since(sent), 0);
    }
}
