//! Faults of years on a group, in minutes: nodes are restarted, killed, stopped, frozen and cut off, in an order that a
//! seed draws. The network loses packets all the time. `tests/simulated_network` draws changes of the voters too.
//!
//! Decided here: the operations, and the properties after them. At any moment at most one node leads. Terms increase
//! over all restarts. After healing, every node follows one leader.

use std::{
    collections::BTreeMap,
    path::Path,
    time::{Duration, Instant},
};

use fastrand::Rng;

use crate::{
    Wrong,
    cluster::Setting,
    net::{Hosts, Net},
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
    let mut group = Operated {
        cluster: Hosts::start(node, Net::up(setting.hosts)?, setting)?,
        random: Rng::with_seed(seed),
        counts: BTreeMap::new(),
    };
    group.live(seconds).map_err(|wrong| {
        let kept = group.cluster.keep();
        let place = kept.map_or_else(|wrong| wrong.to_string(), |path| path.display().to_string());
        Wrong(format!("{wrong} (the lines of the nodes: {place})"))
    })?;
    let counts = group.counts.iter().map(|(what, n)| format!("{what} {n}"));
    Ok(format!(
        "{}, {} leaderships, never two at once",
        counts.collect::<Vec<_>>().join(", "),
        group.cluster.beliefs().len(),
    ))
}

/// The group, and the number of operations of each kind until now.
struct Operated {
    cluster: Hosts,
    random: Rng,
    counts: BTreeMap<&'static str, u64>,
}

impl Operated {
    /// Operates for `seconds`.
    fn live(&mut self, seconds: u64) -> Result<(), Wrong> {
        self.wire()?;
        let until = Instant::now() + Duration::from_secs(seconds);
        let mut operations = 0_u64;
        while Instant::now() < until {
            operations += 1;
            self.operate()?;
            let pause = Duration::from_millis(self.random.u64(..1_200));
            self.cluster.log.wait(pause, |_| None::<()>);
            if operations.is_multiple_of(ROUND) {
                self.settle()?;
            }
        }
        self.settle()
    }

    fn operate(&mut self) -> Result<(), Wrong> {
        let running = self.cluster.running();
        let Some(&host) = self.random.choice(&running) else {
            return self.mend(); // all nodes are down or frozen
        };
        let others = self.cluster.others(host);
        let other = others[self.random.usize(..others.len())];
        let cluster = &mut self.cluster;
        let what = match self.random.u8(..8) {
            0 => cluster.isolate(host).map(|()| "isolated"),
            1 => cluster.net.cut_one_way(host, other).map(|()| "cut one way"),
            2 => {
                let rest: Vec<_> = others.into_iter().filter(|one| *one != other).collect();
                cluster.split(&[host, other], &rest).map(|()| "split")
            }
            3 => cluster.net.plug(host, false).map(|()| "unplugged"),
            4 => cluster.freeze(host).map(|()| "frozen"),
            5 => cluster.kill(host).map(|()| "killed"),
            6 => cluster.stop(host).map(|()| "stopped"),
            _ => {
                cluster.stop(host)?;
                cluster.restart(host).map(|()| "restarted")
            }
        };
        *self.counts.entry(what?).or_default() += 1;
        Ok(())
    }

    /// Heals the network, brings every node back, and checks the group.
    fn settle(&mut self) -> Result<(), Wrong> {
        self.mend()?;
        self.cluster.agree()?;
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
