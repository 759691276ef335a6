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

use common::{Folder, Node, ports};
use rustix::process::Signal;

const NAMES: [&str; 3] = ["a", "b", "c"];
const LEASE: Duration = Duration::from_secs(15);

struct Three {
    nodes: Vec<Node>,
    ports: [u16; 3],
    folder: Folder,
}

impl Three {
    fn start() -> Self {
        let mut three = Self {
            nodes: Vec::new(),
            ports: ports(),
            folder: Folder::new(),
        };
        for at in 0..3 {
            let node = three.spawn(at);
            three.nodes.push(node);
        }
        three
    }

    fn spawn(&self, at: usize) -> Node {
        let others = NAMES.into_iter().zip(self.ports);
        let peers: Vec<_> = others.filter(|(name, _)| *name != NAMES[at]).collect();
        let lease = [("LEASE", LEASE.as_secs().to_string())];
        Node::start_with(NAMES[at], &self.folder.0, self.ports[at], &peers, &lease)
    }

    /// Waits until all nodes follow one leader and are linked. Returns its index.
    fn agree(&mut self) -> usize {
        // Before an empty register is used, the agents wait as long as for a lease whose record was deleted.
        let within = LEASE * 2;
        let heard = self.nodes.iter_mut();
        let leader = heard.map(|node| node.leader_within("", within).1).last();
        let leader = leader.unwrap();
        for node in &mut self.nodes {
            node.linked(2);
        }
        NAMES.iter().position(|name| **name == leader).unwrap()
    }
}

/// The kernel reports the end of the holder, which frees the lease, however long it is: the next agent need not wait.
#[test]
fn the_killed_holder_of_a_lease_of_15_s_is_followed_in_milliseconds() {
    let kills: usize = env::var("KILLS").map_or(2, |kills| kills.parse().unwrap());
    let mut took = Vec::new();
    let mut three = Three::start();
    let mut leader = three.agree();
    for _ in 0..kills {
        let killed = Instant::now();
        three.nodes[leader].signal(Signal::KILL);
        let mut next = None;
        for (at, node) in three.nodes.iter_mut().enumerate() {
            if at != leader {
                let (told, name) = node.leader_within(NAMES[leader], LEASE * 2);
                let is_first = *next.get_or_insert_with(|| name.clone()) == name;
                assert!(is_first, "two nodes follow different leaders");
                if node.name == name {
                    took.push(told.duration_since(killed));
                }
            }
        }
        three.nodes[leader] = three.spawn(leader);
        let next = NAMES.iter().position(|name| Some(*name) == next.as_deref());
        let next = next.unwrap();
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
    assert_eq!(took.len(), kills);
    assert!(most < LEASE / 8, "later than the next renewal: {took:?}");
}
