//! `holder NAME STORE [ROWS]`: a process with one agent. STORE is `files:FOLDER`, `postgres:ADDRESS`, `etcd:ENDPOINT`
//! or `kubernetes:KUBECONFIG`, the store of the lease, or `config:PATH`, a configuration that chooses the election.
//!
//! While the agent leads, the process prints `leads TOKEN NANOSECONDS NANOSECONDS` at short intervals, by a clock
//! that all processes of a host share. If ROWS names a file, the process also writes rows behind a fence into this
//! file. If the fence refuses a leader, the process prints `refused TOKEN`. It prints `knows NAME` when it learns of
//! a leader, and `knows nobody` when it loses the leader.
//!
//! The process reads commands on its standard input. `withdraw` makes the agent ineligible, and the process prints
//! `withdrawn`. `read FOLDER` reads every file of the folder, as a backup does. `leave` hands over and ends the
//! process, as SIGTERM does. The process also ends when its standard input ends. Its wall clock is ahead by the
//! seconds in `HOLDER_CLOCK_AHEAD`.

use std::{
    cell::RefCell, env, error::Error, fs, io, path::Path, pin::pin, process::exit, rc::Rc,
    sync::Arc, thread, time::Duration,
};

use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, ElectionArbiter, LeaderGuard},
    clock::{SystemWallClock, WallClock, WallTime},
    config::{Config, RunningNode},
    elections::bully::Preemption,
    leader::leave_on_signals,
    register::{EtcdRegister, FileRegister, KubernetesRegister, PostgresRegister, Register},
};
use actix_bully_register_tests::{fenced::Fenced, processes::nanoseconds, rounds::timings};
use futures::{StreamExt, future::select};
use tokio::sync::mpsc::{Receiver, channel};

/// Longest time for a hand-over.
const SOON: Duration = Duration::from_secs(5);

type Failure = Box<dyn Error>;

#[actix::main]
async fn main() -> Result<(), Failure> {
    let words: Vec<_> = env::args().skip(1).collect();
    let [name, store, rows @ ..] = &*words else {
        return Err("name an agent and a store".into());
    };
    let rows = rows.first().map(|rows| Fenced::open(Path::new(rows)));
    let rows = rows.transpose()?;
    let elections = ElectionArbiter::new()?;
    let (agent, node) = match store.split_once(':') {
        Some(("config", path)) => {
            let config = Config::load(path, "HOLDER")?;
            let node = config.start()?;
            (node.agent().clone(), Some(node))
        }
        _ => (start(name, store, &elections)?, None),
    };
    if node.is_none() {
        let leave = leave_on_signals(&agent, SOON);
        actix::spawn(async move {
            leave.await.ok();
            exit(0);
        });
    }
    actix::spawn(obey(lines(), agent.clone(), node));
    let mut changes = agent.changes();
    actix::spawn(async move {
        while let Some(status) = changes.next().await {
            let known = status.leader.map(|leader| leader.id.to_string());
            println!("knows {}", known.as_deref().unwrap_or("nobody"));
        }
    });
    println!("started");
    let rows = Rc::new(RefCell::new(rows));
    agent
        .lead(move |leader| work(leader, Rc::clone(&rows)))
        .await?;
    Ok(())
}

/// Reports and writes while the agent leads. It ends as soon as the agent steps down, because a hand-over waits for
/// its end.
async fn work(leader: LeaderGuard, rows: Rc<RefCell<Option<Fenced>>>) {
    let says = pin!(say(&leader, rows));
    select(says, pin!(leader.stepping_down())).await;
}

async fn say(leader: &LeaderGuard, rows: Rc<RefCell<Option<Fenced>>>) {
    let token = leader.token().term;
    loop {
        if let Some(rows) = &mut *rows.borrow_mut() {
            let is_admitted = rows.write(leader).expect("it can be written");
            // The fence rightly refuses an agent that leads no longer, so only a refusal of a leader is printed.
            if !is_admitted && leader.is_leader() {
                println!("refused {token}");
            }
        }
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

async fn obey(mut lines: Receiver<String>, agent: BullyHandle, node: Option<RunningNode>) {
    while let Some(line) = lines.recv().await {
        match &*line {
            backup if backup.starts_with("read ") => {
                let folder = backup.trim_start_matches("read ");
                for entry in fs::read_dir(folder).expect("it is there") {
                    fs::read(entry.expect("an entry").path()).expect("it can be read");
                }
            }
            "withdraw" => {
                agent.withdraw_score().expect("it runs");
                println!("withdrawn");
            }
            "leave" => {
                match &node {
                    Some(node) => node.leave(SOON).await.ok(),
                    None => agent.leave(SOON).await.ok(),
                };
                println!("left");
                exit(0);
            }
            other => panic!("what is {other}?"),
        }
    }
}
