//! Hosts on a network in memory, each with its own group and bridge, in one actix `System`.

use std::{future::Future, path::Path, sync::Arc, time::Duration};

use actix::clock::{sleep, timeout};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, Finding, StartError},
    elections::quorum::QuorumConfig,
    protocol::{AgentId, Timings},
    remote::{
        BridgeBuilder, BridgeEvent, BridgeHandle, LinkStatus, NodeId, NodeIncarnation, Peer,
        RemoteBridge, transport::Pipes,
    },
    store::{FileStore, StoreIdentity},
    supervisor::RestartPolicy,
    testkit::{Inject, VirtualClock},
};
use futures::{FutureExt, StreamExt};

pub(crate) const MS: fn(u64) -> Duration = Duration::from_millis;

/// Plays a scene in virtual time. A scene that never ends fails the test.
pub(crate) fn play(scene: impl Future<Output = ()>) {
    super::common::virtual_system().block_on(async {
        timeout(Duration::from_secs(3_600), scene).await.unwrap();
    });
}

/// Plays a scene with a network and a folder of its own.
pub(crate) fn scene(scene: impl AsyncFnOnce(&Pipes, &Path)) {
    let (pipes, folder) = (Pipes::new(), tempfile::tempdir().unwrap());
    play(scene(&pipes, folder.path()));
}

/// One process: a group, a bridge, and agents.
pub(crate) struct Host {
    pub(crate) group: Group,
    pub(crate) bridge: BridgeHandle,
    pub(crate) agents: Vec<BullyHandle>,
}

/// Returns the bridge of the node `name` with these peers. The bridge is not started.
pub(crate) fn builder(pipes: &Pipes, name: &str, peers: &[&str]) -> BridgeBuilder {
    let builder = RemoteBridge::builder(name)
        .cluster("test")
        .transport(pipes.host(name))
        .listen(&address(name))
        .incarnation(NodeIncarnation(1_000))
        .restart_policy(patient())
        .seed(7);
    let peer = |name: &&str| Peer::new(name, &address(name));
    peers.iter().map(peer).fold(builder, BridgeBuilder::peer)
}

/// Returns the bridge of a later process of the node `name`, on another host. In the same way a pod may start while
/// the previous pod still runs.
pub(crate) fn elsewhere(pipes: &Pipes, name: &str, peers: &[&str]) -> BridgeBuilder {
    let bridge = builder(pipes, name, peers).transport(pipes.host("elsewhere"));
    let bridge = bridge.listen(&address("elsewhere"));
    bridge.incarnation(NodeIncarnation(2_000))
}

/// Returns a policy under which a bridge may crash any number of times.
pub(crate) fn patient() -> RestartPolicy {
    let policy = RestartPolicy::builder().max_restarts(100);
    policy.backoff_max(MS(200)).build().unwrap()
}

pub(crate) fn address(name: &str) -> String {
    format!("{name}:1")
}

pub(crate) fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

pub(crate) fn node(name: &str) -> NodeId {
    NodeId::new(name).unwrap()
}

/// Returns the names of the other hosts among `a`, `b` and `c`.
pub(crate) fn others(name: &str) -> Vec<&'static str> {
    ["a", "b", "c"].into_iter().filter(|n| *n != name).collect()
}

pub(crate) fn identity(name: &str) -> StoreIdentity {
    StoreIdentity {
        cluster: id("test"),
        group: id("g"),
        node: id(name),
    }
}

pub(crate) fn group() -> Group {
    Group::new("g").unwrap()
}

impl Host {
    pub(crate) fn start(pipes: &Pipes, name: &str, peers: &[&str]) -> Self {
        Self::with(|group| builder(pipes, name, peers).carry(group))
    }

    pub(crate) fn with(bridge: impl FnOnce(&Group) -> BridgeBuilder) -> Self {
        let group = group();
        let bridge = bridge(&group).start().unwrap();
        Self {
            group,
            bridge,
            agents: Vec::new(),
        }
    }

    /// Starts a host with one voter, whose name is the host's name and 1. The score rises with the alphabet.
    pub(crate) fn of_voter(bridge: BridgeBuilder, folder: &Path, config: QuorumConfig) -> Self {
        let mut host = Self::with(|group| bridge.carry(group));
        let name = format!("{}1", host.bridge.node());
        let score = name.bytes().next().map_or(0, i32::from);
        host.voter(&name, score, folder, config);
        host
    }

