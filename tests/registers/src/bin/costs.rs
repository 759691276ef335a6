//! `costs STORE [SECONDS]`: what elections ask of a store, `files`, `postgres` or `etcd`, in a second, beside the rule of
//! client-go.
//!
//! *Reads* and *writes* are what agents ask for, *operations* what the store is asked: reads that wait at one time are one.
//! PostgreSQL counts a transaction for each change that a connection hears of, too.
//! One record of one process with 10 agents and with 1,000; 300 elections by one register; and one record of processes,
//! as it were, with one agent each. The record's timings are `lan`, of which the holder renews every 60 ms;
//! those of the 300 are `wan`. At rest: 3, 30 and 100 processes with `default`; as many candidates of the rule, whose timings
//! are those of Kubernetes (a lease of 15 s), and `default`'s (900 ms).

use std::{env, error::Error, future::pending, pin::pin, sync::Arc, thread, time::Duration};

use actix_bully::{
    protocol::Timings,
    register::{FileRegister, PostgresRegister, Register, RegisterKey},
};
use actix_bully_database_tests::Server;
use actix_bully_register_tests::{
    counted::Counted,
    etcd::Etcd,
    many::{agents, elections, play, processes},
    rule::{Candidate, Rule},
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
            // A connection for each process; 100 are the default.
            let server = Server::with(|_| vec!["max_connections=300".to_owned()]);
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
    let many = |number| -> Vec<_> { (0..number).map(|_| Counted::new(connect())).collect() };
    for (number, preset, timings) in [
        (10, "lan", Timings::lan()),
        (3, "default", Timings::default()),
        (30, "default", Timings::default()),
        (100, "default", Timings::default()),
    ] {
        let all = many(number);
        play(async {
            let _all = processes(&timings, registers(&all)).await;
            let name = format!("{number} processes, `{preset}`");
            count(&name, seconds, &all, operations).await;
        });
    }
    beside(seconds, &many, operations);
}

/// As many candidates of client-go's rule.
fn beside(seconds: u64, many: &dyn Fn(usize) -> Vec<Counted>, operations: Operations<'_>) {
    for (name, rule) in [
        ("15 s", rule(15_000, 10_000, 2_000)),
        ("0.9 s", rule(900, 600, 120)),
    ] {
        for number in [3, 30, 100] {
            let all = many(number);
            play(async {
                let key: RegisterKey = format!("rule/{name}/{number}")
                    .replace(' ', "-")
                    .parse()
                    .expect("a key");
                let compete = |(number, register)| compete(number, rule, register, key.clone());
                registers(&all).enumerate().for_each(compete);
                count(
                    &format!("{number} of the rule, {name}"),
                    seconds,
                    &all,
                    operations,
                )
                .await;
            });
        }
    }
}

fn registers(all: &[Counted]) -> impl Iterator<Item = Arc<dyn Register>> {
    all.iter()
        .map(|counted| -> Arc<dyn Register> { Arc::new(counted.clone()) })
}

const fn rule(lease: u64, renew: u64, retry: u64) -> Rule {
    Rule {
        lease_duration: Duration::from_millis(lease),
        renew_deadline: Duration::from_millis(renew),
        retry_period: Duration::from_millis(retry),
    }
}

/// A candidate of client-go's rule; it ends with its System.
fn compete(number: usize, rule: Rule, register: Arc<dyn Register>, key: RegisterKey) {
    let mut candidate = Candidate {
        name: format!("candidate-{number}"),
        rule,
        register,
        key,
        observed: None,
    };
    drop(actix::spawn(async move {
        loop {
            candidate.acquire().await;
            candidate.renew(pin!(pending::<()>())).await;
        }
    }));
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
