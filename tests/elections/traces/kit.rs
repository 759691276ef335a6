//! Worlds of agents `a`, `b`, … for the stories, and the golden texts of the stories.

use std::time::Duration;

use actix_bully::{
    protocol::{AgentId, Score},
    testkit::faults::Conditions,
};
use bully_core::protocol::Election;
use bully_sim::{
    sim::{Detection, Participant, World, WorldBuilder},
    trace::Trace,
};

use crate::support;

pub(crate) const DELAY: Duration = Duration::from_millis(5);

/// Returns the builder of a world of agents `a`, `b`, … with these scores. As in the seed, only silence shows a crash.
pub(crate) fn builder<E: Election>(
    seed: u64,
    scores: &[i32],
    config: &E::Config,
) -> WorldBuilder<E> {
    let agents = ('a'..).zip(scores).map(|(name, score)| {
        let id: AgentId = name.to_string().parse().unwrap();
        Participant::voter(id, Some(Score::from(*score)), config.clone())
    });
    World::builder(seed)
        .agents(agents)
        .conditions(Conditions::delayed(DELAY))
        .detection(Detection::Silent(Duration::ZERO.into()))
}

/// Returns a world of agents that have started, with a trace.
pub(crate) fn world<E: Election>(scores: &[i32], config: &E::Config) -> World<E> {
    let mut world = builder(1, scores, config).trace(Trace::new()).build();
    world.run_for(Duration::ZERO);
    world
}

/// A story that any machine can play.
pub(crate) type Story<E> = fn(&mut World<E>);

pub(crate) fn with_beliefs<E: Election>(world: &World<E>) -> String {
    let leaders = world.views().map(|(id, view)| {
        let leader = view
            .leader
            .map_or_else(|| "no leader".to_owned(), |l| l.id.to_string());
        format!("{id} follows {leader}\n")
    });
    world.trace().to_text() + &leaders.collect::<String>()
}

pub(crate) fn golden(name: &str, text: &str) {
    support::golden::golden(&format!("tests/elections/traces/{name}.txt"), text);
}

pub(crate) fn seconds<E: Election>(world: &mut World<E>, n: u64) {
    world.run_for(Duration::from_secs(n));
}
