//! A leader's write is delayed, and arrives when another leader leads. It is refused, because its fence is older.
//!
//! ```text
//! $ cargo run --example fenced
//! a leads with fence 1
//!   a writes "rent": row 1
//!   a writes "phone", which is held up on its way
//! b leads with fence 2
//!   b writes "phone": row 2
//!   what a wrote arrives: the fence 1 is stale, because 2 was admitted: a later leader writes here, so drop this work
//! rows: ["rent", "phone"]
//! ```
//!
//! The ledger does not know about leaders: a [`FencingActor`] checks each write before it. A leader that was paused in
//! the middle of its work has the same effect: its next write comes too late. Fences are those of the quorum election,
//! which never has two leaders of one term.
//!
//! Try next: start the agents without `.quorum(..)`, which have no fences to send; then read
//! `leader::fence::sql`, for a ledger in a database.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::{collections::BTreeMap, error::Error};

use actix::prelude::*;
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, LeaderGuard},
    leader::fence::{FenceNumber, Fenced, FencingActor, FencingGate, NoFence},
    protocol::Timings,
    store::MemoryStore,
};
use futures::{StreamExt, channel::mpsc};

const VOTERS: [&str; 3] = ["a", "b", "c"];

#[derive(Message)]
#[rtype(result = "usize")]
struct Append(&'static str);

#[derive(Message)]
#[rtype(result = "String")]
struct Read;

/// A ledger, which must not be written by two leaders. It does not know about leaders.
#[derive(Default)]
struct Ledger {
    rows: Vec<&'static str>,
}

impl Actor for Ledger {
    type Context = Context<Self>;
}

impl Handler<Append> for Ledger {
    type Result = usize;
    fn handle(&mut self, row: Append, _: &mut Context<Self>) -> usize {
        self.rows.push(row.0);
        self.rows.len()
    }
}

impl Handler<Read> for Ledger {
    type Result = String;
    fn handle(&mut self, _: Read, _: &mut Context<Self>) -> String {
        format!("{:?}", self.rows)
    }
}

#[actix::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let ledger = Ledger::default().start();
    // The leaders know this address, but not the ledger's own.
    let gate = FencingActor::new(ledger.clone(), FencingGate::default()).start();

    let group = Group::new("ledger")?;
    let (lead, mut leaders) = mpsc::unbounded();
    let mut agents = BTreeMap::new();
    for (name, score) in VOTERS.into_iter().zip([3, 2, 1]) {
        agents.insert(name, start(name, score, &group, lead.clone())?);
    }

    let (former, fence) = leaders.next().await.ok_or("no leader")?;
    let fence = fence?;
    println!("{former} leads with fence {fence}");
    let message = Append("rent");
    let row = gate.send(Fenced { fence, message }).await??;
    println!("  {former} writes \"rent\": row {row}");
    println!("  {former} writes \"phone\", which is held up on its way");
    let message = Append("phone");
    let held_up = Fenced { fence, message };

    let agent = agents.get(former).ok_or("no such agent")?;
    agent.step_down(None)?;
    let (present, fence) = leaders.next().await.ok_or("no leader")?;
    let fence = fence?;
    println!("{present} leads with fence {fence}");
    let message = Append("phone");
    let row = gate.send(Fenced { fence, message }).await??;
    println!("  {present} writes \"phone\": row {row}");

    match gate.send(held_up).await? {
        Ok(row) => println!("  what {former} wrote arrives: row {row}"),
        Err(stale) => println!("  what {former} wrote arrives: {stale}"),
    }
    println!("rows: {}", ledger.send(Read).await?);
    Ok(())
}

/// Starts a voter that reports its fence whenever it leads.
fn start(
    name: &'static str,
    score: i32,
    group: &Group,
    lead: mpsc::UnboundedSender<(&'static str, Result<FenceNumber, NoFence>)>,
) -> Result<BullyHandle, Box<dyn Error>> {
    let agent = BullyAgent::builder(name)
        .score(score)
        .timings(Timings::lan())
        .quorum(VOTERS)
        .store(MemoryStore::new()) // a voter of several hosts has a `FileStore`
        .join(group)
        .start()?;
    let work = agent.clone();
    actix::spawn(async move {
        let tell = |guard: LeaderGuard| {
            let told = lead.unbounded_send((name, FenceNumber::of(&guard)));
            async move {
                if told.is_ok() {
                    guard.stepping_down().await;
                }
            }
        };
        work.lead(tell).await
    });
    Ok(agent)
}
