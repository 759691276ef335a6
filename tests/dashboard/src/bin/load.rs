//! Measures the load that the viewers of a page put on an election.
//!
//! ```text
//! cargo run --release -p actix-bully-dashboard-tests --bin load
//! ```
//!
//! 200 agents of one group run on a thread of their own. The page and 50 viewers, which read all events, run on other
//! threads. The leader crashes every four seconds and comes back, so that the page has something to show. The program
//! measures the work of the agents' thread without viewers and with viewers in turn. A ratio of 1.00 means that
//! viewers cost the election nothing. The default arguments are `-- --agents 200 --viewers 50 --rounds 5 --seconds
//! 8`. It runs on Linux only.
#![expect(
    clippy::disallowed_methods,
    reason = "what is measured takes real time"
)]

#[path = "../../../../benches/scale/src/costs.rs"]
#[expect(dead_code, reason = "only threads are measured here")]
mod costs;

use std::{
    fs,
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    path::PathBuf,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use actix::{System, clock::sleep};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    dashboard::Dashboard,
    operate::Operated,
    testkit::Inject,
};
use clap::Parser;

/// Measures the load that the viewers of a page put on an election.
#[derive(Debug, Parser)]
struct Args {
    /// Number of agents in the group.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(2..=1_000))]
    agents: u32,
    /// Number of viewers in the second half of each round.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=64))]
    viewers: u32,
    /// Number of rounds; a round has a half without and a half with viewers.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rounds: u32,
    /// Length of each half of a round, in seconds. In a multiple of four, both halves have equally many crashes.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
}

fn main() -> io::Result<()> {
    let args = Args::parse();
    let (tell, told) = mpsc::channel();
    let count = args.agents;
    thread::spawn(move || System::new().block_on(elect(count, &tell)));
    let agents = told
        .recv()
        .map_err(|_| io::Error::other("the agents did not start"))??;
    let (address, server) = serve_page(agents.operated)?;
    let (mut without, mut with) = (Vec::new(), Vec::new());
    println!(
        "{} agents, {} viewers; ms of work in a second",
        args.agents, args.viewers
    );
    println!(
        "round   agents, nobody looks   agents, viewers look   server, viewers look   read, KiB/s"
    );
    let span = Duration::from_secs(args.seconds);
    for round in 1..=args.rounds {
        let (alone, _) = measure(span, &agents.thread, &server)?;
        let mut viewers: Vec<Viewer> = Vec::new();
        for _ in 0..args.viewers {
            viewers.push(Viewer::new(address)?);
        }
        let (watched, page) = measure(span, &agents.thread, &server)?;
        let mut read = 0;
        for viewer in viewers {
            read += viewer.end()?;
        }
        println!(
            "{round:>5}   {alone:>20.2}   {watched:>20.2}   {page:>20.2}   {:>11.1}",
            kib(read) / span.as_secs_f64()
        );
        without.push(alone);
        with.push(watched);
    }
    let ratio = median(with) / median(without);
    println!("ratio of the medians: {ratio:.2}");
    Ok(())
}

/// The handles of the agents, and their thread.
struct Agents {
    operated: Operated,
    thread: PathBuf,
}

/// Runs agents without end, and crashes the leader every four seconds.
async fn elect(count: u32, tell: &mpsc::Sender<io::Result<Agents>>) {
    let agents = match start(count) {
        Ok(agents) => agents,
        Err(wrong) => {
            tell.send(Err(wrong)).ok();
            return;
        }
    };
    let mut all = agents.iter();
    let first = all.next().map(Operated::new);
    let Some(operated) = first.map(|first| all.fold(first, Operated::agent)) else {
        return;
    };
    tell.send(this_thread().map(|thread| Agents { operated, thread }))
        .ok();
    loop {
        sleep(Duration::from_secs(4)).await;
        if let Some(leader) = agents.iter().find(|agent| agent.is_leader()) {
            leader.addr().do_send(Inject::Crash);
        }
    }
}

