//! The scenarios: faults on hosts, and their expected outcomes.
//!
//! At the end of each scenario all is healed and all nodes agree. Then the merged lines of all nodes are checked for
//! two leaders at once. A scenario also checks that its fault really happened.

mod clocks;
mod diskless;
mod incarnations;
mod network;
mod partitions;
mod sides;

use std::path::Path;

use crate::{
    Wrong, check,
    cluster::Setting,
    net::{Hosts, Net},
};

/// A fault with its expected outcome.
#[derive(Debug)]
pub(crate) struct Scenario {
    /// The name on the command line.
    pub(crate) name: &'static str,
    /// A description of the fault.
    pub(crate) what: &'static str,
    /// Number of hosts.
    pub(crate) hosts: usize,
    /// Whether the mode is the quorum mode.
    pub(crate) quorum: bool,
    /// Whether no voter has a store.
    pub(crate) diskless: bool,
    /// Whether every change has to pass the scenario.
    pub(crate) first: bool,
    play: fn(&mut Hosts) -> Result<(), Wrong>,
}

const fn quorum(
    name: &'static str,
    hosts: usize,
    what: &'static str,
    play: fn(&mut Hosts) -> Result<(), Wrong>,
) -> Scenario {
    Scenario {
        name,
        what,
        hosts,
        quorum: true,
        diskless: false,
        first: false,
        play,
    }
}

impl Scenario {
    const fn first(mut self) -> Self {
        self.first = true;
        self
    }

    const fn diskless(mut self) -> Self {
        self.diskless = true;
        self
    }

    const fn available(mut self) -> Self {
        self.quorum = false;
        self
    }

    /// Plays the scenario. Returns a remark about the leaderships.
    ///
    /// # Errors
    /// The promise that was broken, or a step that failed.
    pub(crate) fn run(&self, node: &Path) -> Result<String, Wrong> {
        let setting = Setting {
            hosts: self.hosts,
            quorum: self.quorum,
            diskless: self.diskless,
            timings: "default",
            preempt: 1_000,
        };
        let mut cluster = Hosts::start(node, Net::up(setting.hosts)?, setting)?;
        (self.play)(&mut cluster)?;
        cluster.net.heal()?;
        cluster.agree()?;
        cluster.verdict()?;
        let leaders = cluster.beliefs().len();
        let both = check::contested(&cluster.log.lines()) / 1_000;
        Ok(format!("{leaders} leaderships, two at once for {both} ms"))
    }
}

/// All scenarios.
pub(crate) const ALL: &[Scenario] = &[
    quorum(
        "leader_isolated",
        3,
        "the leader is cut off from all",
        partitions::leader_isolated,
    )
    .first(),
    quorum(
        "leader_in_minority",
        5,
        "the leader is on the smaller side",
        partitions::minority,
    )
    .first(),
    quorum(
        "non_transitive",
        3,
        "two followers do not reach each other",
        partitions::non_transitive,
    )
    .first(),
    quorum(
        "leader_deaf",
        3,
        "the leader is heard, and hears no other",
        partitions::deaf,
    )
    .first(),
    quorum("loss", 3, "a third of all packets is lost", network::loss).first(),
    quorum(
        "reset",
        3,
        "the leader's connections are reset",
        network::reset,
    ),
    quorum(
        "slow_line",
        3,
        "the leader's line takes 64 kbit/s",
        network::slow_line,
    ),
    quorum(
        "unplugged",
        3,
        "the leader's cable is pulled",
        network::unplugged,
    ),
    quorum(
        "flapping",
        3,
        "the leader's cable has a bad contact",
        network::flapping,
    ),
    quorum(
        "leader_killed",
        3,
        "kill -9, and a restart with the same store",
        incarnations::killed,
    )
    .first(),
    quorum(
        "follower_killed",
        3,
        "a follower is killed: the others follow on",
        incarnations::follower_killed,
    ),
    quorum(
        "all_killed",
        3,
        "all are killed, all come back",
        incarnations::all_killed,
    ),
    quorum(
        "leader_frozen",
        3,
        "the leader stands still, then goes on",
        incarnations::frozen,
    )
    .first(),
    quorum(
        "hand_over",
        3,
        "SIGTERM: the leader hands over first",
        incarnations::hand_over,
    ),
    quorum(
        "boot_clocks_differ",
        3,
        "hosts that were booted years apart, and one that is booted again",
        clocks::booted_years_apart,
    )
    .first(),
    quorum(
        "store_lost",
        3,
        "a node without its store may not vote",
        incarnations::store_lost,
    ),
    quorum(
        "diskless_leader_killed",
        3,
        "no disk: the leader is killed, and comes back without its memory",
        incarnations::killed,
    )
    .diskless(),
    quorum(
        "diskless_two_killed",
        3,
        "no disk: two are killed at once, so no majority remembers",
        diskless::two_killed,
    )
    .diskless()
    .first(),
    quorum(
        "diskless_all_killed",
        3,
        "no disk: all are killed, so no voter remembers",
        diskless::all_killed,
    )
    .diskless()
    .first(),
    quorum(
        "sides",
        4,
        "available: each side has a leader, then one",
        sides::sides,
    )
    .available()
    .first(),
];
