//! Two hosts in this process, each with a group of its own and two agents, linked by bridges over loopback.

use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    operate::Operated,
    remote::{BridgeHandle, Peer, RemoteBridge},
};

/// A host: its bridge, and its agents.
#[derive(Debug)]
pub struct Host {
    name: &'static str,
    /// Links it with the other one.
    pub bridge: BridgeHandle,
    /// Its agents.
    pub agents: Vec<BullyHandle>,
}

impl Host {
    /// A host that is linked with none; its agents have these names and scores.
    pub fn start(name: &'static str, agents: [(&str, i32); 2]) -> Self {
        Self::start_as(name, agents, |group, name, score| {
            let agent = BullyAgent::builder(name).score(score).join(group);
            agent.start().expect("an agent")
        })
    }

    /// The same with agents that are started so, each in that group under a name with a score.
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

    /// Lets both know each other.
    pub fn link(&self, other: &Self) {
        let peer = |host: &Self| {
            let address = host.bridge.local_addr().expect("an address");
            Peer::new(host.name, &address.to_string())
        };
        self.bridge.add_peer(peer(other)).expect("a peer");
        other.bridge.add_peer(peer(self)).expect("a peer");
    }

    /// What an operator sees of it.
    pub fn operated(&self) -> Operated {
        let mut agents = self.agents.iter();
        let first = agents.next().expect("it has two");
        let first = Operated::new(first).bridge(&self.bridge);
        agents.fold(first, Operated::agent)
    }
}
