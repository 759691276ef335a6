//! A panic and its consequences: the next agent leads, the supervisor restarts the lost agent, and after too many
//! panics it gives up.
//!
//! ```text
//! $ cargo run --example supervised
//! ```
//!
//! Expected output: `examples/expected/supervised.txt`. Each panic of the leader costs one message
//! to each survivor; the address of the agent that panicked stays valid.
//!
//! Time is virtual here, so that the waits take no time; without `start_paused` all is the same.
//! Try next: `RestartPolicy::permanent()`, and a `max_restarts` of 5; then read
//! `examples/singleton.rs`.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::{error::Error, time::Duration};

use actix::{
    clock::{Instant, sleep},
    prelude::*,
};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, Notice},
    protocol::{AgentId, Event},
    supervisor::{RestartPolicy, Supervision},
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
    println!("     TIME  AGENT    WHAT HAPPENS");
    let begin = Instant::now();
    let narrator = Narrator { begin }.start();
    let group = Group::new("demo")?;
    // Two restarts within ten seconds, after 100 ms and 200 ms; the third panic is the last.
    let policy = RestartPolicy::builder()
        .max_restarts(2)
        .window(Duration::from_secs(10))
        .build()?;

    let mut agents: Vec<BullyHandle> = Vec::new();
    for number in 1..=3 {
        let agent = BullyAgent::builder(&format!("agent-{number}"))
            .score(number)
            .join(&group)
            .restart_policy(policy.clone())
            .parent(narrator.clone().recipient())
            .subscribe(narrator.clone().recipient())
            .start()?;
        agents.push(agent);
    }

    for _ in 0..3 {
        sleep(Duration::from_secs(1)).await;
        let leader = agents.iter().find(|agent| agent.is_leader());
        if let Some(leader) = leader {
            leader.addr().do_send(Inject::Crash); // a panic, without its noise
        }
    }
    sleep(Duration::from_secs(1)).await;
    Ok(())
}

/// Prints each event that it receives, with the time.
struct Narrator {
    begin: Instant,
}

impl Narrator {
    fn tell(&self, agent: &AgentId, what: &str) {
        println!(
            "{:>6} ms  {agent}  {what}",
            self.begin.elapsed().as_millis()
        );
    }
}

impl Actor for Narrator {
    type Context = Context<Self>;
}

impl Handler<Notice> for Narrator {
    type Result = ();

    fn handle(&mut self, Notice { agent, event }: Notice, _: &mut Context<Self>) {
        // The view of the other agents is left out.
        if !matches!(event, Event::NewLeader(_) | Event::NoLeader { .. }) {
            self.tell(&agent, &event.to_string());
        }
    }
}

impl Handler<Supervision<AgentId>> for Narrator {
    type Result = ();

    fn handle(&mut self, event: Supervision<AgentId>, _: &mut Context<Self>) {
        match event {
            Supervision::Down {
                child, restart_in, ..
            } => {
                self.tell(&child, &format!("panicked, will be back in {restart_in:?}"));
            }
            Supervision::Up { child, restarts } => {
                self.tell(&child, &format!("is back, restart {restarts}"));
            }
            Supervision::GaveUp { child, .. } => {
                self.tell(&child, "panicked once too often: its supervisor gives up");
            }
            Supervision::Finished { .. } | _ => {}
        }
    }
}
