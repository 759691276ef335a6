//! What can happen to hosts and to the network between them.
//!
//! Decided here: how each fault is done to the simulation, and that a repair undoes all of them.
//! What a pair of hosts suffers is replaced by what comes next, never added to it.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use actix_bully::{agent::Inject, remote::Crash};
use fastrand::Rng;
use turmoil::Sim;

use crate::{
    host::{Host, Setting},
    wire::Pace,
};

/// What can happen to a host that runs, by the names in a log.
pub(crate) const FAULTS: [&str; 14] = [
    "cut",
    "cut-one-way",
    "hold",
    "mend",
    "isolate",
    "deafen",
    "mend-all",
    "power-off",
    "kill",
    "bounce",
    "slow-reader",
    "crash-bridge",
    "crash-agent",
    "leave",
];

/// What is wrong between two hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Way {
    #[default]
    Open,
    /// Nothing arrives, in either direction, and nothing comes later.
    Cut,
    /// Nothing arrives from the one of this place at the other.
    CutFrom(usize),
    /// Everything arrives later.
    Held,
}

/// How a host is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Down {
    /// Its process ended; the host closes its connections, and refuses new ones.
    Killed,
    /// Nobody hears from it.
    Off,
}

/// The hosts, and all that is broken.
pub(crate) struct Faults {
    setting: Rc<Setting>,
    hosts: Vec<Rc<Host>>,
    ways: BTreeMap<(usize, usize), Way>,
    down: BTreeMap<usize, Down>,
    /// Who was asked to leave.
    leaving: BTreeSet<usize>,
}

impl Faults {
    pub(crate) fn new(setting: Rc<Setting>, hosts: Vec<Rc<Host>>) -> Self {
        Self {
            setting,
            hosts,
            ways: BTreeMap::new(),
            down: BTreeMap::new(),
            leaving: BTreeSet::new(),
        }
    }

    /// Whether all processes run.
    pub(crate) fn all_run(&self) -> bool {
        self.down.is_empty()
    }

    /// Does something that the seed draws, to the host `k` above all; says what.
    pub(crate) fn draw(&mut self, sim: &mut Sim<'_>, rng: &mut Rng, k: usize) -> &'static str {
        let other = (k + rng.usize(1..self.hosts.len())) % self.hosts.len();
        if self.down.contains_key(&k) {
            self.start(sim, k);
            return "start";
        }
        match rng.u8(..15) {
            0 => self.set_way(sim, k, other, Way::Cut, "cut"),
            1 | 2 => self.set_way(sim, k, other, Way::CutFrom(k), "cut-one-way"),
            3 => self.set_way(sim, k, other, Way::Held, "hold"),
            4 => self.set_way(sim, k, other, Way::Open, "mend"),
            5 => self.isolate(sim, k, rng.bool()),
            6 => {
                self.mend_all(sim);
                "mend-all"
            }
            7 => self.end(sim, k, Down::Off),
            8 => self.end(sim, k, Down::Killed),
            9 => {
                self.end(sim, k, Down::Killed);
                self.start(sim, k);
                "bounce"
            }
            10 | 11 => self.slow(rng, k),
            12 => self.crash(k, "crash-bridge"),
            13 => self.crash(k, "crash-agent"),
            _ => self.leave(k),
        }
    }

    /// Ends the processes that have left.
    pub(crate) fn bury(&mut self, sim: &mut Sim<'_>) {
        for k in self.leaving.clone() {
            if self.hosts[k].has_left.get() {
                self.end(sim, k, Down::Killed);
            }
        }
    }

    /// Ends all that is wrong, and starts whoever is down.
    pub(crate) fn repair(&mut self, sim: &mut Sim<'_>) {
        self.mend_all(sim);
        for k in std::mem::take(&mut self.leaving) {
            self.end(sim, k, Down::Killed);
        }
        while let Some(k) = self.down.keys().next().copied() {
            self.start(sim, k);
        }
        for host in &self.hosts {
            self.setting.net.set_pace(host.name(), None);
        }
    }

    fn set_way(
        &mut self,
        sim: &Sim<'_>,
        k: usize,
        other: usize,
        way: Way,
        what: &'static str,
    ) -> &'static str {
        self.ways.insert((k.min(other), k.max(other)), way);
        self.apply(sim, k, other);
        what
    }

    /// From all others: as a cut cable does, or with its own words alone lost.
    fn isolate(&mut self, sim: &Sim<'_>, k: usize, is_deaf: bool) -> &'static str {
        for other in (0..self.hosts.len()).filter(|other| *other != k) {
            let way = if is_deaf {
                Way::CutFrom(other)
            } else {
                Way::Cut
            };
            self.set_way(sim, k, other, way, "");
        }
        if is_deaf { "deafen" } else { "isolate" }
    }

    fn mend_all(&mut self, sim: &Sim<'_>) {
        for (k, other) in std::mem::take(&mut self.ways).into_keys() {
            self.apply(sim, k, other);
        }
    }

    fn end(&mut self, sim: &mut Sim<'_>, k: usize, down: Down) -> &'static str {
        let name = self.hosts[k].name();
        self.down.insert(k, down);
        self.leaving.remove(&k);
        self.hosts[k].has_left.set(false);
        if down == Down::Off {
            self.apply_all(sim, k); // before its sockets are closed: nobody hears that either
        } else {
            self.setting.net.set_ended(name, true);
        }
        self.hosts[k].process.replace(None);
        sim.crash(name);
        if down == Down::Off {
            "power-off"
        } else {
            "kill"
        }
    }

    fn start(&mut self, sim: &mut Sim<'_>, k: usize) {
        let name = self.hosts[k].name();
        self.down.remove(&k);
        self.setting.net.set_ended(name, false);
        self.apply_all(sim, k);
        sim.bounce(name);
    }

    fn slow(&self, rng: &mut Rng, k: usize) -> &'static str {
        let (bytes, pause) = [(1, 200), (8, 50), (32, 50)][rng.usize(..3)];
        let pace = Some(Pace { bytes, pause });
        self.setting.net.set_pace(self.hosts[k].name(), pace);
        "slow-reader"
    }

    /// It takes a while; until then other things may happen to it.
    fn leave(&mut self, k: usize) -> &'static str {
        self.hosts[k].ask_to_leave();
        self.leaving.insert(k);
        "leave"
    }

    fn crash(&self, k: usize, what: &'static str) -> &'static str {
        if let Some(process) = &*self.hosts[k].process.borrow() {
            if what == "crash-bridge" {
                process.bridge.addr().do_send(Crash);
            } else {
                process.agent.addr().do_send(Inject::Crash);
            }
        }
        what
    }

    fn apply_all(&self, sim: &Sim<'_>, k: usize) {
        for other in (0..self.hosts.len()).filter(|other| *other != k) {
            self.apply(sim, k, other);
        }
    }

    /// Makes the network between two hosts what it has to be.
    fn apply(&self, sim: &Sim<'_>, k: usize, other: usize) {
        let (a, b) = (self.hosts[k].name(), self.hosts[other].name());
        let net = &self.setting.net;
        let is_off = |k: usize| self.down.get(&k) == Some(&Down::Off);
        let way = self.ways.get(&(k.min(other), k.max(other)));
        let way = if is_off(k) || is_off(other) {
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
