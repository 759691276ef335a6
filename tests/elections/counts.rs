//! Counts the messages and the delays that one event costs the bully election, in groups of 2 to 20 agents. No message
//! is lost, and no agent fails except by the event. One test counts the plain ASTRA rules.
//!
//! Every message takes the same delay `D`. A duration is therefore a number of messages in a chain, in which each
//! message causes the next one. `tests/cluster/scale.rs` counts large groups.
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
/// Detection in one process: all agents exist from the beginning, and a crash is confirmed.
const CLOSED: Detection = Detection::Certain(AT_ONCE);
/// Detection across hosts: more agents may join, and a crash is only suspected.
const OPEN: Detection = Detection::Suspect(AT_ONCE);
/// Detection across hosts whose connections do not report a crash.
const SILENT: Detection = Detection::Silent(AT_ONCE);

/// Returns a world of agents "1" to "n" that start at time 0. The score of an agent is its number.
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

/// Returns a world of bully agents that agent "n" leads.
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

/// Runs `command`, waits until all agents follow `next`, and lets two more seconds pass. Returns the number of election
/// messages in all this time, and the time until all agents followed `next`.
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

/// An event in a group that agent "n" leads, and the cost of the event.
struct Row {
    what: &'static str,
    sizes: &'static [usize],
    told: &'static [Detection],
    /// Number of seeds. Several seeds are necessary where only silence shows a crash, because the wait then has a
    /// random part.
    seeds: u64,
    before: fn(&mut World<Bully>, usize),
    command: fn(&mut World<Bully>, usize),
    next: fn(usize) -> usize,
    messages: fn(usize) -> usize,
    took: fn() -> RangeInclusive<Duration>,
}

/// Returns the range that contains only `count` delays.
fn delays(count: u32) -> RangeInclusive<Duration> {
    D * count..=D * count
}

/// Returns the range of `count` delays and `steps` steps of the rank-staggered delay, plus up to one jitter.
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
    // The next agent in rank announces itself without a question. One announcement goes to the dead leader, because the
    // simulator counts every message that is sent.
    Row {
        what: "a crash that is told is one announcement",
        sizes: SIZES,
        told: &[CLOSED, OPEN],
        command: crash,
        messages: |n| n - 1,
        took: || delays(1),
        ..USUAL
    },
    // A step of the rank-staggered delay is longer than the jitter and a delay, so the first agent announces itself
    // before the slot of the second agent. The last heartbeat left just before the crash, or up to one interval before
    // it.
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
    // The agent that returns asks only the leader. The leader gives way, and then the agent announces itself to all.
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
    // The leader sends its new score, the best agent asks the leader, the leader answers, and the best agent announces
    // itself to every other agent. Meanwhile, the other agents wait for their slots.
    Row {
        what: "a leader whose score falls to the last place is asked by the best alone",
        sizes: &[2, 3, 4, 5, 6, 7, 8, 9, 10, 20],
        command: |world, n| score(world, n, 0),
        messages: |n| n + 1,
        took: || delays(4),
        ..USUAL
    },
    // No agent knows that the best agent is dead. The next agent in rank asks one step and up to one jitter later.
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
    // Every other agent gets the end of the leadership, the announcement of the successor, and the announcement of the
    // best agent. The best agent also asks the successor, which answers. The slot of the best agent counts from the end
    // of the leadership, so the successor leads for one step.
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
    // The successor sends nothing, so the best agent leads in its slot.
    Row {
        what: "a successor that is dead costs a step",
        told: &[SILENT],
        before: |world, _| crash(world, 1),
        command: hand_over_to_the_last,
        messages: |n| 2 * (n - 1),
        took: || slots(2, 1),
        ..USUAL
    },
    // All agents except the leader get a higher score than the leader at the same instant, before they know each
    // other's scores. The first agent that asks leads for a moment. Then the best agent asks all agents, and the other
    // agents wait.
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

/// In a closed group, each other agent gets one announcement. Across hosts, each other agent gets a question, sends an
/// answer, and gets an announcement.
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

/// Scenarios 5 and 6: either the lowest agent or the highest agent begins the election.
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

/// The leader sends each heartbeat to every other agent, and no agent sends any other message.
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
