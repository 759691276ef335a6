//! The program: a group, a bridge that joins it to other hosts, and an agent.

#[cfg(feature = "tls")]
use std::path::Path;
use std::{
    error::Error,
    future::pending,
    pin::pin,
    sync::{Arc, mpsc},
    time::Duration,
};

#[cfg(feature = "secret")]
use actix_bully::remote::secret::Secret;
#[cfg(feature = "sentinel")]
use actix_bully::remote::sentinel::Sentinel;
#[cfg(feature = "tls")]
use actix_bully::remote::tls::TlsConfig;
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, ElectionArbiter},
    clock::BootClock,
    elections::{bully::Preemption, quorum::Vote},
    protocol::Leader,
    remote::{BridgeBuilder, BridgeEvent, BridgeHandle, Peer, RemoteBridge},
    store::FileStore,
    supervisor::RestartPolicy,
};
use futures::{
    Stream, StreamExt,
    future::{Either, join, select, select_all},
};
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    args::Args,
    commands::obey,
    screen::{Happening, Screen},
    store::Votes,
    work::work,
};

/// Longest time for an agent to hand over and leave, and for a bridge to say goodbye.
const LEAVING: Duration = Duration::from_secs(5);

pub(crate) async fn run(
    args: &Args,
    #[cfg(feature = "sentinel")] sentinel: Option<Sentinel>,
) -> Result<(), Box<dyn Error>> {
    let screen = Screen::new(BootClock::new()?, &args.name, args.json);
    let group = Group::new("node")?;
    // On a thread of its own the timers of a lease are not late when another task is busy. The bridge runs there as
    // well: a heartbeat that changes threads wakes each of them.
    let elections = ElectionArbiter::new()?;
    let votes = Votes::of(args)?;
    let started = start(
        args,
        votes.as_ref().map(Votes::store),
        (&group, &elections),
        &screen,
        #[cfg(feature = "sentinel")]
        sentinel,
    );
    if started.is_err()
        && let Some(votes) = votes
    {
        votes.give_up();
    }
    let (bridge, agent) = started?;
    let events = bridge.events();
    let listen = bridge.local_addr().map(|at| at.to_string());
    screen.say(&Happening::Ready { listen });

    let links = pin!(async {
        tell_links(events, &screen).await;
        pending::<()>().await; // an agent goes on without its bridge
    });
    let agents = pin!(join(
        tell_leaders(&agent, &screen),
        work(&agent, &screen, args.pulse()),
    ));
    // Both futures end when the agent has ended for good. Without this, the bridge would continue without the agent.
    let told = pin!(select(agents, links));
    let asked = pin!(asked_to_stop(args, &agent, &bridge, &screen));
    let Either::Right(((), told)) = select(told, asked).await else {
        screen.say(&Happening::Ended);
        bridge.drain(LEAVING).await.ok(); // the others need not wait for its silence
        return Err("the agent has ended for good: its last log line gives the reason".into());
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

/// Starts the bridge and the agent.
fn start(
    args: &Args,
    store: Option<Arc<FileStore<Vote>>>,
    (group, elections): (&Group, &ElectionArbiter),
    screen: &Screen,
    #[cfg(feature = "sentinel")] sentinel: Option<Sentinel>,
) -> Result<(BridgeHandle, BullyHandle), Box<dyn Error>> {
    let (tell, told) = mpsc::channel();
    let start = {
        let (args, group, store) = (args.clone(), group.clone(), store.clone());
        move || -> Result<BridgeHandle, Failure> {
            let mut bridge = bridge(&args, &group)?;
            // The numbers of the node's incarnations grow, even if the wall clock is set back.
            if let Some(store) = store {
                bridge = bridge.remember_in(store);
            }
            #[cfg(feature = "sentinel")]
            let bridge = bridge.sentinel(sentinel);
            Ok(bridge.start()?)
        }
    };
    // Start the bridge first: it numbers the agents' incarnations.
    elections
        .handle()
        .spawn_fn(move || drop(tell.send(start())));
    let bridge = told.recv()?.map_err(|wrong| -> Box<dyn Error> { wrong })?;
    let agent = agent(args, store, group, elections, screen)?;
    Ok((bridge, agent))
}

/// An error that another thread may send.
type Failure = Box<dyn Error + Send + Sync>;

fn bridge(args: &Args, group: &Group) -> Result<BridgeBuilder, Failure> {
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
    #[cfg(feature = "secret")]
    if let Some(file) = &args.secret_file {
        bridge = bridge.secret(Secret::read_file(file)?);
    }
    if args.dangerous_plaintext {
        bridge = bridge.dangerous_plaintext();
    }
    Ok(bridge)
}

#[cfg(feature = "tls")]
fn certificates(folder: &Path, name: &str) -> Result<TlsConfig, Failure> {
    let config = TlsConfig::builder()
        .authorities_file(folder.join("ca.pem"))
        .certificate_file(folder.join(format!("{name}.pem")))
        .key_file(folder.join(format!("{name}.key")))
        .build()?;
    Ok(config)
}

fn agent(
    args: &Args,
    store: Option<Arc<FileStore<Vote>>>,
    group: &Group,
    elections: &ElectionArbiter,
    screen: &Screen,
) -> Result<BullyHandle, Box<dyn Error>> {
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
    if !args.quorum.is_empty() {
        agent = agent.quorum(&args.quorum);
        if args.learner {
            agent = agent.learner();
        }
    }
    if args.diskless {
        agent = agent.diskless();
        if let Some(worst_case_start) = agent.worst_case_start() {
            screen.say(&Happening::Begins { worst_case_start });
        }
    }
    if let Some(after) = args.preempt_after {
        let after = Duration::from_millis(after);
        agent = agent.preemption(Preemption::After(after));
    }
    if let Some(store) = store {
        agent = agent.store(store);
    }
    Ok(agent.join(group).start_in_arbiter(&elections.handle())?)
}

async fn tell_leaders(agent: &BullyHandle, screen: &Screen) {
    let mut changes = agent.changes();
    let mut known: Option<Leader> = None;
    let mut listed = None;
    while let Some(status) = changes.next().await {
        // A change of the voters always changes the leader too, so this line is never late.
        let voters = agent.voters();
        if let Some(voters) = voters.clone().filter(|_| voters != listed) {
            screen.say(&Happening::Voters(voters));
        }
        listed = voters;
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
    reason = "which peer was refused, and why, is for an operator that asks"
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
                Some(address) => format!("{node} was never seen: no node answers at {address}"),
                None => format!("{node} was never seen: it has to dial"),
            },
            BridgeEvent::Restarted => String::from("the bridge has restarted"),
            refused => format!("{refused:?}"),
        };
        screen.say(&Happening::Bridge { what });
    }
}

/// Waits for a signal or a command that asks for the end.
async fn asked_to_stop(args: &Args, agent: &BullyHandle, bridge: &BridgeHandle, screen: &Screen) {
    let signals = [SignalKind::terminate(), SignalKind::interrupt()];
    let signals = signals.into_iter().filter_map(|kind| signal(kind).ok());
    let mut signals: Vec<_> = signals.collect();
    let signalled = select_all(signals.iter_mut().map(|one| Box::pin(one.recv())));
    if args.commands {
        select(signalled, pin!(obey(agent, bridge, screen))).await;
    } else {
        signalled.await;
    }
}
