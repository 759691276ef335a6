//! The program: a group, a bridge that joins it to other hosts, and an agent.

use std::{error::Error, fs, path::Path, pin::pin, time::Duration};

#[cfg(feature = "tls")]
use actix_bully::remote::tls::TlsConfig;
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    clock::BootClock,
    elections::{policy::Preemption, quorum::Vote},
    protocol::Leader,
    remote::{BridgeEvent, BridgeHandle, Peer, RemoteBridge},
    store::{FileStore, StoreIdentity},
    supervisor::RestartPolicy,
};
use futures::{
    Stream, StreamExt,
    future::{Either, join3, select, select_all},
};
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    args::Args,
    commands::obey,
    screen::{Happening, Screen},
    work::work,
};

/// What an agent may take to hand over and leave, and a bridge to say goodbye.
const LEAVING: Duration = Duration::from_secs(5);

pub(crate) async fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let screen = Screen::new(BootClock::new()?, &args.name, args.json);
    let group = Group::new("node")?;
    // The bridge first: the agents' lives are numbered by it.
    let bridge = bridge(args, &group)?;
    let events = bridge.events();
    let agent = agent(args, &group)?;
    let listen = bridge.local_addr().map(|at| at.to_string());
    screen.say(&Happening::Ready { listen });

    let told = pin!(join3(
        tell_leaders(&agent, &screen),
        tell_links(events, &screen),
        work(&agent, &screen, args.pulse()),
    ));
    let asked = pin!(asked_to_stop(args, &agent, &screen));
    // All three end when the agent has ended for good.
    let Either::Right(((), told)) = select(told, asked).await else {
        return Err("the agent has ended".into());
    };
    screen.say(&Happening::Leaving);
    // The leader's work goes on until it is asked to end.
    let leaving = async {
        let left = agent.leave(LEAVING).await.is_ok();
        let drained = bridge.drain(LEAVING).await.is_ok();
        left && drained
    };
    let politely = match select(pin!(leaving), told).await {
        Either::Left((politely, _)) => politely,
        Either::Right((_, leaving)) => leaving.await,
    };
    screen.say(&Happening::Left { politely });
    Ok(())
}

fn bridge(args: &Args, group: &Group) -> Result<BridgeHandle, Box<dyn Error>> {
    let mut bridge = RemoteBridge::builder(&args.name)
        .cluster(&args.cluster)
        .listen(&args.listen)
        .carry(group);
    for (name, address) in &args.peers {
        bridge = bridge.peer(Peer::new(name, address));
    }
    #[cfg(feature = "tls")]
    if let Some(folder) = &args.tls {
        bridge = bridge.tls(certificates(folder, &args.name)?);
    }
    if args.dangerous_plaintext {
        bridge = bridge.dangerous_plaintext();
    }
    Ok(bridge.start()?)
}

#[cfg(feature = "tls")]
fn certificates(folder: &Path, name: &str) -> Result<TlsConfig, Box<dyn Error>> {
    let config = TlsConfig::builder()
        .authorities_file(folder.join("ca.pem"))
        .certificate_file(folder.join(format!("{name}.pem")))
        .key_file(folder.join(format!("{name}.key")))
        .build()?;
    Ok(config)
}

fn agent(args: &Args, group: &Group) -> Result<BullyHandle, Box<dyn Error>> {
    let mut policy = RestartPolicy::builder();
    if args.forgiving {
        let (hour, soon) = (Duration::from_secs(3_600), Duration::from_millis(100));
        policy = policy.max_restarts(1_000).window(hour).backoff_max(soon);
    }
    let mut agent = BullyAgent::builder(&args.name)
        .timings(args.timings.timings())
        .restart_policy(policy.build()?);
    agent = if args.witness {
        agent.ineligible()
    } else {
        agent.score(args.score)
    };
    if let Some(folder) = args.store.as_deref().filter(|_| !args.quorum.is_empty()) {
        agent = agent.quorum(&args.quorum).store(store(args, folder)?);
    }
    if let Some(after) = args.preempt_after {
        let after = Duration::from_millis(after);
        agent = agent.preemption(Preemption::After(after));
    }
    Ok(agent.join(group).start()?)
}

/// The file of this node's votes. Only `--init` creates one: a node that lost its file must not
/// vote as if it never had.
fn store(args: &Args, folder: &Path) -> Result<FileStore<Vote>, Box<dyn Error>> {
    let identity = StoreIdentity {
        cluster: args.cluster.parse()?,
        group: "node".parse()?,
        node: args.name.parse()?,
    };
    let file = folder.join(format!("{}.vote", args.name));
    if args.init {
        fs::create_dir_all(folder)?;
        return Ok(FileStore::create(file, identity)?);
    }
    Ok(FileStore::open(file, identity)?)
}

async fn tell_leaders(agent: &BullyHandle, screen: &Screen) {
    let mut changes = agent.changes();
    let mut known: Option<Leader> = None;
    while let Some(status) = changes.next().await {
        if status.leader == known {
            continue;
        }
        match &status.leader {
            Some(leader) => screen.say(&Happening::Leader(leader.clone())),
            None => screen.say(&Happening::NoLeader),
        }
        known = status.leader;
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "who was refused, and why, is for those who look into it"
)]
async fn tell_links(mut events: impl Stream<Item = BridgeEvent> + Unpin, screen: &Screen) {
    while let Some(event) = events.next().await {
        let what = match event {
            BridgeEvent::Listening { .. } => continue,
            BridgeEvent::PeerUp { node } => format!("{node} can be reached"),
            BridgeEvent::PeerRestarted { node } => format!("{node} has restarted"),
            BridgeEvent::PeerLost { node } => format!("{node} has ended, or so it seems"),
            BridgeEvent::PeerUnreachable { node } => format!("{node} cannot be reached"),
            BridgeEvent::NeverSeen { node, address } => match address {
                Some(address) => format!("{node} was never seen: nobody answers at {address}"),
                None => format!("{node} was never seen: it has to dial"),
            },
            BridgeEvent::Restarted => String::from("the bridge has restarted"),
            refused => format!("{refused:?}"),
        };
        screen.say(&Happening::Bridge { what });
    }
}

/// Ends when a signal or a command says so.
async fn asked_to_stop(args: &Args, agent: &BullyHandle, screen: &Screen) {
    let signals = [SignalKind::terminate(), SignalKind::interrupt()];
    let signals = signals.into_iter().filter_map(|kind| signal(kind).ok());
    let mut signals: Vec<_> = signals.collect();
    let signalled = select_all(signals.iter_mut().map(|one| Box::pin(one.recv())));
    if args.commands {
        select(signalled, pin!(obey(agent, screen))).await;
    } else {
        signalled.await;
    }
}
