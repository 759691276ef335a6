//! Agents on a live page, with a story to follow and faults to click.
//!
//! ```text
//! $ cargo run -p dashboard-page
//! http://127.0.0.1:8080/
//! ```
//!
//! Open that address: the leader of five agents crashes and comes back. Then crash, hang and cut off agents yourself,
//! or choose another scenario or election. Try next:
//!
//! ```text
//! $ cargo run -p dashboard-page -- --agents 200
//! $ cargo run -p dashboard-page -- --protocol quorum
//! $ cargo run -p dashboard-page -- --protocol quorum --beside bully
//! $ cargo run -p dashboard-page -- --real-time
//! $ cargo run -p dashboard-page -- --replay FILE
//! ```
//!
//! FILE is a recording: of `cluster --record`, `simulate --record`, `bullyctl record save`, or of this page.
//! `--records FOLDER` lists the records that a node saved there when its leader was missed.
//!
//! The agents live in virtual time on the main thread, the server in real time on another thread.
#[path = "../../common/protocol.rs"]
mod protocol;

use std::{
    error::Error,
    fs::File,
    io::{self, BufReader},
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::Duration,
};

use actix::{System, SystemRunner};
use actix_bully::{
    dashboard::{
        Dashboard,
        stage::{Stage, Staged, Story},
    },
    operate::RecordFolder,
    record::Recording,
    testkit::{
        cluster::{ClusterBuilder, ClusterError},
        faults::Conditions,
        virtual_system,
    },
};
use bully_core::{protocol::Election, record::RecordedAgent};
use bully_sim::trace::Trace;
use clap::{Parser, ValueEnum, value_parser};
use futures::future::join;
use protocol::{Play, Protocol};

/// Agents that elect a leader, on a live page.
#[derive(Debug, Parser)]
#[command(name = "dashboard")]
struct Args {
    /// Number of agents: agent-1 to agent-N, the score of each is its number
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = value_parser!(u32).range(1..=1000))]
    agents: u32,
    /// The election that they hold first
    #[arg(long, value_enum, default_value_t)]
    protocol: Protocol,
    /// Shows a second election on the same faults, among agents of the same names
    #[arg(long, value_enum, value_name = "PROTOCOL")]
    beside: Option<Protocol>,
    /// Begins the random numbers
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Port of the page on this host's loopback address; 0 takes a free port
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Lets time pass in real time
    #[arg(long)]
    real_time: bool,
    /// Shows a recording instead of agents that run; a broken promise is marked in it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["agents", "protocol", "beside", "seed", "real_time"])]
    replay: Option<PathBuf>,
    /// Lists the records in this folder, which a node saved when its leader was missed
    #[arg(long, value_name = "FOLDER")]
    records: Option<PathBuf>,
}

impl Args {
    /// Adds the folder to the page, if there is one.
    fn with_records(&self, page: Dashboard) -> Dashboard {
        match &self.records {
            Some(folder) => page.records(RecordFolder::new(folder)),
            None => page,
        }
    }
}

/// Starts a cluster, and lets its agents elect.
struct Begin<'a> {
    args: &'a Args,
    protocol: Protocol,
    agents: &'a [RecordedAgent],
}

impl Play for Begin<'_> {
    type Outcome = Result<Staged, ClusterError>;

    async fn play<E: Election>(self, cluster: ClusterBuilder<E>) -> Self::Outcome {
        let ms = Duration::from_millis;
        // The heartbeats of a few agents are useful; those of many agents hide everything else.
        let trace = Trace::new().bounded(10_000);
        let trace = if self.agents.len() <= 16 {
            trace.with_repeated()
        } else {
            trace
        };
        // It starts like the example `cluster`, so that its commands are a script for that example.
        let quick = Conditions::builder().delay(ms(1)..=ms(3)).build()?;
        let cluster = cluster.seed(self.args.seed).network(quick).trace(trace);
        let mut cluster = cluster.start()?;
        if self.protocol.awaits_campaign() {
            for agent in self.agents {
                cluster.campaign(agent.name.as_str())?;
            }
        }
        // Agents that have not settled can be shown too.
        cluster.settle().await.ok();
        // Messages take long enough to be seen on their way.
        cluster.set_network(quick.to_builder().delay(ms(10)..=ms(30)).build()?);
        Ok(Staged::new(self.protocol.to_string(), cluster))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    if let Some(file) = &args.replay {
        return replay(file, &args);
    }
    let (stage, page) = if args.real_time {
        Stage::real_time()
    } else {
        Stage::virtual_time()
    };
    let name = |protocol: &Protocol| protocol.to_string();
    let all = Protocol::value_variants().iter().map(name);
    let mut stage = stage.elections(name(&args.protocol), all).story(Story::Go);
    println!(
        "http://{}/",
        serve(args.with_records(page.allow_faults()), args.port)?
    );
    let system = if args.real_time {
        System::new()
    } else {
        virtual_system()
    };
    play(&system, &mut stage, &args)
}

fn play(system: &SystemRunner, stage: &mut Stage, args: &Args) -> Result<(), Box<dyn Error>> {
    let (mut protocol, mut beside) = (args.protocol, args.beside);
    let usual = protocol::numbered(args.agents)?;
    let mut agents = usual.clone();
    loop {
        let begin = |protocol| {
            let begin = Begin {
                args,
                protocol,
                agents: &agents,
            };
            protocol::run(protocol, &agents, begin)
        };
        let chosen = system.block_on(async {
            let Some(other) = beside else {
                return Ok(stage.play_beside(begin(protocol).await?, None).await);
            };
            // Both start together, so that their clocks show the same time.
            let (first, other) = join(begin(protocol), begin(other)).await;
            Ok::<_, ClusterError>(stage.play_beside(first?, Some(other?)).await)
        })?;
        let Some(chosen) = chosen else { return Ok(()) };
        protocol = chosen.election.parse()?;
        beside = chosen.beside.map(|name| name.parse()).transpose()?;
        agents = chosen.agents.unwrap_or_else(|| usual.clone());
    }
}

/// Serves the page of a recording until the program is ended.
fn replay(file: &Path, args: &Args) -> Result<(), Box<dyn Error>> {
    let named = |wrong: &dyn Error| format!("{}: {wrong}", file.display());
    let opened = File::open(file).map_err(|wrong| named(&wrong))?;
    let recording = Recording::read(BufReader::new(opened)).map_err(|wrong| named(&wrong))?;
    let page = args.with_records(Dashboard::replay(recording));
    System::new().block_on(async {
        let (address, server) = page.serve(args.port)?;
        println!("http://{address}/");
        server.await
    })?;
    Ok(())
}

/// Serves the page on a separate thread.
fn serve(page: Dashboard, port: u16) -> io::Result<SocketAddr> {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        System::new().block_on(async {
            match page.serve(port) {
                Ok((address, server)) => {
                    tell.send(Ok(address)).ok();
                    server.await.ok();
                }
                Err(wrong) => drop(tell.send(Err(wrong))),
            }
        });
    });
    told.recv()
        .unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()))
}
