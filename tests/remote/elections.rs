//! Elections of each promise cross the bridge. Three hosts elect a leader, lose it, and elect the next leader. A fourth
//! host observes, and for a while the leader's host is not its peer. `src/remote/wire/tests` has the messages of every
//! election.

use std::{fmt::Debug, path::Path, sync::Arc};

use actix::clock::sleep;
use actix_bully::{
    agent::{Agent, AgentBuilder, BullyAgent, ElectionHandle},
    elections::{
        ballot::{Ballot, BallotConfig},
        ring::{Ring, RingConfig},
    },
    group::Group,
    remote::{Peer, RemoteMessage, transport::Pipes},
    store::FileStore,
    testkit::{Inject, VirtualClock},
};
use bully_core::protocol::Election;
use serde::{Serialize, de::DeserializeOwned};

use super::{
    kit::{MS, address, builder, id, identity, node, until},
    warnings::{PER_SIDE, TWO_LEADERS, assert_warns, warnings},
};

const NAMES: [&str; 3] = ["a", "b", "c"];

/// Name of the observer.
const EYE: &str = "eye";

/// Elects a leader across hosts with one agent each, whose ranks rise with the alphabet. Each host must warn once of
/// two leaders, for the reason `why`.
fn elect_across<E>(why: &str, agent: impl Fn(&str) -> AgentBuilder<E>)
where
    E: Election<Message: RemoteMessage>,
{
    let said = warnings(TWO_LEADERS, elected(agent));
    assert_warns(&said, NAMES.len() + 1, why);
}

async fn elected<E>(agent: impl Fn(&str) -> AgentBuilder<E>)
where
    E: Election<Message: RemoteMessage>,
{
    let pipes = Pipes::new();
    let mut hosts = Vec::new();
    for (name, score) in NAMES.into_iter().chain([EYE]).zip(1..) {
        let group = Group::new("g").unwrap();
        let peers = NAMES.into_iter().chain([EYE]);
        let peers: Vec<&str> = peers.filter(|peer| *peer != name).collect();
        let bridge = builder(&pipes, name, &peers).carry(&group).start().unwrap();
        let agent = match name {
            EYE => agent(name).observer(),
            _ => agent(name).score(score),
        };
        let agent = agent.join(&group).start().unwrap();
        hosts.push((bridge, agent));
    }
    let first = agreed(&hosts).await;
    if let Some((bridge, eye)) = hosts.last() {
        assert!(bridge.remove_peer(&node(&first)));
        until("an agent of no peer is not followed", || {
            eye.leader().is_none()
        })
        .await;
        bridge
            .add_peer(Peer::new(&first, &address(&first)))
            .unwrap();
    }
    assert_eq!(agreed(&hosts).await, first, "the same incarnation leads on");
    let at = NAMES.into_iter().position(|name| name == first).unwrap();
    let (bridge, lost) = hosts.remove(at);
    bridge.stop();
    lost.addr().do_send(Inject::Stop);
    sleep(MS(1)).await;
    let next = agreed(&hosts).await;
    assert_ne!(first, next);
    for (bridge, _) in &hosts {
        let counters = bridge.counters();
        for name in ["unknown_targets", "from_not_allowed", "protocol"] {
            assert_eq!(counters.get(name), Some(0));
        }
    }
}

/// Waits until all agents follow one leader. Returns the leader.
async fn agreed<B, E: Election>(hosts: &[(B, ElectionHandle<E>)]) -> String {
    let mut leader = String::new();
    until("all follow one that leads", || {
        let follows = |agent: &ElectionHandle<E>| Some(agent.leader()?.id.to_string());
        let mut all = hosts.iter().map(|(_, agent)| follows(agent));
        let Some(Some(first)) = all.next() else {
            return false;
        };
        let leads = |agent: &ElectionHandle<E>| agent.is_leader() && *agent.id() == id(&first);
        let agreed = all.all(|other| other.as_ref() == Some(&first))
            && hosts.iter().any(|(_, agent)| leads(agent));
        leader = first;
        agreed
    })
    .await;
    leader
}

pub(crate) fn store<D>(folder: &Path, name: &str) -> FileStore<D>
where
    D: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + 'static,
{
    FileStore::create(folder.join(name), identity(name)).unwrap()
}

#[test]
fn bullies_elect_across_three_hosts() {
    elect_across(PER_SIDE, BullyAgent::builder);
}

#[test]
fn a_quorum_elects_across_three_hosts_without_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let voters = |name: &str| {
        let agent = BullyAgent::builder(name).quorum(NAMES);
        match name {
            EYE => agent,
            _ => agent.store(store(folder.path(), name)),
        }
    };
    let said = warnings(
        TWO_LEADERS,
        elected(|name| voters(name).clock(VirtualClock::new())),
    );
    assert_eq!(said, [""; 0]);
}

#[test]
fn a_ring_goes_round_three_hosts() {
    let rules = Arc::new(RingConfig::default());
    elect_across::<Ring>(PER_SIDE, |name| {
        Agent::with_config(name, Arc::clone(&rules))
    });
}

/// A minority has no leader in the end. Until then it may have a leader, and no bound on that time is promised.
#[test]
fn ballots_are_gossiped_among_three_hosts() {
    let folder = tempfile::tempdir().unwrap();
    let rules = Arc::new(BallotConfig::new(NAMES.map(id)));
    elect_across::<Ballot>("two of its agents may lead at once", |name| {
        let agent = Agent::with_config(name, Arc::clone(&rules));
        agent.store(store(folder.path(), name))
    });
}
