//! `costs STORE [SECONDS]`: the requests per second that elections make to a store, and the time of a fail-over in
//! the same run. STORE is `files`, `postgres`, `etcd` or `kubernetes`. `benches/scale` compares fail-overs with the rule
//! of client-go.
//!
//! *Reads* and *writes* are the calls of agents. *Operations* are the requests that the store gets: several reads
//! that wait at the same time are one operation. PostgreSQL also counts a transaction for each change that a
//! connection hears of.
//!
//! The first rows have one process and one record, with 10 agents and with 1,000 agents (timings `lan`, whose holder
//! renews every 60 ms). Another row has 300 elections through one register (timings `wan`). The rows of processes
//! have 10 processes with `lan`, and 3, 30 and 100 processes with `default`, with one agent each. A process here is an
//! agent with a register of its own.
//!
//! A *fail-over* is the time from the end of the holder until another agent leads. The table shows the median of five
//! fail-overs, or the longer of two where there are three processes. If several agents share a process, the leading
//! agent stops. If each process has one agent, the register of the leader is cut off from the store, as a kill of its
//! process would do.

use std::{
    env,
    error::Error,
    future::{Future, ready},
    sync::Arc,
    thread,
    time::Duration,
};

use actix::clock::Instant;

use actix_bully::{
    agent::BullyHandle,
    protocol::Timings,
    register::{FileRegister, PostgresRegister, Register},
    testkit::Inject,
};
use actix_bully_database_tests::Server;
use actix_bully_register_tests::{
    counted::Counted,
    etcd::Etcd,
    kubernetes::server::{Cluster, User},
    many::{agents, elections, play, processes},
};
use tempfile::TempDir;

/// Opens a new register at each call.
type Connect<'a> = &'a dyn Fn() -> Arc<dyn Register>;
/// Returns the number of requests that the store has answered; `None` if the store does not count them.
type Operations<'a> = &'a dyn Fn() -> Option<i64>;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<_> = env::args().skip(1).collect();
    let seconds = words.get(1).map_or(Ok(5), |word| word.parse())?;
    let folder = TempDir::with_prefix("register-")?;
    match words.first().map(String::as_str) {
        Some("files") => {
            let folder = folder.path().join("leases");
            let connect = || -> Arc<dyn Register> {
                Arc::new(FileRegister::open(&folder).expect("it can be made"))
            };
            measure(seconds, &connect, &|| None);
        }
        Some("postgres") => {
            // Each process needs a connection, and PostgreSQL allows 100 by default.
            let server = Server::with(|_| vec!["max_connections=300".to_owned()]);
            let connect = || -> Arc<dyn Register> {
                let builder = PostgresRegister::builder(&server.address()).create_table();
                Arc::new(builder.open().expect("the address is right"))
            };
            // The client of PostgreSQL blocks its thread, which is not allowed on a thread of the runtime.
            measure(seconds, &connect, &|| {
                thread::scope(|scope| scope.spawn(|| server.operations()).join().ok().flatten())
            });
        }
        Some("etcd") => {
            let server = Etcd::start();
            measure(seconds, &|| Arc::new(server.open()), &|| {
                server.operations()
            });
        }
        Some("kubernetes") => {
            let server = Cluster::start().ok_or("run `.ci/soak kubernetes` first")?;
            measure(seconds, &|| Arc::new(server.open(User::Admin)), &|| {
                server.operations()
            });
        }
        _ => return Err("name a store: files, postgres, etcd or kubernetes".into()),
    }
    Ok(())
}

