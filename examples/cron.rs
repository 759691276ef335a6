//! A nightly report of three replicas: one of them runs it, and a fail-over neither repeats nor loses it. Each replica
//! also has a stream of reminders that customers asked for.
//!
//! ```text
//! $ cargo run --features cron --example cron
//! ```
//!
//! Expected output: `examples/expected/cron.txt`. The leader crashes in the night before the report, then in the middle
//! of a report, then while no replica is there to run it. The interrupted report does not begin again, since it asks
//! for `Misfire::Late`. The job that asks for `Misfire::AtLeastOnce` begins again, and says that it is a repetition.
//!
//! Time is virtual here, and the days between are left out. Between hosts each replica has a bridge as well, and a
//! `FileStore` for its acknowledgements: see the page of `leader::schedule`.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::{error::Error, time::Duration};

use actix::{System, clock::sleep};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    clock::{RuntimeClock, WallTime},
    elections::bully::Preemption,
    leader::schedule::{Misfire, Tick},
    store::MemoryStore,
    supervisor::RestartPolicy,
    testkit::{Inject, VirtualClock, VirtualWallClock},
};
use futures::channel::mpsc;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);
const VOTERS: [&str; 3] = ["api-1", "api-2", "api-3"];

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()?;
    System::with_tokio_rt(move || runtime).block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    // Two minutes before a report is due.
    let wall = VirtualWallClock::new(WallTime::from_millis(1_767_322_680_000));
    let time = RuntimeClock::new();
    let group = Group::new("demo")?;
    let (mut replicas, mut customers) = (Vec::new(), Vec::new());
    for (score, name) in (1..).zip(VOTERS) {
        let agent = BullyAgent::builder(name)
            .quorum(VOTERS)
            .score(score)
            .preemption(Preemption::Never) // a report takes longer than a hand-over waits
            .store(MemoryStore::new())
            .clock(VirtualClock::from(time)) // across hosts the default is right
            .restart_policy(patient()?)
            .join(&group)
            .start()?;
        agent.schedules().clock(wall.clone()).start()?;
        agent
            .cron("nightly", "0 3 * * *")
            .misfire(Misfire::Late { within: HOUR })
            .start(report)?;
        agent
            .cron("invoices", "0 3 * * *")
            .misfire(Misfire::AtLeastOnce)
            .start(report)?;
        // Each replica reads the same source: rows of a database, or messages that are published to all.
        let (customer, reminders) = mpsc::unbounded();
        agent
            .schedule_stream("reminder", reminders)
            .misfire(Misfire::Late { within: HOUR })
            .start(report)?;
        customers.push(customer);
        replicas.push(agent);
    }

    println!("-- the leader crashes at 02:59");
    sleep(MINUTE).await;
    crash(&replicas);
    sleep(16 * MINUTE).await;

    println!("-- on the second night in the middle of a report, which takes 10 minutes");
    wall.set_ahead(85_380_000); // from 03:15 to 02:58
    sleep(7 * MINUTE).await;
    crash(&replicas);
    sleep(25 * MINUTE).await;

    println!("-- on the third night no replica may lead from 02:59 to 03:20");
    wall.set_ahead(169_860_000); // from 03:30 to 02:58
    sleep(MINUTE).await;
    for replica in &replicas {
        replica.withdraw_score()?;
    }
    sleep(21 * MINUTE).await;
    for (score, replica) in (1..).zip(&replicas) {
        replica.set_score(score)?;
    }
    sleep(15 * MINUTE).await;

    println!("-- at 03:35 a customer asks to be reminded at 03:40, and the leader crashes");
    for customer in customers {
        customer.unbounded_send(WallTime::from_millis(1_767_498_000_000))?;
    }
    crash(&replicas);
    sleep(16 * MINUTE).await;
    Ok(())
}

/// The work.
async fn report(tick: Tick) {
    let late = if tick.is_late { ", late" } else { "" };
    let repeat = if tick.is_repeat { ", again" } else { "" };
    let leader = tick.leader.token().node;
    println!(
        "{}  {leader} begins {}{late}{repeat}",
        tick.due, tick.schedule
    );
    sleep(10 * MINUTE).await;
    println!("{}  {leader} has ended {}", tick.due, tick.schedule);
}

/// Lets the leading agent panic, without the output of a panic.
fn crash(replicas: &[BullyHandle]) {
    for replica in replicas.iter().filter(|replica| replica.is_leader()) {
        replica.addr().do_send(Inject::Crash);
    }
}

/// Returns the policy by which a crashed agent comes back after a minute.
fn patient() -> Result<RestartPolicy, Box<dyn Error>> {
    let policy = RestartPolicy::builder().window(HOUR);
    Ok(policy.backoff_base(MINUTE).backoff_max(MINUTE).build()?)
}