fn start(count: u32) -> io::Result<Vec<BullyHandle>> {
    let group = Group::new("load").map_err(io::Error::other)?;
    let agent = |number: u32| {
        let agent = BullyAgent::builder(&format!("agent-{number}"));
        let score = i64::from(number);
        agent.score(score).join(&group).start()
    };
    let agents: Result<_, _> = (1..=count).map(agent).collect();
    agents.map_err(io::Error::other)
}

/// Serves the page on a thread with one worker. Returns the address and the threads of the server.
fn serve_page(operated: Operated) -> io::Result<(SocketAddr, Vec<PathBuf>)> {
    let before = threads()?;
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        System::new().block_on(async move {
            match Dashboard::new(operated).serve(0) {
                Ok((address, server)) => {
                    tell.send(Ok(address)).ok();
                    server.await.ok();
                }
                Err(wrong) => drop(tell.send(Err(wrong))),
            }
        });
    });
    let address = told
        .recv()
        .map_err(|_| io::Error::other("the server did not start"))??;
    // An answer proves that the worker has started, so that its thread is counted.
    Viewer::new(address)?.end()?;
    let mut threads = threads()?;
    threads.retain(|thread| !before.contains(thread));
    Ok((address, threads))
}

/// Returns the milliseconds per second for which the agents' thread and the server's threads worked during `span`.
fn measure(span: Duration, agents: &PathBuf, server: &[PathBuf]) -> io::Result<(f64, f64)> {
    let work_of = |threads: &[PathBuf]| {
        let all = threads.iter().map(|thread| costs::work_of(thread));
        all.sum::<io::Result<u64>>().map(Duration::from_nanos)
    };
    let agents = std::slice::from_ref(agents);
    let (began, before) = (Instant::now(), (work_of(agents)?, work_of(server)?));
    thread::sleep(span);
    let passed = began.elapsed().as_secs_f64();
    let in_a_second =
        |from: Duration, to: Duration| to.saturating_sub(from).as_secs_f64() * 1_000.0 / passed;
    Ok((
        in_a_second(before.0, work_of(agents)?),
        in_a_second(before.1, work_of(server)?),
    ))
}

/// Returns the folder of this thread in `/proc`.
fn this_thread() -> io::Result<PathBuf> {
    Ok(PathBuf::from("/proc").join(fs::read_link("/proc/thread-self")?))
}

/// Returns the folders in `/proc` of all threads of this process.
fn threads() -> io::Result<Vec<PathBuf>> {
    let process = PathBuf::from("/proc").join(fs::read_link("/proc/self")?);
    let all = fs::read_dir(process.join("task"))?;
    all.map(|thread| Ok(thread?.path())).collect()
}

/// A viewer that reads the events of a page until its end.
struct Viewer {
    socket: TcpStream,
    reader: thread::JoinHandle<u64>,
}

impl Viewer {
    fn new(address: SocketAddr) -> io::Result<Self> {
        let mut socket = TcpStream::connect(address)?;
        write!(socket, "GET /events HTTP/1.1\r\nHost: {address}\r\n\r\n")?;
        // The page sends a snapshot first.
        let mut some = [0; 16];
        socket.read_exact(&mut some)?;
        if !some.starts_with(b"HTTP/1.1 200") {
            return Err(io::Error::other("the page has no place for a viewer"));
        }
        let mut from = socket.try_clone()?;
        let reader = thread::spawn(move || io::copy(&mut from, &mut io::sink()).unwrap_or(0));
        Ok(Self { socket, reader })
    }

    /// Ends the viewer, and returns the number of bytes that it has read.
    fn end(self) -> io::Result<u64> {
        self.socket.shutdown(std::net::Shutdown::Both)?;
        self.reader
            .join()
            .map_err(|_| io::Error::other("a viewer ended early"))
    }
}

#[expect(clippy::cast_precision_loss, reason = "a figure to be read")]
fn kib(bytes: u64) -> f64 {
    bytes as f64 / 1_024.0
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of.get(of.len() / 2).copied().unwrap_or(f64::NAN)
}