fn measure(seconds: u64, connect: Connect<'_>, operations: Operations<'_>) {
    println!(
        "{:<36} {:>8} {:>8} {:>12} {:>12}",
        "", "reads/s", "writes/s", "operations/s", "fail-over ms"
    );
    for number in [10, 1_000] {
        let counted = Counted::new(connect());
        let register: Arc<dyn Register> = Arc::new(counted.clone());
        play(async {
            let (_group, all) = agents(number, &Timings::lan(), &register).await;
            let name = format!("{number} agents of a process, one record");
            let ends = fail_overs(
                MOST_KILLS,
                || all.iter().position(BullyHandle::is_leader),
                |leader| all[leader].addr().do_send(Inject::Stop),
            );
            row(&name, seconds, &[counted], operations, ends).await;
        });
    }
    let counted = Counted::new(connect());
    let register: Arc<dyn Register> = Arc::new(counted.clone());
    play(async {
        let _all = elections(300, &register).await;
        row(
            "300 elections, one register",
            seconds,
            &[counted],
            operations,
            ready(Vec::new()),
        )
        .await;
    });
    let many = |number| -> Vec<_> { (0..number).map(|_| Counted::new(connect())).collect() };
    for (number, preset, timings) in [
        (10, "lan", Timings::lan()),
        (3, "default", Timings::default()),
        (30, "default", Timings::default()),
        (100, "default", Timings::default()),
    ] {
        let all = many(number);
        play(async {
            let agents = processes(&timings, registers(&all)).await;
            let name = format!("{number} processes, `{preset}`");
            let ends = fail_overs(
                MOST_KILLS.min(number - 1),
                || {
                    let mut processes = agents.iter().zip(&all);
                    processes.position(|((_, agent), register)| {
                        agent.is_leader() && !register.is_killed()
                    })
                },
                |leader| all[leader].kill(),
            );
            row(&name, seconds, &all, operations, ends).await;
        });
    }
}

fn registers(all: &[Counted]) -> impl Iterator<Item = Arc<dyn Register>> {
    all.iter()
        .map(|counted| -> Arc<dyn Register> { Arc::new(counted.clone()) })
}

/// Ends the leader `kills` times, and returns the times until another process led.
async fn fail_overs(
    kills: usize,
    leader: impl Fn() -> Option<usize>,
    end: impl Fn(usize),
) -> Vec<Duration> {
    let mut took = Vec::new();
    for _ in 0..kills {
        let former = next(&leader).await;
        end(former);
        let ended = Instant::now();
        next(|| leader().filter(|next| *next != former)).await;
        took.push(ended.elapsed());
        // The new leader settles before it is ended in turn.
        actix::clock::sleep(Duration::from_secs(2)).await;
    }
    took
}

async fn next(leader: impl Fn() -> Option<usize>) -> usize {
    loop {
        if let Some(leader) = leader() {
            return leader;
        }
        actix::clock::sleep(Duration::from_millis(1)).await;
    }
}

const MOST_KILLS: usize = 5;

/// Prints a row: the requests per second, and then the time of a fail-over.
async fn row(
    name: &str,
    seconds: u64,
    all: &[Counted],
    operations: Operations<'_>,
    ends: impl Future<Output = Vec<Duration>>,
) {
    let counted = count(name, seconds, all, operations).await;
    let mut took: Vec<_> = ends.await.iter().map(Duration::as_millis).collect();
    took.sort_unstable();
    let median = took.get(took.len() / 2).map(u128::to_string);
    println!("{counted} {:>12}", median.unwrap_or_default());
}

/// Waits until the election has settled, and then counts the requests.
async fn count(name: &str, seconds: u64, all: &[Counted], operations: Operations<'_>) -> String {
    actix::clock::sleep(Duration::from_secs(2)).await;
    for counted in all {
        counted.take();
    }
    let before = operations();
    actix::clock::sleep(Duration::from_secs(seconds)).await;
    let (reads, writes) = all
        .iter()
        .map(Counted::take)
        .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let done = before.zip(operations());
    let done = done.and_then(|(before, after)| u64::try_from(after - before).ok());
    let done = done.map_or_else(String::new, |done| (done / seconds).to_string());
    let (reads, writes) = (reads / seconds, writes / seconds);
    format!("{name:<36} {reads:>8} {writes:>8} {done:>12}")
}
