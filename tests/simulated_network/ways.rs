//! What is wrong with the network between hosts.
//!
//! Decided here: that what a pair of hosts suffers is replaced by what comes next, never added to
//! it, and that a host without power is cut off whatever the network is like.

use std::collections::{BTreeMap, BTreeSet};

use turmoil::Sim;

use crate::{setting::NAMES, wire::Net};

/// What is wrong between two hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Way {
    #[default]
    Open,
    /// Nothing arrives, in either direction, and nothing comes later.
    Cut,
    /// Nothing arrives from the one of this place at the other.
    CutFrom(usize),
    /// Everything arrives later.
    Held,
}

/// The network between so many hosts.
pub(crate) struct Ways {
    net: Net,
    hosts: usize,
    wrong: BTreeMap<(usize, usize), Way>,
    /// No other hears from them.
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

    /// From all others: as a cut cable does, or with its own words alone lost.
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

    /// Whether a host has power.
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

    /// Makes the network between two hosts what it has to be.
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
