//! `costs STORE [SECONDS]`: what elections ask of a store, `files`, `postgres` or `etcd`, in a second.
//!
//! *Reads* and *writes* are what agents ask for, *operations* what the store is asked: reads that wait at one time are one.
//! PostgreSQL counts a transaction for each change that a connection hears of, too.
//! One record of one process with 10 agents and with 1,000; 300 elections by one register; and one record of 10 processes,
//! as it were, with one agent each. The record's timings are `lan`, of which the holder renews every 60 ms;
//! those of the 300 are `wan`.

use std::{env, error::Error, sync::Arc, thread, time::Duration};

use actix_bully::{
    protocol::Timings,
    register::{FileRegister, PostgresRegister, Register},
};
use actix_bully_database_tests::Server;
use actix_bully_register_tests::{
    counted::Counted,
    etcd::Etcd,
    many::{agents, elections, play},
};
use tempfile::TempDir;

/// A register of its own for each call.
type Connect<'a> = &'a dyn Fn() -> Arc<dyn Register>;
/// What the store has done so far, if it counts that.
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
            let server = Server::start();
            let connect = || -> Arc<dyn Register> {
                let builder = PostgresRegister::builder(&server.address()).create_table();
                Arc::new(builder.open().expect("the address is right"))
            };
            // Its client blocks, which a thread of a runtime must not.
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
        _ => return Err("name a store: files, postgres or etcd".into()),
    }
    Ok(())
}

fn measure(seconds: u64, connect: Connect<'_>, operations: Operations<'_>) {
    println!(
        "{:<36} {:>8} {:>8} {:>12}",
        "", "reads/s", "writes/s", "operations/s"
    );
    for number in [10, 1_000] {
        let counted = Counted::new(connect());
        let register: Arc<dyn Register> = Arc::new(counted.clone());
        play(async {
            let _all = agents(number, &Timings::lan(), &register).await;
            let name = format!("{number} agents of a process, one record");
            count(&name, seconds, &[counted], operations).await;
        });
    }
    let counted = Counted::new(connect());
    let register: Arc<dyn Register> = Arc::new(counted.clone());
    play(async {
        let _all = elections(300, &register).await;
        count(
            "300 elections, one register",
            seconds,
            &[counted],
            operations,
        )
        .await;
    });
    let processes: Vec<_> = (0..10).map(|_| Counted::new(connect())).collect();
    play(async {
        let mut all = Vec::new();
        for counted in &processes {
            let register: Arc<dyn Register> = Arc::new(counted.clone());
            all.push(agents(1, &Timings::lan(), &register).await);
        }
        count("10 processes, one record", seconds, &processes, operations).await;
    });
}

/// Once it has settled.
async fn count(name: &str, seconds: u64, all: &[Counted], operations: Operations<'_>) {
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
    println!("{name:<36} {reads:>8} {writes:>8} {done:>12}");
}
