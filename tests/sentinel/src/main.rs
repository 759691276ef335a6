//! A node with a sentinel: `sentinel-node NAME FOLDER PORT NAME=PORT..` on loopback, a voter whose vote is in the
//! folder.
//!
//! With `LEASE` the group has a lease of this number of seconds, in a register in the folder, and no voters. With
//! `REAPS` the node takes the ends of all its children from the kernel, that of the sentinel too.
//!
//! It prints `sentinel PROCESS`, and `leader NAME` for each change of the leader. For each line that it reads, it
//! prints the counters of its bridge and the number of links.
#![expect(
    clippy::print_stdout,
    reason = "the test that started it reads its output"
)]

use std::{
    env,
    error::Error,
    fs,
    io::{self, BufRead},
    path::Path,
    time::Duration,
};

use actix_bully::{
    Group,
    agent::{BullyAgent, BullyBuilder},
    elections::quorum::Vote,
    protocol::Timings,
    register::FileRegister,
    remote::{LinkStatus, Peer, PeerStatus, RemoteBridge, secret::Secret, sentinel::Sentinel},
    store::{FileStore, StoreIdentity},
};
use futures::StreamExt;

fn main() -> Result<(), Box<dyn Error>> {
    let sentinel = Sentinel::start()?;
    actix::System::new().block_on(run(sentinel))
}

async fn run(sentinel: Sentinel) -> Result<(), Box<dyn Error>> {
    if env::var_os("REAPS").is_some() {
        std::thread::spawn(reap);
    }
    println!("sentinel {}", sentinel.id());
    let mut arguments = env::args().skip(1);
    let mut next = || arguments.next().ok_or("an argument is missing");
    let (name, folder, port) = (next()?, next()?, next()?);
    let peers: Vec<_> = arguments
        .filter_map(|peer| {
            peer.split_once('=')
                .map(|(a, b)| (a.to_owned(), b.to_owned()))
        })
        .collect();
    let mut voters: Vec<_> = peers.iter().map(|(peer, _)| peer.clone()).collect();
    voters.push(name.clone());
    let group = Group::new("g")?;
    let mut bridge = RemoteBridge::builder(&name)
        .listen(&format!("127.0.0.1:{port}"))
        .secret(Secret::new([7; 32])?)
        .sentinel(sentinel)
        .carry(&group);
    for (peer, port) in &peers {
        bridge = bridge.peer(Peer::new(peer, &format!("127.0.0.1:{port}")));
    }
    let bridge = bridge.start()?;
    fs::create_dir_all(&folder)?;
    let agent = elected(&name, &folder, &voters)?;
    let agent = agent.join(&group).start()?;
    std::thread::spawn(move || {
        for _ in io::stdin().lock().lines().map_while(Result::ok) {
            let counts = bridge.counters();
            let counts: Vec<_> = counts.iter().filter(|(_, n)| *n > 0).collect();
            let peers = bridge.peers();
            let linked = |peer: &&PeerStatus| matches!(peer.link, LinkStatus::Linked { .. });
            let linked = peers.iter().filter(linked).count();
            println!("counts {counts:?} links {linked}");
        }
    });
    let mut changes = agent.changes();
    let mut last = None;
    while let Some(now) = changes.next().await {
        let leader = now.leader.map(|leader| leader.id);
        if leader != last {
            println!("leader {}", leader.as_ref().map_or("-", |id| id.as_str()));
            last = leader;
        }
    }
    Ok(())
}

/// Returns the agent of the election that the environment names.
fn elected(name: &str, folder: &str, voters: &[String]) -> Result<BullyBuilder, Box<dyn Error>> {
    let mut agent = BullyAgent::builder(name);
    if let Ok(lease) = env::var("LEASE") {
        let lease = Duration::from_secs(lease.parse()?);
        let timings = Timings::default().to_builder();
        // The interval of renewals that other users of stores have.
        let timings = timings.detector(lease / 8, lease);
        let timings = timings.lease(lease, lease * 2).build()?;
        let register = FileRegister::open(Path::new(folder).join("register"))?;
        agent = agent.timings(timings).lease(register);
    } else {
        let store = store(folder, name)?;
        agent = agent.timings(Timings::lan()).quorum(voters).store(store);
    }
    Ok(agent)
}

/// Takes the end of every child from the kernel, as programs do that are the first process of a container.
#[expect(
    clippy::disallowed_methods,
    reason = "the function has a thread of its own, and no timer of an election waits for it"
)]
fn reap() {
    loop {
        if rustix::process::wait(rustix::process::WaitOptions::empty()).is_err() {
            std::thread::sleep(Duration::from_millis(1)); // there is no child
        }
    }
}

/// Opens the store of the voter, or creates it.
fn store(folder: &str, name: &str) -> Result<FileStore<Vote>, Box<dyn Error>> {
    let path = format!("{folder}/{name}.vote");
    let identity = StoreIdentity {
        cluster: "default".parse()?,
        group: "g".parse()?,
        node: name.parse()?,
    };
    Ok(if fs::exists(&path)? {
        FileStore::open(&path, identity)?
    } else {
        FileStore::create(&path, identity)?
    })
}
