//! `costs STORE [SECONDS]`: what elections ask of a store, `sqlite`, `postgres` or `etcd`, in a second.
//!
//! One record of one process with 10 agents and with 1,000; the same record of 10 processes, as it were, with one agent
//! each; and 300 elections by one register. The record's timings are `lan`, of which the holder renews every 60 ms;
//! those of the 300 are `wan`.

use std::{env, error::Error, sync::Arc, time::Duration};

use actix_bully::{
    protocol::Timings,
    register::{PostgresRegister, Register, SqliteRegister},
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

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<_> = env::args().skip(1).collect();
    let seconds = words.get(1).map_or(Ok(5), |word| word.parse())?;
    let folder = TempDir::with_prefix("register-")?;
    match words.first().map(String::as_str) {
        Some("sqlite") => measure(seconds, &|| {
            let file = folder.path().join("leases.db");
            Arc::new(SqliteRegister::open(file).expect("it can be made"))
        }),
        Some("postgres") => {
            let server = Server::start();
            measure(seconds, &|| {
                let builder = PostgresRegister::builder(&server.address()).create_table();
                Arc::new(builder.open().expect("the address is right"))
            });
        }
        Some("etcd") => {
            let server = Etcd::start();
            measure(seconds, &|| Arc::new(server.open()));
        }
        _ => return Err("name a store: sqlite, postgres or etcd".into()),
    }
    Ok(())
}

fn measure(seconds: u64, connect: Connect<'_>) {
    println!("{:<36} {:>8} {:>8}", "", "reads/s", "writes/s");
    for number in [10, 1_000] {
        let counted = Counted::new(connect());
        let register: Arc<dyn Register> = Arc::new(counted.clone());
        play(async {
            let _all = agents(number, &Timings::lan(), &register).await;
            let name = format!("{number} agents of a process, one record");
            count(&name, seconds, &[counted]).await;
        });
    }
    let processes: Vec<_> = (0..10).map(|_| Counted::new(connect())).collect();
    play(async {
        let mut all = Vec::new();
        for counted in &processes {
            let register: Arc<dyn Register> = Arc::new(counted.clone());
            all.push(agents(1, &Timings::lan(), &register).await);
        }
        count("10 processes, one record", seconds, &processes).await;
    });
    let counted = Counted::new(connect());
    let register: Arc<dyn Register> = Arc::new(counted.clone());
    play(async {
        let _all = elections(300, &register).await;
        count("300 elections, one register", seconds, &[counted]).await;
    });
}

/// Once it has settled.
async fn count(name: &str, seconds: u64, all: &[Counted]) {
    actix::clock::sleep(Duration::from_secs(2)).await;
    for counted in all {
        counted.take();
    }
    actix::clock::sleep(Duration::from_secs(seconds)).await;
    let (reads, writes) = all
        .iter()
        .map(Counted::take)
        .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    println!("{name:<36} {:>8} {:>8}", reads / seconds, writes / seconds);
}
