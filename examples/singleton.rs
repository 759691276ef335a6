//! An actor that runs on the leader only. When the leader crashes, the actor is started on the next leader; when an
//! agent leaves, it tells its actor first.
//!
//! ```text
//! $ cargo run --example singleton
//! ```
//!
//! Expected output: `examples/expected/singleton.txt`. If a leader crashes, or a returning agent outranks it, its actor
//! is dropped at once. At a hand-over the actor is told, and the next actor starts when it has stopped.
//!
//! Time is virtual here, so that the waits take no time; without `start_paused` all is the same. Try next: a counter
//! that panics at its third tick, and `.progress_within(..)` with a counter that sleeps; then read
//! `examples/database_primary.rs`.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::{error::Error, time::Duration};

use actix::{
    clock::{Instant, sleep},
    prelude::*,
};
use actix_bully::{
    Group,
    agent::{BullyAgent, LeaderGuard},
    leader::{Singleton, SteppingDown},
    testkit::Inject,
};

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()?;
    System::with_tokio_rt(move || runtime).block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    println!("     TIME  AGENT    ITS COUNTER");
    let begin = Instant::now();
    let group = Group::new("demo")?;
    let mut hosts = Vec::new();
    for number in 1..=3 {
        let agent = BullyAgent::builder(&format!("agent-{number}"))
            .score(number)
            .join(&group)
            .start()?;
        let counter = move |leader| Counter {
            leader,
            ticks: 0,
            begin,
        };
        let singleton = Singleton::builder(&agent, counter).start()?;
        hosts.push((agent, singleton));
    }

    sleep(Duration::from_millis(900)).await;
    // A panic of the leading agent, without its noise. It is restarted after 100 ms, and takes over.
    for (agent, _) in hosts.iter().filter(|(agent, _)| agent.is_leader()) {
        agent.addr().do_send(Inject::Crash);
    }
    sleep(Duration::from_millis(1_500)).await;

    // A host asks its own singleton for the address, since the counter runs on only one of them.
    for (agent, singleton) in &hosts {
        if let Some(counter) = singleton.addr() {
            let ticks = counter.send(Ticks).await?;
            println!("the counter of {} has counted {ticks} ticks", agent.id());
        }
    }

    // The highest-ranked agent leaves first; each `leave` waits until the counter has stopped.
    for (agent, _) in hosts.iter().rev() {
        sleep(Duration::from_millis(500)).await;
        agent.leave(Duration::from_secs(5)).await?;
    }
    Ok(())
}

/// The work of the leader.
struct Counter {
    leader: LeaderGuard,
    ticks: u64,
    begin: Instant,
}

impl Counter {
    fn tell(&self, what: &str) {
        let time = self.begin.elapsed().as_millis();
        println!("{time:>6} ms  {}  {what}", self.leader.token().node);
    }
}

impl Actor for Counter {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        self.tell(&format!("starts in term {}", self.leader.token().term));
        ctx.run_interval(Duration::from_millis(400), |counter, _| {
            counter.ticks += 1;
            counter.tell(&format!("tick {}", counter.ticks));
        });
    }
}

impl Handler<SteppingDown> for Counter {
    type Result = ();

    fn handle(&mut self, SteppingDown { term }: SteppingDown, ctx: &mut Context<Self>) {
        self.tell(&format!("hands over, term {term} ends"));
        ctx.stop();
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        self.tell("is gone");
    }
}

/// Asks for the number of ticks.
#[derive(Message)]
#[rtype(result = "u64")]
struct Ticks;

impl Handler<Ticks> for Counter {
    type Result = u64;

    fn handle(&mut self, Ticks: Ticks, _: &mut Context<Self>) -> u64 {
        self.ticks
    }
}