    pub(crate) fn agent(&mut self, name: &str, score: i32) -> BullyHandle {
        let agent = BullyAgent::builder(name)
            .score(score)
            .timings(Timings::lan())
            .restart_policy(patient())
            .join(&self.group)
            .start()
            .unwrap();
        self.agents.push(agent.clone());
        agent
    }

    /// Starts a voter with its record in this folder, if the folder has one.
    pub(crate) fn voter(
        &mut self,
        name: &str,
        score: i32,
        folder: &Path,
        config: QuorumConfig,
    ) -> BullyHandle {
        self.try_voter(name, score, folder, config).unwrap()
    }

    /// Starts a voter if the group accepts it.
    pub(crate) fn try_voter(
        &mut self,
        name: &str,
        score: i32,
        folder: &Path,
        config: QuorumConfig,
    ) -> Result<BullyHandle, StartError> {
        let path = folder.join(name);
        let identity = identity(name);
        let opened = if path.exists() {
            FileStore::open(&path, identity)
        } else {
            FileStore::create(&path, identity)
        };
        let agent = BullyAgent::builder(name)
            .quorum_config(Arc::new(config))
            .restart_policy(patient())
            .score(score)
            .clock(VirtualClock::new())
            .store(opened.unwrap())
            .join(&self.group)
            .start()?;
        self.agents.push(agent.clone());
        Ok(agent)
    }

    /// Whether the diagnosis of the first agent has such a finding.
    pub(crate) fn finds(&self, is_it: impl Fn(&Finding) -> bool) -> bool {
        self.agents[0].diagnosis().findings.iter().any(is_it)
    }

    #[track_caller]
    pub(crate) fn assert_finds(&self, is_it: impl Fn(&Finding) -> bool) {
        assert!(self.finds(is_it), "{}", self.agents[0].diagnosis());
    }

    #[track_caller]
    pub(crate) fn assert_finds_no(&self, is_it: impl Fn(&Finding) -> bool) {
        assert!(!self.finds(is_it), "{}", self.agents[0].diagnosis());
    }

    /// Whether all agents of this host follow this leader.
    pub(crate) fn follows(&self, leader: &str) -> bool {
        let leads = |agent: &BullyHandle| agent.leader().is_some_and(|l| l.id.as_str() == leader);
        self.agents.iter().all(leads)
    }

    /// Ends the host like a kill: its bridge closes all links, and its agents send nothing more.
    pub(crate) async fn stop(mut self) {
        self.bridge.stop();
        for agent in self.agents.drain(..) {
            agent.addr().do_send(Inject::Stop);
        }
        sleep(MS(1)).await;
    }

    pub(crate) fn is_linked(&self, peer: &str) -> bool {
        let peers = self.bridge.peers();
        let linked = |link: &LinkStatus| matches!(link, LinkStatus::Linked { .. });
        peers
            .iter()
            .any(|p| p.node.as_str() == peer && linked(&p.link))
    }
}

/// Starts the hosts `a` and `b`, which dial each other. `set` changes their bridges.
pub(crate) fn pair(pipes: &Pipes, set: impl Fn(BridgeBuilder) -> BridgeBuilder) -> [Host; 2] {
    [("a", "b"), ("b", "a")].map(|(name, peer)| {
        let bridge = |group: &Group| set(builder(pipes, name, &[peer])).carry(group);
        Host::with(bridge)
    })
}

/// Waits until all agents of these hosts follow this leader.
pub(crate) async fn all_follow(hosts: &[&Host], leader: &str) {
    let all = || hosts.iter().all(|host| host.follows(leader));
    until(&format!("all follow {leader}"), all).await;
}

pub(crate) async fn are_linked(a: &Host, b: &Host) {
    let knows = |one: &Host, other: &Host| one.is_linked(other.bridge.node().as_str());
    until("they are linked", || knows(a, b) && knows(b, a)).await;
}

/// Waits until `holds` returns true.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..100_000 {
        if holds() {
            return;
        }
        sleep(MS(1)).await;
    }
    assert!(holds(), "never: {what}");
}

/// Returns the events so far.
pub(crate) fn told(
    events: &mut (impl futures::Stream<Item = BridgeEvent> + Unpin),
) -> Vec<BridgeEvent> {
    std::iter::from_fn(|| events.next().now_or_never().flatten()).collect()
}
