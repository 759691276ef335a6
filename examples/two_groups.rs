//! Several elections over one bridge: of three hosts, one leads the schedulers and another one the mailers.
//!
//! ```text
//! $ cargo run --example two_groups
//! ```
//!
//! Expected output: `examples/expected/two_groups.txt`. A host's bridge carries both groups over one connection to each
//! peer; the leader of one group has no influence on the other group. When a host ends, the groups that it led elect
//! again.
//!
//! The hosts are in one process here, and connect over loopback; `examples/node` is one process per host. Two leaders
//! are possible under a partition; `.quorum(..)` prevents this.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::{error::Error, time::Duration};

use actix::clock::sleep;
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    remote::{BridgeHandle, Peer, RemoteBridge},
};

/// The name of each host, and its scores among the schedulers and among the mailers.
const HOSTS: [(&str, i32, i32); 3] = [("a", 10, 30), ("b", 20, 20), ("c", 30, 10)];

struct Host {
    name: &'static str,
    bridge: BridgeHandle,
    scheduler: BullyHandle,
    mailer: BullyHandle,
}

#[actix_rt::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut hosts = Vec::new();
    for (name, scheduling, mailing) in HOSTS {
        hosts.push(Host::start(name, scheduling, mailing, &hosts)?);
    }
    println!("three hosts, two groups, one connection between each two hosts");
    show(&hosts).await?;

    let c = hosts.pop().ok_or("no host")?;
    println!("\n{} leaves", c.name);
    c.leave().await?;
    show(&hosts).await
}

impl Host {
    /// Starts a host, and links it with the earlier hosts.
    fn start(
        name: &'static str,
        scheduling: i32,
        mailing: i32,
        others: &[Self],
    ) -> Result<Self, Box<dyn Error>> {
        let schedulers = Group::new("schedulers")?;
        let mailers = Group::new("mailers")?;
        let bridge = RemoteBridge::builder(name)
            .listen("127.0.0.1:0")
            .carry(&schedulers)
            .carry(&mailers)
            .start()?;
        let address = |bridge: &BridgeHandle| bridge.local_addr().map(|at| at.to_string());
        let here = address(&bridge).ok_or("no address")?;
        for other in others {
            let there = address(&other.bridge).ok_or("no address")?;
            bridge.add_peer(Peer::new(other.name, &there))?;
            other.bridge.add_peer(Peer::new(name, &here))?;
        }
        let agent =
            |group: &Group, score: i32| BullyAgent::builder(name).score(score).join(group).start();
        Ok(Self {
            name,
            bridge,
            scheduler: agent(&schedulers, scheduling)?,
            mailer: agent(&mailers, mailing)?,
        })
    }

    /// Hands over its leaderships, then leaves.
    async fn leave(self) -> Result<(), Box<dyn Error>> {
        let limit = Duration::from_secs(5);
        self.scheduler.leave(limit).await?;
        self.mailer.leave(limit).await?;
        self.bridge.drain(limit).await?;
        Ok(())
    }
}

/// Waits until the hosts agree in both groups, and returns the leaders.
async fn show(hosts: &[Host]) -> Result<(), Box<dyn Error>> {
    let scheduler = agreed(hosts, |host| &host.scheduler).await?;
    let mailer = agreed(hosts, |host| &host.mailer).await?;
    println!("  schedulers: {scheduler} leads");
    println!("  mailers:    {mailer} leads");
    Ok(())
}

async fn agreed(
    hosts: &[Host],
    agent: impl Fn(&Host) -> &BullyHandle,
) -> Result<String, Box<dyn Error>> {
    for _ in 0..1_000 {
        let leaders = hosts.iter().map(|host| agent(host).leader().map(|l| l.id));
        let leaders: Vec<_> = leaders.collect();
        let highest = hosts.iter().find(|host| agent(host).is_leader());
        if let Some(leader) = highest {
            let all = leaders
                .iter()
                .flatten()
                .filter(|id| *id == agent(leader).id());
            if all.count() == hosts.len() && leaders.len() == hosts.len() && settled(hosts) {
                return Ok(leader.name.to_owned());
            }
        }
        sleep(Duration::from_millis(10)).await;
    }
    Err("no agreement within ten seconds".into())
}

/// Returns whether every host is linked to all the others.
fn settled(hosts: &[Host]) -> bool {
    let linked = |host: &Host| {
        let peers = host.bridge.peers();
        peers.iter().filter(|peer| peer.agents > 0).count() + 1 >= hosts.len()
    };
    hosts.iter().all(linked)
}
