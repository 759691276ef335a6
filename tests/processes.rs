//! Real processes of the node example on loopback: killed, stopped, frozen, restarted.
//!
//! The same stories run on hosts of their own, with partitions, in `tests/hosts`.
#![expect(
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "nodes are counted from 0 to n, and live in real time"
)]

#[path = "hosts/check.rs"]
mod check;
#[path = "hosts/cluster.rs"]
#[expect(dead_code, reason = "other programs do more to their nodes")]
mod cluster;
#[path = "hosts/scenarios/lives.rs"]
#[expect(
    dead_code,
    reason = "the others take longer, and are played on hosts of their own"
)]
mod lives;
#[path = "hosts/log.rs"]
mod log;
#[path = "hosts/loopback.rs"]
mod loopback;

use std::{env, fmt, io, path::PathBuf};

use cluster::{Cluster, Setting};
use loopback::Loopback;

/// What did not work, or what does not hold.
#[derive(Debug)]
pub(crate) struct Wrong(pub(crate) String);

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Wrong {}

impl From<io::Error> for Wrong {
    fn from(wrong: io::Error) -> Self {
        Self(wrong.to_string())
    }
}

type Story = fn(&mut Cluster<Loopback>) -> Result<(), Wrong>;

/// Three nodes in the quorum mode; in the end all agree, and there never were two leaders.
fn play(story: Story) -> Result<(), Wrong> {
    let setting = Setting {
        hosts: 3,
        quorum: true,
        timings: "default",
        preempt: 1_000,
    };
    let mut cluster = Cluster::start(&node(), Loopback::new(3)?, setting)?;
    story(&mut cluster)?;
    cluster.agree()?;
    cluster.verdict()
}

/// The example lies beside the tests: whoever builds these builds it.
fn node() -> PathBuf {
    let mut path = env::current_exe().unwrap_or_default();
    path.pop();
    path.pop();
    path.join("examples").join("node")
}

#[test]
fn a_leader_that_is_killed_is_replaced_and_comes_back_with_its_store() -> Result<(), Wrong> {
    play(lives::killed)
}

#[test]
fn a_follower_that_is_killed_costs_nobody_anything() -> Result<(), Wrong> {
    play(lives::follower_killed)
}

#[test]
fn when_all_are_killed_the_next_term_is_above_every_earlier_one() -> Result<(), Wrong> {
    play(lives::all_killed)
}

#[test]
fn a_leader_that_stands_still_does_not_lead_when_it_goes_on() -> Result<(), Wrong> {
    play(lives::frozen)
}

#[test]
fn a_leader_that_is_asked_to_stop_hands_over_first() -> Result<(), Wrong> {
    play(lives::hand_over)
}

#[test]
fn a_node_that_lost_its_store_does_not_vote() -> Result<(), Wrong> {
    play(lives::store_lost)
}
