//! `holder STORE NAME`: a process with one agent, whose lease is in that store: `sqlite:PATH`,
//! `postgres:ADDRESS` or `etcd:ENDPOINT`.
//!
//! While it leads it says so again and again: `leads TOKEN NANOSECONDS`, by a clock that all processes of a host share.
//! On a line `leave` it hands over and ends; with its standard input it ends too.

use std::{env, error::Error, io, process::exit, sync::Arc, thread, time::Duration};

use actix_bully::{
    Group,
    agent::{BullyAgent, ElectionArbiter},
    elections::bully::Preemption,
    protocol::Timings,
    register::{EtcdRegister, PostgresRegister, Register, SqliteRegister},
};
use rustix::time::{ClockId, clock_gettime};

#[actix::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut words = env::args().skip(1);
    let (store, name) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    let register: Arc<dyn Register> = match store.split_once(':') {
        Some(("sqlite", path)) => Arc::new(SqliteRegister::open(path)?),
        Some(("postgres", address)) => {
            Arc::new(PostgresRegister::builder(address).create_table().open()?)
        }
        Some(("etcd", endpoint)) => Arc::new(EtcdRegister::builder([endpoint]).open()?),
        _ => return Err("name a store: sqlite:PATH, postgres:ADDRESS or etcd:ENDPOINT".into()),
    };
    let group = Group::new("jobs")?;
    let arbiter = ElectionArbiter::new()?;
    let agent = BullyAgent::builder(&name)
        .timings(Timings::lan())
        .lease(register)
        .preemption(Preemption::Never)
        .join(&group)
        .start_in_arbiter(&arbiter.handle())?;
    let leaving = agent.clone();
    let (leave, mut asked) = tokio::sync::mpsc::channel(1);
    thread::spawn(move || {
        for line in io::stdin().lines() {
            if line.is_ok_and(|line| line == "leave") {
                leave.blocking_send(()).ok();
            }
        }
        exit(0);
    });
    actix::spawn(async move {
        if asked.recv().await.is_some() {
            leaving.leave(Duration::from_secs(5)).await.ok();
            println!("left");
            exit(0);
        }
    });
    println!("started");
    agent
        .lead(|guard| async move {
            let token = guard.token().term;
            loop {
                // Read between two looks at the clock: somewhere in between it was so.
                let before = nanoseconds();
                if guard.is_leader() {
                    println!("leads {token} {before} {}", nanoseconds());
                }
                actix::clock::sleep(Duration::from_millis(5)).await;
            }
        })
        .await?;
    Ok(())
}

fn nanoseconds() -> i128 {
    let now = clock_gettime(ClockId::Monotonic);
    i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec)
}
