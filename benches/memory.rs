//! Bytes on the heap per agent, over a bare actor, when all know their leader.
//!
//! `cargo bench --bench memory` in this folder; with the instruments of metrics: `--features actix-bully/metrics`, as it
//! is where the whole workspace is built at once.

use actix_bully_benches::{Peers, elect, system};
use tokio::task::yield_now;

/// Most bytes of an agent over a bare actor, with the instruments of the feature `metrics` as well as without: 2 KiB,
/// the part that reports when the agent has freed everything, the text that an agent publishes about itself, and the
/// last sign of life and the end of its last leader. Among a hundred agents the history of their group adds 6 bytes to
/// each.
const LIMIT: i64 = 2_224;

fn main() {
    println!("{:>6}  {:>11}", "agents", "bytes/agent");
    for n in [5, 100, 1_000, 10_000] {
        let bytes = memory(n);
        println!("{n:>6}  {bytes:>11}");
        assert!(
            n < 100 || bytes <= LIMIT,
            "an agent costs more than {LIMIT} bytes"
        );
    }
}

fn memory(n: u32) -> i64 {
    let agents = allocation_counter::measure(|| {
        let system = system();
        system.block_on(async { std::mem::forget(elect(n).await) });
        std::mem::forget(system);
    });
    let bare = allocation_counter::measure(|| {
        let system = system();
        system.block_on(async {
            std::mem::forget(Peers::start(n));
            yield_now().await;
        });
        std::mem::forget(system);
    });
    (agents.bytes_current - bare.bytes_current) / i64::from(n)
}
