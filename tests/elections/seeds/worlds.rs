//! The scenarios of elections whose members are looked into: in the simulator.

use std::{ops::Range, time::Duration};

use actix_bully::{
    protocol::{AgentId, Event, Score, Timings},
    testkit::faults::Conditions,
};
use bully_core::protocol::Election;
use bully_sim::{
    sim::{Detection, Participant, Reaction, TermOrder, Trap, World},
    trace::Trace,
};

pub(crate) const SECONDS: fn(u64) -> Duration = Duration::from_secs;

pub(crate) fn seeds() -> Range<u64> {
    0..10
}

/// The agents, their rules, and what the network does.
pub(crate) struct Setting<E: Election> {
    pub(crate) config: E::Config,
    pub(crate) scores: Vec<Option<i32>>,
    pub(crate) network: Conditions,
    /// How an end is known.
    pub(crate) detection: Detection,
    /// Whether a later leader never has a lower term.
    pub(crate) terms: TermOrder,
}

impl<E: Election> Setting<E> {
    /// Agents "a", "b" and so on, the last of the highest rank; every delay up to d. Only silence
    /// tells of an end.
    pub(crate) fn of(n: usize, config: E::Config, timings: &Timings) -> Self {
        let delay = Duration::ZERO..=timings.delay_bound();
        Self {
            config,
            scores: (1..=i32::try_from(n).unwrap()).map(Some).collect(),
            network: Conditions::builder().delay(delay).build().unwrap(),
            detection: Detection::Silent(Duration::ZERO.into()),
            terms: TermOrder::default(),
        }
    }

    pub(crate) fn world(&self, seed: u64) -> World<E> {
        let agents = ('a'..).zip(&self.scores).map(|(name, score)| {
            let id = name.to_string().parse().unwrap();
            Participant::voter(id, score.map(Score::from), self.config.clone())
        });
        World::builder(seed)
            .agents(agents)
            .conditions(self.network)
            .detection(self.detection)
            .term_order(self.terms)
            .trace(Trace::new().with_repeated())
            .build()
    }
}

/// `L(x)`: the only agent that considers itself leader, and the leader of all, within the limit.
#[track_caller]
pub(crate) fn leads_within<E: Election>(world: &mut World<E>, name: &str, limit: Duration) {
    let settled = world.settle(limit);
    let settled = settled.map_err(|wrong| format!("{wrong}\n{}", world.trace().to_text()));
    assert_eq!(
        world.violation().map(ToString::to_string),
        None,
        "{}",
        world.trace().to_text()
    );
    assert_eq!(settled.as_ref().map(AgentId::as_str), Ok(name));
    assert_eq!(world.believers(), [name]);
}

/// How often this one acquired the leadership.
pub(crate) fn acquired<E: Election>(world: &World<E>, name: &str) -> usize {
    let events = world.events(name).iter();
    events
        .filter(|(_, event)| matches!(event, Event::Acquired { .. }))
        .count()
}

/// The agent crashes when it sends the message of this kind that follows so many others.
pub(crate) fn dies_of<E: Election>(
    world: &mut World<E>,
    name: &str,
    kind: &'static str,
    spared: u32,
) {
    world.arm(&Trap {
        by: Some(name.parse().unwrap()),
        kind,
        spared,
        then: Reaction::Crash,
    });
}
