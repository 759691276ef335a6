//! Two hosts in one process, each with a group and two agents. Bridges over loopback link them.

use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    operate::Operated,
    remote::{BridgeHandle, Peer, RemoteBridge},
};

/// A host: its bridge and its agents.
#[derive(Debug)]
pub struct Host {
    name: &'static str,
    /// The bridge to the other host.
    pub bridge: BridgeHandle,
    /// The agents of the host.
    pub agents: Vec<BullyHandle>,
}

impl Host {
    /// Starts a host without a link. Its agents have these names and scores.
    pub fn start(name: &'static str, agents: [(&str, i32); 2]) -> Self {
        Self::start_as(name, agents, |group, name, score| {
            let agent = BullyAgent::builder(name).score(score).join(group);
            agent.start().expect("an agent")
        })
    }

    /// Starts a host as [`start`](Self::start) does, with agents that `start` returns for a group, a name and a
    /// score.
    pub fn start_as(
        name: &'static str,
        agents: [(&str, i32); 2],
        start: impl Fn(&Group, &str, i32) -> BullyHandle,
    ) -> Self {
        let group = Group::new("orders").expect("a group");
        let bridge = RemoteBridge::builder(name)
            .listen("127.0.0.1:0")
            .carry(&group);
        let bridge = bridge.start().expect("a bridge");
        let agents = agents.map(|(name, score)| start(&group, name, score));
        Self {
            name,
            bridge,
            agents: agents.into(),
        }
    }

    /// Makes each host a peer of the other.
    pub fn link(&self, other: &Self) {
        let peer = |host: &Self| {
            let address = host.bridge.local_addr().expect("an address");
            Peer::new(host.name, &address.to_string())
        };
        self.bridge.add_peer(peer(other)).expect("a peer");
        other.bridge.add_peer(peer(self)).expect("a peer");
    }

    /// Returns the host's bridge and agents as an operator sees them.
    pub fn operated(&self) -> Operated {
        let mut agents = self.agents.iter();
        let first = agents.next().expect("it has two");
        let first = Operated::new(first).bridge(&self.bridge);
        agents.fold(first, Operated::agent)
    }
}
