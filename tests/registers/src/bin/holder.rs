//! `holder NAME STORE`: a process with one agent. STORE is `files:FOLDER`, `postgres:ADDRESS`, `etcd:ENDPOINT` or
//! `kubernetes:KUBECONFIG`, the store of the lease.
//!
//! While the agent leads, the process prints `leads TOKEN NANOSECONDS NANOSECONDS` at short intervals, by a clock
//! that all processes of a host share. If it reads `leave` on its standard input, it hands over and ends, as it does
//! after SIGTERM. It also ends when its standard input ends. Its wall clock is ahead by the seconds in
//! `HOLDER_CLOCK_AHEAD`.

use std::{env, error::Error, io, pin::pin, process::exit, sync::Arc, thread, time::Duration};

use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, ElectionArbiter, LeaderGuard},
    clock::{SystemWallClock, WallClock, WallTime},
    elections::bully::Preemption,
    leader::leave_on_signals,
    register::{EtcdRegister, FileRegister, KubernetesRegister, PostgresRegister, Register},
};
use actix_bully_register_tests::{processes::nanoseconds, rounds::timings};
use futures::future::select;
use tokio::sync::mpsc::{Receiver, channel};

/// Longest time for a hand-over.
const SOON: Duration = Duration::from_secs(5);

type Failure = Box<dyn Error>;

#[actix::main]
async fn main() -> Result<(), Failure> {
    let words: Vec<_> = env::args().skip(1).collect();
    let [name, store] = &*words else {
        return Err("name an agent and a store".into());
    };
    let elections = ElectionArbiter::new()?;
    let agent = start(name, store, &elections)?;
    let leave = leave_on_signals(&agent, SOON);
    actix::spawn(async move {
        leave.await.ok();
        exit(0);
    });
    actix::spawn(obey(lines(), agent.clone()));
    agent.lead(work).await?;
    Ok(())
}

/// Reports while the agent leads. It ends as soon as the agent steps down, because a hand-over waits for its end.
async fn work(leader: LeaderGuard) {
    select(pin!(say(&leader)), pin!(leader.stepping_down())).await;
}

async fn say(leader: &LeaderGuard) {
    let token = leader.token().term;
    loop {
        // The role is read between two readings of the clock, so the agent led at some moment between them.
        let before = nanoseconds();
        if leader.is_leader() {
            println!("leads {token} {before} {}", nanoseconds());
        }
        actix::clock::sleep(Duration::from_millis(5)).await;
    }
}

fn start(name: &str, store: &str, elections: &ElectionArbiter) -> Result<BullyHandle, Failure> {
    let register: Arc<dyn Register> = match store.split_once(':') {
        Some(("files", folder)) => Arc::new(FileRegister::open(folder)?),
        Some(("postgres", address)) => {
            Arc::new(PostgresRegister::builder(address).create_table().open()?)
        }
        Some(("etcd", endpoint)) => Arc::new(EtcdRegister::builder([endpoint]).open()?),
        Some(("kubernetes", file)) => {
            Arc::new(KubernetesRegister::builder().kubeconfig_file(file).open()?)
        }
        _ => return Err("name a store: see the page of this program".into()),
    };
    let agent = BullyAgent::builder(name)
        .timings(timings())
        .lease(register)
        .preemption(Preemption::Never)
        .wall_clock(Ahead::from_env())
        .join(&Group::new("jobs")?)
        .start_in_arbiter(&elections.handle())?;
    Ok(agent)
}

/// The wall clock of a host whose clock is ahead.
#[derive(Debug)]
struct Ahead(Duration);

impl Ahead {
    fn from_env() -> Self {
        let seconds = env::var("HOLDER_CLOCK_AHEAD").ok();
        let seconds = seconds.map_or(0, |text| text.parse().expect("a number of seconds"));
        Self(Duration::from_secs(seconds))
    }
}

impl WallClock for Ahead {
    fn now(&self) -> WallTime {
        SystemWallClock.now().after(self.0)
    }
}

/// Returns the lines of the standard input. The process ends when the input ends.
fn lines() -> Receiver<String> {
    let (say, said) = channel(1);
    thread::spawn(move || {
        for line in io::stdin().lines().map_while(Result::ok) {
            say.blocking_send(line).ok();
        }
        exit(0);
    });
    said
}

async fn obey(mut lines: Receiver<String>, agent: BullyHandle) {
    if let Some(line) = lines.recv().await {
        assert_eq!(line, "leave", "no other command is known");
        agent.leave(SOON).await.ok();
        exit(0);
    }
}
