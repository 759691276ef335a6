//! A process with one agent: `participant NAME bridge ..`, `participant NAME zenoh ..`, `participant NAME lease STORE`.
//!
//! It prints each leader that it learns of as a line of JSON, with the time of the clock that all processes of a host
//! share: `{"t":MICROSECONDS,"event":"leader","leader":NAME,"term":TERM}`. It ends when its standard input ends.
#![expect(clippy::print_stdout, reason = "a program prints its output")]

use std::{
    error::Error,
    io,
    path::PathBuf,
    process::exit,
    sync::{Arc, mpsc::channel},
    thread,
};

#[cfg(feature = "stores")]
use actix_bully::register::{EtcdRegister, PostgresRegister};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyBuilder, BullyHandle, ElectionArbiter},
    clock::{BootClock, Clock as _},
    elections::bully::Preemption,
    register::{FileRegister, Register},
    remote::{BridgeBuilder, Peer, RemoteBridge},
    store::{FileStore, StoreIdentity},
};
#[cfg(feature = "zenoh")]
use actix_bully_zenoh::{ZenohOptions, ZenohTransport};
use clap::{Parser, Subcommand};
use futures::StreamExt as _;
use serde_json::json;

/// A process that takes part in an election
#[derive(Debug, Parser)]
struct Args {
    /// Its name
    name: String,
    /// Its score; the highest leads
    #[arg(long, default_value_t = 0)]
    score: i32,
    #[command(subcommand)]
    way: Way,
}

/// The way in which the process knows of the others.
#[derive(Debug, Subcommand)]
enum Way {
    /// By links of the bridge to all of them: a quorum of the voters, all others observe
    Bridge {
        /// Address at which it listens
        listen: String,
        #[command(flatten)]
        quorum: Quorum,
        /// The others, NAME=ADDRESS
        #[arg(long = "peer")]
        peers: Vec<String>,
    },
    /// The same over a zenoh network
    #[cfg(feature = "zenoh")]
    Zenoh {
        /// Endpoint at which others connect to it; without, it is a client of a router
        #[arg(long)]
        listen: Option<String>,
        /// Endpoints that it connects to
        #[arg(long)]
        connect: Vec<String>,
        #[command(flatten)]
        quorum: Quorum,
        /// The names of the others
        #[arg(long = "peer")]
        peers: Vec<String>,
    },
    /// By a lease in a store: files:FOLDER, postgres:ADDRESS or etcd:ENDPOINT
    Lease {
        /// The store
        store: String,
    },
}

/// The voters; all others observe.
#[derive(clap::Args, Debug)]
struct Quorum {
    /// The names of the voters
    #[arg(long, value_delimiter = ',')]
    voters: Vec<String>,
    /// Path of its votes, if it is a voter
    #[arg(long)]
    store: PathBuf,
}

type Failure = Box<dyn Error + Send + Sync>;

#[actix::main]
async fn main() -> Result<(), Failure> {
    let args = Args::parse();
    let group = Group::new("scale")?;
    let elections = ElectionArbiter::new()?;
    let (clock, agent) = (BootClock::new()?, start(&args, &group, &elections)?);
    thread::spawn(|| {
        let ended = io::stdin().lines().last();
        drop(ended);
        exit(0);
    });
    let mut changes = agent.changes();
    let mut known = None;
    while let Some(status) = changes.next().await {
        if status.leader == known {
            continue;
        }
        let t = clock.now().as_nanos() / 1_000;
        if let Some(leader) = &status.leader {
            let (name, term) = (leader.id.to_string(), leader.term.0);
            println!(
                "{}",
                json!({"t": t, "event": "leader", "leader": name, "term": term})
            );
        }
        known = status.leader;
    }
    Ok(())
}

