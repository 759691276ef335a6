//! Rings to do things to, and what is asked of them.

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
/// d of the default timings.
pub(crate) const D: Duration = Duration::from_millis(40);

pub(crate) fn id(name: &str) -> AgentId {
    name.parse().unwrap()
}

/// The names of a ring of `n`, in its order.
pub(crate) fn names(n: usize) -> Vec<AgentId> {
    let name = |name: char| name.to_string().parse().unwrap();
    ('a'..='z').take(n).map(name).collect()
}

/// The default rules, without the random part of any wait: formulas are exact then.
pub(crate) fn config() -> RingConfig {
    let timings = actix_bully::protocol::Timings::default().to_builder();
    let timings = timings.jitter(Duration::ZERO).build().unwrap();
    RingConfig::new(timings)
}

pub(crate) fn voter(name: &AgentId, score: i32, config: &RingConfig) -> Participant<Ring> {
    let score = Some(Score::from(score));
    Participant::voter(name.clone(), score, Arc::new(config.clone()))
}

/// A ring in which these have these scores, and no member is told anything: only silence tells.
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

/// The same, and one leads.
pub(crate) fn led(seed: u64, n: i32) -> World<Ring> {
    let mut world = ring(seed, n);
    settles(&mut world);
    world
}

/// Rings of five, by several seeds, in which `e` leads.
pub(crate) fn led_rings() -> impl Iterator<Item = World<Ring>> {
    (1..=8).map(|seed| led(seed, 5))
}

/// Several seeds.
pub(crate) fn seeds(scenario: impl FnMut(u64)) {
    (1..=8).for_each(scenario);
}

/// One alone considers itself leader, and all follow it.
#[track_caller]
pub(crate) fn settles(world: &mut World<Ring>) -> AgentId {
    let leader = world.settle(Duration::from_secs(60));
    leader.unwrap_or_else(|wrong| panic!("{wrong}\n{}", world.trace().to_text()))
}

/// Until this one leads and all agree.
#[track_caller]
pub(crate) fn comes_to_lead(world: &mut World<Ring>, name: &str, limit: Duration) -> Duration {
    let before = world.now();
    let agreed = |w: &World<Ring>| w.is_calm() && w.agreed().is_some_and(|l| l.id == name);
    let in_time = world.run_until(agreed, limit);
    assert!(in_time, "{name}: {}", world.trace().to_text());
    world.now().since(before)
}

/// The end of the record so far.
pub(crate) fn mark(world: &World<Ring>) -> usize {
    world.trace().entries().len()
}

/// Until this one leads in a higher term than before, and all agree.
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

/// The agents that acquired a leadership since then.
pub(crate) fn acquired(world: &World<Ring>, since: usize) -> Vec<String> {
    let told = |event: &Event| matches!(event, Event::Acquired { .. });
    events(world, since, told)
}

/// The agents that follow another leader since then; the same one in a higher term does not count.
pub(crate) fn events(
    world: &World<Ring>,
    since: usize,
    counts: impl Fn(&Event) -> bool,
) -> Vec<String> {
    let entries = world.trace().entries().skip(since);
    let named = entries.filter_map(|entry| match &entry.what {
        What::Event { agent, event } if counts(event) => Some(agent.to_string()),
        _ => None,
    });
    named.collect()
}

/// How many messages of this kind have been sent.
pub(crate) fn sent(world: &World<Ring>, kind: &str) -> u64 {
    world.trace().count_of(kind).sent
}

/// The agent crashes when it sends the message of this kind that follows so many others.
pub(crate) fn dies_of(world: &mut World<Ring>, name: &str, kind: &'static str, spared: u32) {
    let (by, then) = (Some(id(name)), Reaction::Crash);
    world.arm(&Trap {
        by,
        kind,
        spared,
        then,
    });
}
