//! Three agents elect the agent of the highest rank; when it leaves, the next one leads.
//!
//! ```text
//! $ cargo run --example hello
//! agent-3 leads in term 1
//! agent-3 has left, agent-2 leads in term 2
//! ```
//!
//! Try next: give `agent-1` the highest score; then read `examples/supervised.rs`.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::{error::Error, time::Duration};

use actix_bully::{Group, agent::BullyAgent};

#[actix::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let group = Group::new("demo")?;
    let low = BullyAgent::builder("agent-1")
        .score(1)
        .join(&group)
        .start()?;
    let _middle = BullyAgent::builder("agent-2")
        .score(2)
        .join(&group)
        .start()?;
    let high = BullyAgent::builder("agent-3")
        .score(3)
        .join(&group)
        .start()?;

    let leader = low.wait_for_leader(Duration::from_secs(5)).await?;
    println!("{} leads in term {}", leader.id, leader.term);

    high.leave(Duration::from_secs(5)).await?;
    let next = low.wait_for_leader(Duration::from_secs(5)).await?;
    println!(
        "{} has left, {} leads in term {}",
        high.id(),
        next.id,
        next.term
    );
    Ok(())
}
