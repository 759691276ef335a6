//! Rings for the tests, with assertions about them.

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::ring::{Ring, RingConfig},
    protocol::{AgentId, Event, Score, Term},
    testkit::faults::Conditions,
};
use bully_sim::{
    sim::{Detection, Participant, Reaction, Trap, World, WorldBuilder},
    trace::{Trace, What},
};

pub(crate) const MS: fn(u64) -> Duration = Duration::from_millis;
/// The bound d on delays in the default timings.
pub(crate) const D: Duration = Duration::from_millis(40);

pub(crate) fn id(name: &str) -> AgentId {
    name.parse().unwrap()
}

/// Returns the names of `n` members, in the order of the ring.
pub(crate) fn names(n: usize) -> Vec<AgentId> {
    let name = |name: char| name.to_string().parse().unwrap();
    ('a'..='z').take(n).map(name).collect()
}

/// Returns the default rules without jitter, so that the formulas are exact.
pub(crate) fn config() -> RingConfig {
    let timings = actix_bully::protocol::Timings::default().to_builder();
    let timings = timings.jitter(Duration::ZERO).build().unwrap();
    RingConfig::new(timings)
}

pub(crate) fn voter(name: &AgentId, score: i32, config: &RingConfig) -> Participant<Ring> {
    let score = Some(Score::from(score));
    Participant::voter(name.clone(), score, Arc::new(config.clone()))
}

/// Returns the builder of a ring whose members have these scores, in order. Only silence shows a crash.
pub(crate) fn builder(seed: u64, scores: &[i32], config: &RingConfig) -> WorldBuilder<Ring> {
    let names = names(scores.len());
    let agents = names.iter().zip(scores);
    let delays = Conditions::builder().delay(MS(1)..=D).build().unwrap();
    World::builder(seed)
        .agents(agents.map(|(name, score)| voter(name, *score, config)))
        .conditions(delays)
        .detection(Detection::Silent(Duration::ZERO.into()))
        .trace(Trace::new().with_repeated())
}

pub(crate) fn ring(seed: u64, n: i32) -> World<Ring> {
    let scores: Vec<i32> = (1..=n).collect();
    builder(seed, &scores, &config()).build()
}

/// Returns a ring of `n` members in which one member leads.
pub(crate) fn led(seed: u64, n: i32) -> World<Ring> {
    let mut world = ring(seed, n);
    settles(&mut world);
    world
}

/// Plays a scenario with each of eight seeds.
pub(crate) fn seeds(scenario: impl FnMut(u64)) {
    (1..=8).for_each(scenario);
}

/// Waits until only one member considers itself leader and all members follow it. Returns the leader.
#[track_caller]
pub(crate) fn settles(world: &mut World<Ring>) -> AgentId {
    let leader = world.settle(Duration::from_secs(60));
    leader.unwrap_or_else(|wrong| panic!("{wrong}\n{}", world.trace().to_text()))
}

/// Returns the number of trace entries so far.
pub(crate) fn mark(world: &World<Ring>) -> usize {
    world.trace().entries().len()
}

/// Waits until `name` leads in a term above `term` and all members follow it. Returns the time that passed.
#[track_caller]
pub(crate) fn comes_to_lead_above(
    world: &mut World<Ring>,
    term: Term,
    name: &str,
    limit: Duration,
) -> Duration {
    let before = world.now();
    let agreed = |w: &World<Ring>| {
        let leader = w.agreed().filter(|_| w.is_calm());
        leader.is_some_and(|l| l.id == name && l.term > term)
    };
    let in_time = world.run_until(agreed, limit);
    assert!(in_time, "{name}: {}", world.trace().to_text());
    world.now().since(before)
}

/// Returns the members that acquired a leadership since the trace entry `since`.
pub(crate) fn acquired(world: &World<Ring>, since: usize) -> Vec<String> {
    let entries = world.trace().entries().skip(since);
    let named = entries.filter_map(|entry| match &entry.what {
        What::Event {
            agent,
            event: Event::Acquired { .. },
        } => Some(agent.to_string()),
        _ => None,
    });
    named.collect()
}

/// Returns the number of messages of this kind that were sent so far.
pub(crate) fn sent(world: &World<Ring>, kind: &str) -> u64 {
    world.trace().count_of(kind).sent
}

/// Makes a member crash when it sends a message of this kind, after `spared` earlier messages of this kind.
pub(crate) fn dies_of(world: &mut World<Ring>, name: &str, kind: &'static str, spared: u32) {
    let (by, then) = (Some(id(name)), Reaction::Crash);
    world.arm(&Trap {
        by,
        kind,
        spared,
        then,
    });
}
