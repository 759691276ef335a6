//! Three processes with a lease of 15 s in a folder, with links and sentinels. The tests measure how long the others
//! have no leader after the end of the holder, in real time.
//!
//! `KILLS=20 cargo test --release -p actix-bully-sentinel-tests --test lease -- --nocapture` prints the times.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "processes are killed and waited for in real time"
)]

mod common;

use std::{
    env,
    time::{Duration, Instant},
};

use common::{Three, ports};
use rustix::process::Signal;

const LEASE: Duration = Duration::from_secs(15);

/// The kernel reports the end of the holder, which frees the lease, however long it is: the next agent need not wait.
#[test]
fn the_killed_holder_of_a_lease_of_15_s_is_followed_in_milliseconds() {
    let kills: usize = env::var("KILLS").map_or(2, |kills| kills.parse().unwrap());
    let mut took = Vec::new();
    let mut three = Three::with(ports(), &[("LEASE", LEASE.as_secs().to_string())]);
    // Before an empty register is used, the agents wait as long as for a lease whose record was deleted.
    let mut leader = three.agree(LEASE * 2);
    for _ in 0..kills {
        let killed = Instant::now();
        three.nodes[leader].signal(Signal::KILL);
        let (next, told) = three.fails_over(leader, LEASE * 2);
        took.push(told.duration_since(killed));
        three.nodes[leader] = three.spawn(leader);
        three.nodes[leader].leader_after("");
        for node in &mut three.nodes {
            node.linked(2);
        }
        leader = next;
        // An agent that has seen only one record waits for its lease: the store may have gone back before.
        std::thread::sleep(LEASE / 2);
    }
    took.sort_unstable();
    let (median, most) = (took[took.len() / 2], took[took.len() - 1]);
    println!(
        "{kills} kills of the holder of a lease of {LEASE:?}: median {median:?}, most {most:?}"
    );
    assert!(most < LEASE / 8, "later than the next renewal: {took:?}");
}
