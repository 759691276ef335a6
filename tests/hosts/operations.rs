//! The operations of years on a group, in minutes: nodes are restarted, killed, stopped, frozen and cut off, the voters
//! change, and hosts are lost, in an order that a seed draws. The network loses packets all the time.
//!
//! Decided here: the operations, and the properties after them. At any moment at most one node leads. Terms increase
//! over all restarts and changes of the voters. Each epoch has one list. After healing, every node follows one leader,
//! and knows the voters that the commands asked for.

use std::{
    collections::BTreeMap,
    path::Path,
    time::{Duration, Instant},
};

use crate::{
    Wrong,
    cluster::{Setting, name},
    net::{Hosts, Net},
    voters::Electorate,
};

/// Share of all packets that is lost, in percent.
const LOSS: u32 = 2;
/// Number of operations before all is healed and checked.
const ROUND: u64 = 8;

/// Operates five hosts for `seconds`. Returns a summary.
///
/// # Errors
/// The promise that was broken, or a step that failed.
pub(crate) fn run(node: &Path, seconds: u64, seed: u64) -> Result<String, Wrong> {
    let setting = Setting {
        hosts: 5,
        quorum: true,
        diskless: false,
        timings: "default",
        preempt: 1_000,
    };
    let cluster = Hosts::start(node, Net::up(setting.hosts)?, setting)?;
    let mut group = Operated {
        cluster,
        random: Random(seed),
        counts: BTreeMap::new(),
        voters: voters(setting.hosts),
    };
    let operations = group.live(seconds).map_err(|wrong| {
        let kept = group.cluster.keep();
        let place = kept.map_or_else(|wrong| wrong.to_string(), |path| path.display().to_string());
        Wrong(format!("{wrong} (the lines of the nodes: {place})"))
    })?;
    Ok(format!(
        "{operations} operations ({}; questions for voters: {}), {} leaderships, never two at once",
        shown(&group.counts),
        shown(&group.voters.counts),
        group.cluster.beliefs().len(),
    ))
}

/// Returns the first voters: all hosts, with their first names.
fn voters(hosts: usize) -> Electorate {
    Electorate::new((0..hosts).map(name))
}

fn shown(counts: &BTreeMap<&'static str, u64>) -> String {
    let counts: Vec<_> = counts
        .iter()
        .map(|(what, n)| format!("{what} {n}"))
        .collect();
    counts.join(", ")
}

/// The group, and the operations on it until now.
struct Operated {
    cluster: Hosts,
    random: Random,
    counts: BTreeMap<&'static str, u64>,
    voters: Electorate,
}

impl Operated {
    /// Operates for `seconds`. Returns the number of operations.
    fn live(&mut self, seconds: u64) -> Result<u64, Wrong> {
        self.wire()?;
        let until = Instant::now() + Duration::from_secs(seconds);
        let mut operations = 0_u64;
        while Instant::now() < until {
            operations += 1;
            self.operate()?;
            let pause = Duration::from_millis(self.random.below(1_200));
            self.cluster.log.wait(pause, |_| None::<()>);
            if operations.is_multiple_of(ROUND) {
                self.settle()?;
            }
        }
        self.settle()?;
        Ok(operations)
    }

    fn operate(&mut self) -> Result<(), Wrong> {
        let running = self.cluster.running();
        let Some(&host) = running.get(self.random.up_to(running.len())) else {
            return self.mend(); // all nodes are down or frozen
        };
        let others = self.cluster.others(host);
        let other = others[self.random.up_to(others.len())];
        let voters = &mut self.voters;
        let changed = match self.random.below(10) {
            0 | 1 => voters.change(&mut self.cluster, &mut self.random)?,
            2 => voters.lose(&mut self.cluster, &mut self.random, host)?,
            _ => None,
        };
        if let Some(what) = changed {
            self.count(what);
            return Ok(());
        }
        let what = match self.random.below(8) {
            0 => {
                self.cluster.isolate(host)?;
                "isolated"
            }
            1 => {
                self.cluster.net.cut_one_way(host, other)?;
                "cut one way"
            }
            2 => {
                let rest: Vec<_> = others.into_iter().filter(|one| *one != other).collect();
                self.cluster.split(&[host, other], &rest)?;
                "split"
            }
            3 => {
                self.cluster.net.plug(host, false)?;
                "unplugged"
            }
            4 => {
                self.cluster.freeze(host)?;
                "frozen"
            }
            5 => {
                self.cluster.kill(host)?;
                "killed"
            }
            6 => {
                self.cluster.stop(host)?;
                "stopped"
            }
            _ => {
                self.cluster.stop(host)?;
                self.cluster.restart(host)?;
                "restarted"
            }
        };
        self.count(what);
        Ok(())
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// Heals the network, brings every node back, and checks the group.
    fn settle(&mut self) -> Result<(), Wrong> {
        self.mend()?;
        // A new host has no links before the change that adds it.
        self.voters.settle(&mut self.cluster)?;
        let linked = self.voters.linked(&mut self.cluster);
        self.cluster.agree_among(&linked)?;
        self.cluster.verdict()
    }

    /// Heals the network, and brings every host back.
    fn mend(&mut self) -> Result<(), Wrong> {
        self.cluster.net.heal()?;
        self.wire()?;
        for host in self.cluster.all() {
            self.cluster.revive(host)?;
        }
        Ok(())
    }

    /// Sets the loss that the network always has.
    fn wire(&self) -> Result<(), Wrong> {
        let hosts = self.cluster.all();
        for (from, to) in hosts
            .iter()
            .flat_map(|a| hosts.iter().map(move |b| (*a, *b)))
        {
            if from != to {
                self.cluster.net.lose(from, to, LOSS)?;
            }
        }
        Ok(())
    }
}

/// `SplitMix64`: the same seed draws the same faults.
pub(crate) struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }

    /// Returns a random index into a list of length `len`; 0 if the list is empty.
    pub(crate) fn up_to(&mut self, len: usize) -> usize {
        let limit = u64::try_from(len).unwrap_or(1).max(1);
        usize::try_from(self.below(limit)).unwrap_or(0)
    }
}