fn start(args: &Args, group: &Group, elections: &ElectionArbiter) -> Result<BullyHandle, Failure> {
    let agent = BullyAgent::builder(&args.name).score(args.score);
    let agent = match &args.way {
        Way::Bridge {
            listen,
            quorum,
            peers,
        } => {
            run(elections, group, links(&args.name, listen, peers)?)?;
            taking_part(agent, &args.name, quorum)?
        }
        #[cfg(feature = "zenoh")]
        Way::Zenoh {
            listen,
            connect,
            quorum,
            peers,
        } => {
            let zenoh = match listen {
                Some(listen) => ZenohOptions::peer().listen(listen),
                None => ZenohOptions::client(),
            };
            let connected = |zenoh: ZenohOptions, to: &String| zenoh.connect(to);
            let zenoh = connect.iter().fold(zenoh, connected);
            run(elections, group, over_zenoh(&args.name, zenoh, peers))?;
            taking_part(agent, &args.name, quorum)?
        }
        Way::Lease { store } => {
            let register: Arc<dyn Register> = match store.split_once(':') {
                Some(("files", folder)) => Arc::new(FileRegister::open(folder)?),
                #[cfg(feature = "stores")]
                Some(("postgres", address)) => {
                    Arc::new(PostgresRegister::builder(address).create_table().open()?)
                }
                #[cfg(feature = "stores")]
                Some(("etcd", endpoint)) => Arc::new(EtcdRegister::builder([endpoint]).open()?),
                _ => {
                    return Err("a store is files:FOLDER, postgres:ADDRESS or etcd:ENDPOINT".into());
                }
            };
            agent.lease(register)
        }
    };
    let agent = agent.preemption(Preemption::Never);
    Ok(agent.join(group).start_in_arbiter(&elections.handle())?)
}

/// Runs a bridge on the thread of the election: each additional thread would have to wake for a heartbeat.
fn run(
    elections: &ElectionArbiter,
    group: &Group,
    bridge: impl FnOnce(&Group) -> BridgeBuilder + Send + 'static,
) -> Result<(), Failure> {
    let (tell, told) = channel();
    let group = group.clone();
    elections
        .handle()
        .spawn_fn(move || drop(tell.send(bridge(&group).start().map(drop))));
    Ok(told.recv()??)
}

/// Makes the agent a voter, or an observer of the voters.
fn taking_part(agent: BullyBuilder, name: &str, quorum: &Quorum) -> Result<BullyBuilder, Failure> {
    let agent = agent.quorum(&quorum.voters);
    if !quorum.voters.iter().any(|voter| voter == name) {
        return Ok(agent.observer());
    }
    let file = quorum.store.join(format!("{name}.vote"));
    let identity = StoreIdentity {
        cluster: "scale".parse()?,
        group: "scale".parse()?,
        node: name.parse()?,
    };
    Ok(if file.exists() {
        agent.store(FileStore::open(file, identity)?)
    } else {
        agent.store(FileStore::create(file, identity)?)
    })
}

/// Returns a function that makes a bridge with links to the given peers, on the thread where the bridge shall run.
fn links(
    name: &str,
    listen: &str,
    peers: &[String],
) -> Result<impl FnOnce(&Group) -> BridgeBuilder + Send + use<>, Failure> {
    let named: Option<Vec<_>> = peers.iter().map(|peer| peer.split_once('=')).collect();
    let named = named.ok_or("a peer is NAME=ADDRESS")?;
    let peers: Vec<_> = named.iter().map(|(name, at)| Peer::new(name, at)).collect();
    let (name, listen) = (name.to_owned(), listen.to_owned());
    Ok(move |group: &Group| {
        let bridge = RemoteBridge::builder(&name)
            .cluster("scale")
            .listen(&listen)
            .dangerous_plaintext()
            .carry(group);
        peers.into_iter().fold(bridge, BridgeBuilder::peer)
    })
}

/// Returns a function that makes a bridge over zenoh.
#[cfg(feature = "zenoh")]
fn over_zenoh(
    name: &str,
    zenoh: ZenohOptions,
    peers: &[String],
) -> impl FnOnce(&Group) -> BridgeBuilder + Send + use<> {
    let (name, peers) = (name.to_owned(), peers.to_owned());
    move |group: &Group| {
        let bridge = RemoteBridge::builder(&name)
            .cluster("scale")
            .transport(ZenohTransport::new(zenoh))
            .dangerous_plaintext()
            .carry(group);
        let named = |bridge: BridgeBuilder, peer: &String| bridge.peer(Peer::inbound(peer));
        peers.iter().fold(bridge, named)
    }
}
