//! Three agents elect one of them.
//!
//! `cargo run --example hello` prints `api-3 leads in term 1`.

use actix_bully::prelude::*;

#[actix::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let group = Group::new("schedulers")?;
    let mut agents = Vec::new();
    for (name, score) in [("api-1", 10), ("api-2", 20), ("api-3", 30)] {
        agents.push(
            BullyAgent::builder(name)
                .score(score)
                .join(&group)
                .start()?,
        );
    }
    let leader = agents[0]
        .wait_for_leader(std::time::Duration::from_secs(1))
        .await?;
    println!("{} leads in term {}", leader.id, leader.term);
    Ok(())
}
