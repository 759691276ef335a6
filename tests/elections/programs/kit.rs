//! Worlds of five nodes, `0` to `4`, by the program as written and by this crate's rules, and assertions for both.

use std::{fmt::Debug, sync::Arc, time::Duration};

use actix_bully::{
    protocol::{AgentId, Leader, Term},
    testkit::faults::Conditions,
};
use bully_core::{
    elections::bully::{Bully, BullyConfig},
    protocol::{After, Election},
};
use bully_sim::{
    sim::{Detection, Participant, Reaction, TermOrder, Trap, World},
    trace::Trace,
};

use crate::programs::go::{Node, NodeState, Optimizations};

pub(crate) const MS: fn(u64) -> Duration = Duration::from_millis;
pub(crate) const SECONDS: fn(u64) -> Duration = Duration::from_secs;

/// Delay of every message.
pub(crate) const DELAY: Duration = Duration::from_millis(10);

/// Detection by silence alone: no node gets a report of a crash.
pub(crate) const SILENT: Detection = Detection::Silent(After {
    min: Duration::ZERO,
    max: Duration::ZERO,
});

/// Detection by an oracle: every node sees at once whether another node is alive, as the program reads `IsAlive` of its
/// peers.
pub(crate) const ORACLE: Detection = Detection::Certain(After {
    min: Duration::ZERO,
    max: Duration::ZERO,
});

fn world<E: Election>(config: &E::Config, detection: Detection) -> World<E> {
    let nodes = ["0", "1", "2", "3", "4"].into_iter().zip(0_i32..);
    World::builder(1)
        .agents(nodes.map(|(name, score)| {
            let id = name.parse().unwrap();
            Participant::voter(id, Some(score.into()), config.clone())
        }))
        .conditions(Conditions::delayed(DELAY))
        .detection(detection)
        .term_order(TermOrder::Any)
        .trace(Trace::new().with_repeated())
        .build()
}

/// Returns the nodes of the program as written.
pub(crate) fn as_written(detection: Detection) -> World<Node> {
    world(&Optimizations::default(), detection)
}

/// Returns the nodes of the program with the document's second optimization.
pub(crate) fn suppressing() -> World<Node> {
    world(&Optimizations { suppression: true }, SILENT)
}

/// Returns nodes by this crate's default rules and timings, without an oracle.
pub(crate) fn ours() -> World<Bully> {
    world(&Arc::new(BullyConfig::default()), SILENT)
}

/// Returns the nodes that consider themselves leader, with their terms.
pub(crate) fn leaders<E: Election>(world: &World<E>) -> Vec<(&str, u64)> {
    let beliefs = world.beliefs();
    beliefs.map(|(id, term)| (id.as_str(), term.0)).collect()
}

/// Returns the leader that each running node follows, in the order of the nodes; `-` stands for none.
pub(crate) fn followed(world: &World<Bully>) -> Vec<String> {
    let name = |leader: Option<Leader>| leader.map_or_else(|| "-".to_owned(), |l| l.id.to_string());
    world.views().map(|(_, view)| name(view.leader)).collect()
}

/// Returns `CurrentLeader` of each running node, in the order of the nodes.
pub(crate) fn current_leaders(world: &World<Node>) -> Vec<&str> {
    running(world).map(Node::current_leader).collect()
}

pub(crate) fn terms(world: &World<Node>) -> Vec<u64> {
    running(world).map(Node::term).collect()
}

pub(crate) fn states(world: &World<Node>) -> Vec<NodeState> {
    running(world).map(Node::state).collect()
}

fn running(world: &World<Node>) -> impl Iterator<Item = &Node> {
    world.agents().filter_map(|id| world.machine(id))
}

/// Returns the result of `GetLeader`: the first leader that it finds.
pub(crate) fn get_leader(world: &World<Node>) -> Option<&str> {
    let leads = |id: &&AgentId| {
        let node = world.machine(id);
        node.is_some_and(|node| node.state() == NodeState::Leader)
    };
    world.agents().find(leads).map(AgentId::as_str)
}

/// Asserts that only node `name` leads, in this term, and that all running nodes follow it.
#[track_caller]
pub(crate) fn all_follow(world: &World<Bully>, name: &str, term: u64) {
    let agreed = world.agreed();
    let text = || world.trace().to_text();
    let agreed = agreed.unwrap_or_else(|| unreachable!("{:?}\n{}", followed(world), text()));
    assert_eq!((agreed.id.as_str(), agreed.term), (name, Term(term)));
    assert_sound(world);
}

#[track_caller]
pub(crate) fn assert_sound<E: Election>(world: &World<E>) {
    assert_eq!(world.violation().map(ToString::to_string), None);
}

/// Makes a node crash when it has sent its `n`th message of this kind.
#[track_caller]
pub(crate) fn dies_of<E: Election>(world: &mut World<E>, name: &str, kind: &'static str, n: u32) {
    let trap = Trap {
        by: Some(name.parse().unwrap()),
        kind,
        spared: n - 1,
        then: Reaction::Crash,
    };
    assert!(world.arm(&trap));
}

/// Runs the world until `holds`, and returns the time that passed.
#[track_caller]
pub(crate) fn until<E: Election + Debug>(
    world: &mut World<E>,
    limit: Duration,
    holds: impl FnMut(&World<E>) -> bool,
) -> Duration {
    let before = world.now();
    assert!(world.run_until(holds, limit), "{}", world.trace().to_text());
    world.now().since(before)
}
