//! The scenarios: faults on hosts, and their expected outcomes.
//!
//! At the end of each scenario all is healed and all nodes agree. Then the merged lines of all nodes are checked for
//! two leaders at once. A scenario also checks that its fault really happened.

mod clocks;
mod incarnations;
mod network;
mod sides;

use std::path::Path;

use crate::{
    Wrong,
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
    hosts: usize,
    mode: Mode,
    when: When,
    play: fn(&mut Hosts) -> Result<(), Wrong>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Quorum,
    Diskless,
    Available,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// Every change has to pass the scenario.
    First,
    Later,
}

/// Returns the scenario of this name.
pub(crate) fn named(name: &str) -> Result<&'static Scenario, Wrong> {
    let found = ALL.iter().find(|scenario| scenario.name == name);
    found.ok_or_else(|| Wrong(format!("there is no {name}: see --list")))
}

impl Scenario {
    /// Returns whether every change has to pass the scenario.
    pub(crate) fn is_first(&self) -> bool {
        self.when == When::First
    }

    /// Plays the scenario. Returns a remark about the leaderships.
    ///
    /// # Errors
    /// The promise that was broken, or a step that failed.
    pub(crate) fn run(&self, node: &Path) -> Result<String, Wrong> {
        let setting = Setting {
            hosts: self.hosts,
            quorum: self.mode != Mode::Available,
            diskless: self.mode == Mode::Diskless,
            timings: "default",
            preempt: 1_000,
        };
        let mut cluster = Hosts::start(node, Net::up(setting.hosts)?, setting)?;
        (self.play)(&mut cluster)?;
        cluster.net.heal()?;
        cluster.agree()?;
        cluster.verdict()?;
        Ok(format!("{} leaderships", cluster.beliefs().len()))
    }
}

macro_rules! scenarios {
    ($($name:ident $hosts:literal $mode:ident $when:ident: $what:literal, $play:path;)*) => {
        /// All scenarios.
        pub(crate) const ALL: &[Scenario] = &[$(Scenario {
            name: stringify!($name),
            what: $what,
            hosts: $hosts,
            mode: Mode::$mode,
            when: When::$when,
            play: $play,
        },)*];
    };
}

scenarios! {
    leader_isolated 3 Quorum First: "the leader is cut off from all", network::leader_isolated;
    leader_in_minority 5 Quorum First: "the leader is on the smaller side", network::minority;
    non_transitive 3 Quorum First: "two followers do not reach each other", network::non_transitive;
    leader_deaf 3 Quorum First: "the leader is heard, and hears no other", network::deaf;
    loss 3 Quorum First: "a third of all packets is lost", network::loss;
    reset 3 Quorum Later: "the leader's connections are reset", network::reset;
    slow_line 3 Quorum Later: "the leader's line takes 64 kbit/s", network::slow_line;
    unplugged 3 Quorum Later: "the leader's cable is pulled", network::unplugged;
    leader_killed 3 Quorum First: "kill -9, and a restart with the same store", incarnations::killed;
    follower_killed 3 Quorum Later: "a follower is killed: the others follow on", incarnations::follower_killed;
    all_killed 3 Quorum Later: "all are killed, all come back", incarnations::all_killed;
    leader_frozen 3 Quorum First: "the leader stands still, then goes on", incarnations::frozen;
    hand_over 3 Quorum Later: "SIGTERM: the leader hands over first", incarnations::hand_over;
    boot_clocks_differ 3 Quorum First: "hosts that were booted years apart, and one that is booted again", clocks::booted_years_apart;
    store_lost 3 Quorum Later: "a node without its store may not vote", incarnations::store_lost;
    diskless_all_killed 3 Diskless First: "no disk: all are killed, so no voter remembers", incarnations::all_killed;
    sides 4 Available First: "available: each side has a leader, then one", sides::sides;
}
