//! The agent with the least load leads, but not for every small difference.
//!
//! ```text
//! $ cargo run --example load_balanced_score
//! ```
//!
//! Expected output: `examples/expected/load_balanced_score.txt`. A score may change at any time. A *margin* prevents
//! two agents of about the same load from taking the leadership from each other again and again.
//!
//! Try next: a margin of 0; then `cargo run --example cluster -- --interactive`, and `score 2 50`.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use actix_bully::{protocol::Score, testkit::cluster::Cluster};

/// Load by which a challenger must be below the leader, in percent.
const MARGIN: i32 = 20;

/// The rule: less load is better.
fn score(load: i32) -> Score {
    Score::from(100 - load)
}

#[actix::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut cluster = Cluster::builder()
        .margin(MARGIN)
        .agent("worker-1", score(10))
        .agent("worker-2", score(30))
        .agent("worker-3", score(50))
        .start()?;

    println!("LOAD: worker-1  worker-2  worker-3  LEADER    MESSAGES");
    for loads in [
        [10, 30, 50], // the least load leads
        [25, 20, 50], // worker-2 has less load, but only a little less
        [40, 20, 50], // less by the margin: worker-2 takes over
        [15, 20, 50], // worker-1 has less load, but only a little less
        [15, 60, 50], // the leader is busy
        [70, 60, 10],
    ] {
        for (number, load) in (1..).zip(loads) {
            cluster.set_score(&format!("worker-{number}"), score(load))?;
        }
        let settled = cluster.settle().await?;
        let leader = settled.leader().map_or("none", |leader| leader.as_str());
        let [one, two, three] = loads.map(|load| format!("{load} %"));
        let messages = settled.messages;
        println!("{one:>14}  {two:>8}  {three:>8}  {leader}  {messages:>8}");
    }
    Ok(())
}
