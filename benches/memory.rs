//! The heap of an agent that knows its leader, compared with a bare actor, in bytes.
//!
//! `cargo bench --bench memory` in this folder. `--features actix-bully/metrics` adds the instruments of metrics, as a
//! build of the whole workspace does.

use actix_bully_benches::{Peers, elect, system};
use tokio::task::yield_now;

/// Largest heap of an agent beyond a bare actor, in bytes, with or without the feature `metrics`. It has 2 KiB, and
/// room for the part that reports when the agent has freed everything, the text that an agent publishes about itself,
/// and the last heartbeat and the end of its last leader. Among a hundred agents the history of their group adds 6
/// bytes to each.
const LIMIT: i64 = 2_264;

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
