//! The faults of the network between hosts.
//!
//! Decided here: a new fault of a pair of hosts replaces the old fault and is never added to it. A host without power
//! is cut off, whatever the state of the network.

use std::collections::{BTreeMap, BTreeSet};

use turmoil::Sim;

use crate::{setting::NAMES, wire::Net};

/// The fault between two hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Way {
    #[default]
    Open,
    /// Nothing arrives in either direction, and nothing comes later.
    Cut,
    /// No packet of the host with this index arrives at the other host.
    CutFrom(usize),
    /// Everything arrives later.
    Held,
}

/// The network between all hosts.
pub(crate) struct Ways {
    net: Net,
    hosts: usize,
    wrong: BTreeMap<(usize, usize), Way>,
    /// The hosts without power, which no other host hears.
    off: BTreeSet<usize>,
}

impl Ways {
    pub(crate) fn new(net: Net, hosts: usize) -> Self {
        Self {
            net,
            hosts,
            wrong: BTreeMap::new(),
            off: BTreeSet::new(),
        }
    }

    pub(crate) fn set(&mut self, sim: &Sim<'_>, k: usize, other: usize, way: Way) {
        self.wrong.insert((k.min(other), k.max(other)), way);
        self.apply(sim, k, other);
    }

    /// Cuts a host off from all others, as a pulled cable does. With `is_deaf`, only the packets to the host are
    /// lost.
    pub(crate) fn isolate(&mut self, sim: &Sim<'_>, k: usize, is_deaf: bool) {
        for other in (0..self.hosts).filter(|other| *other != k) {
            let way = if is_deaf {
                Way::CutFrom(other)
            } else {
                Way::Cut
            };
            self.set(sim, k, other, way);
        }
    }

    pub(crate) fn mend_all(&mut self, sim: &Sim<'_>) {
        for (k, other) in std::mem::take(&mut self.wrong).into_keys() {
            self.apply(sim, k, other);
        }
    }

    /// Sets whether a host has power.
    pub(crate) fn set_off(&mut self, sim: &Sim<'_>, k: usize, is_off: bool) {
        if is_off {
            self.off.insert(k);
        } else {
            self.off.remove(&k);
        }
        for other in (0..self.hosts).filter(|other| *other != k) {
            self.apply(sim, k, other);
        }
    }

    /// Brings the simulated network between two hosts into the required state.
    fn apply(&self, sim: &Sim<'_>, k: usize, other: usize) {
        let (a, b) = (NAMES[k], NAMES[other]);
        let net = &self.net;
        let way = self.wrong.get(&(k.min(other), k.max(other)));
        let way = if self.off.contains(&k) || self.off.contains(&other) {
            Way::Cut
        } else {
            way.copied().unwrap_or_default()
        };
        sim.release(a, b);
        net.mend(a, b);
        match way {
            Way::Open => {}
            Way::Held => sim.hold(a, b),
            Way::Cut => {
                sim.partition(a, b);
                net.lose(a, b);
                net.lose(b, a);
            }
            Way::CutFrom(from) => {
                let (from, to) = if from == k { (a, b) } else { (b, a) };
                sim.partition_oneway(from, to);
                net.lose(from, to);
            }
        }
    }
}
