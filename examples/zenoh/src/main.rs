//! Hosts that find each other by name in a zenoh network: each host knows at most the address of one other host, or of
//! a router.
//!
//! ```text
//! $ cargo run -p zenoh-hosts -- a --peer b --peer c --listen tcp/127.0.0.1:7447
//! $ cargo run -p zenoh-hosts -- b --peer a --peer c --listen tcp/127.0.0.1:0 --connect tcp/127.0.0.1:7447
//! $ cargo run -p zenoh-hosts -- c --peer a --peer b --listen tcp/127.0.0.1:0 --connect tcp/127.0.0.1:7447
//! ```
//!
//! Kill the leader and see which host follows. With `--router tcp/127.0.0.1:7447` instead of the endpoints each host is
//! a client of a `zenohd` that runs there. All is on loopback and without certificates: hosts of your own have
//! `.tls(..)`.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use actix_bully::{
    Group,
    agent::BullyAgent,
    remote::{Peer, RemoteBridge},
};
use actix_bully_zenoh::{ZenohOptions, ZenohTransport};
use clap::Parser;
use futures::{StreamExt, stream::select};

/// A host with one agent, linked with others by zenoh.
#[derive(Parser)]
struct Args {
    /// Its name.
    name: String,
    /// The name of another host; may be given more than once.
    #[arg(long)]
    peer: Vec<String>,
    /// Endpoint at which other hosts connect to it, for instance tcp/127.0.0.1:7447.
    #[arg(long)]
    listen: Vec<String>,
    /// Another host to connect to.
    #[arg(long)]
    connect: Vec<String>,
    /// A router: this host is a client of it, and connects to nothing else.
    #[arg(long, conflicts_with_all = ["listen", "connect"])]
    router: Option<String>,
}

#[actix::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let zenoh = match &args.router {
        Some(router) => ZenohOptions::client().connect(router),
        None => ZenohOptions::peer(),
    };
    let zenoh = args
        .listen
        .iter()
        .fold(zenoh, |zenoh, endpoint| zenoh.listen(endpoint));
    let zenoh = args
        .connect
        .iter()
        .fold(zenoh, |zenoh, endpoint| zenoh.connect(endpoint));

    let group = Group::new("jobs")?;
    let bridge = RemoteBridge::builder(&args.name)
        .transport(ZenohTransport::new(zenoh))
        .carry(&group);
    let bridge = args
        .peer
        .iter()
        .fold(bridge, |bridge, peer| bridge.peer(Peer::inbound(peer)));
    let bridge = bridge.start()?;
    let agent = BullyAgent::builder(&args.name).join(&group).start()?;

    let seen = bridge.events().map(|event| format!("{event:?}"));
    let leaders = agent.changes().map(|status| match status.leader {
        Some(leader) => format!("{} leads", leader.id),
        None => "no leader".to_owned(),
    });
    let mut all = select(seen, leaders);
    while let Some(line) = all.next().await {
        println!("{line}");
    }
    Ok(())
}
