//! A node with a sentinel: `sentinel-node NAME FOLDER PORT NAME=PORT..` on loopback, a voter with its vote in that folder.
//!
//! It prints `sentinel PROCESS`, `leader NAME` whenever that changes, and for each line that it reads the counts of its
//! bridge.
#![expect(
    clippy::print_stdout,
    reason = "the test that started it reads what it prints"
)]

use std::{
    error::Error,
    fs,
    io::{self, BufRead},
};

use actix_bully::{
    Group,
    agent::BullyAgent,
    protocol::Timings,
    remote::{Peer, RemoteBridge, secret::Secret, sentinel::Sentinel},
    store::{FileStore, StoreIdentity},
};
use futures::StreamExt;

fn main() -> Result<(), Box<dyn Error>> {
    let sentinel = Sentinel::start()?;
    actix::System::new().block_on(run(sentinel))
}

async fn run(sentinel: Sentinel) -> Result<(), Box<dyn Error>> {
    println!("sentinel {}", sentinel.id());
    let mut arguments = std::env::args().skip(1);
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
    let path = format!("{folder}/{name}.vote");
    let identity = StoreIdentity {
        cluster: "default".parse()?,
        group: "g".parse()?,
        node: name.parse()?,
    };
    let store = if fs::exists(&path)? {
        FileStore::open(&path, identity)?
    } else {
        FileStore::create(&path, identity)?
    };
    let agent = BullyAgent::builder(&name)
        .timings(Timings::lan())
        .quorum(&voters)
        .store(store)
        .join(&group)
        .start()?;
    std::thread::spawn(move || {
        for _ in io::stdin().lock().lines() {
            let counts = bridge.counters();
            let counts: Vec<_> = counts.iter().filter(|(_, n)| *n > 0).collect();
            println!("counts {counts:?}");
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
