//! The faults of hosts, of the agents on them, and of the network between them.
//!
//! Decided here: how the simulation carries out each fault, and that a repair ends all of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
    time::Duration,
};

use actix_bully::testkit::{CrashBridge, Inject};
use fastrand::Rng;
use turmoil::Sim;

use crate::{
    freeze::Frozen,
    host::{Host, Order, Process},
    kinds::Fault,
    member::Member,
    members::Members,
    plan::Speed,
    setting::{Setting, Settings, agent_of},
    ways::{Way, Ways},
    wire::Pace,
};

/// The way in which a host is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Down {
    /// The process has ended. The host closes its connections and refuses new ones.
    Killed,
    /// The host has no power, and no other host hears from it.
    Off,
}

/// The target of a fault: a host, and an agent that runs there.
pub(crate) struct Hit {
    pub(crate) k: usize,
    pub(crate) member: Option<Rc<Member>>,
}

/// The hosts, and all faults that last.
pub(crate) struct Faults {
    pub(crate) setting: Rc<Setting>,
    pub(crate) hosts: Vec<Rc<Host>>,
    ways: Ways,
    down: BTreeMap<usize, Down>,
    /// The hosts whose processes were asked to leave.
    leaving: BTreeSet<usize>,
    pub(crate) frozen: BTreeMap<usize, Frozen>,
    /// The latest epoch of the configured voters.
    epoch: u64,
}

impl Faults {
    pub(crate) fn new(setting: Rc<Setting>, hosts: Vec<Rc<Host>>) -> Self {
        Self {
            ways: Ways::new(setting.net.clone(), hosts.len()),
            setting,
            hosts,
            down: BTreeMap::new(),
            leaving: BTreeSet::new(),
            frozen: BTreeMap::new(),
            epoch: 0,
        }
    }

    /// Whether the processes of all hosts run.
    pub(crate) fn all_run(&self) -> bool {
        self.down.is_empty()
    }

    /// Whether a host can be ordered to start an agent.
    pub(crate) fn is_ready(&self, k: usize) -> bool {
        !self.down.contains_key(&k) && !self.leaving.contains(&k) && !self.frozen.contains_key(&k)
    }

    /// Draws a fault for the host `k` or for an agent there. Returns `None` for a host that is down, which starts
    /// instead.
    pub(crate) fn draw(
        &self,
        rng: &mut Rng,
        k: usize,
        members: &Members,
    ) -> Option<(Fault, Option<Rc<Member>>)> {
        if self.down.contains_key(&k) {
            return None;
        }
        let plan = &self.setting.plan;
        let member = members.running_on(k, rng);
        let is_lone = members.at_home(k).count() <= 1;
        let can = |fault: &Fault| {
            fault.fits(plan)
                && (!fault.needs_an_agent() || member.is_some())
                && (*fault != Fault::OtherVoters || is_lone)
        };
        let kinds: Vec<_> = plan.kinds.iter().copied().filter(can).collect();
        let all: u32 = kinds.iter().map(|fault| fault.weight()).sum();
        let mut at = rng.u32(..all.max(1));
        let fault = kinds.into_iter().find(|fault| {
            let is_it = at < fault.weight();
            at = at.saturating_sub(fault.weight());
            is_it
        });
        let fault = fault.unwrap_or(Fault::MendAll);
        Some((fault, member.filter(|_| fault.needs_an_agent())))
    }

    /// Carries out the fault.
    pub(crate) fn happen(
        &mut self,
        sim: &mut Sim<'_>,
        rng: &mut Rng,
        hit: &Hit,
        fault: Fault,
        members: &Members,
    ) {
        let k = hit.k;
        let other = match self.hosts.len() {
            1 => k,
            n => (k + rng.usize(1..n)) % n,
        };
        match fault {
            Fault::Cut => self.ways.set(sim, k, other, Way::Cut),
            Fault::CutOneWay => self.ways.set(sim, k, other, Way::CutFrom(k)),
            Fault::Hold => self.ways.set(sim, k, other, Way::Held),
            Fault::Mend => self.ways.set(sim, k, other, Way::Open),
            Fault::Isolate => self.ways.isolate(sim, k, false),
            Fault::Deafen => self.ways.isolate(sim, k, true),
            Fault::MendAll => self.ways.mend_all(sim),
            Fault::SlowReader => self.slow(rng, k),
            Fault::LateRosters => self.late_rosters(sim, rng, (k, other), members),
            Fault::Silence => self.silence(sim, rng, hit),
            Fault::PowerOff => self.end(sim, k, Down::Off),
            Fault::Kill => self.end(sim, k, Down::Killed),
            Fault::Bounce => self.bounce(sim, k, Settings::default()),
            Fault::CrashBridge => self.crash_bridge(k),
            Fault::Leave => self.leave(k),
            Fault::Pause => self.freeze(sim, k, rng.u64(50..=2_500), 0),
            Fault::Suspend => self.freeze(sim, k, rng.u64(1_150..=2_500), rng.u64(1..=60_000)),
            Fault::SuspendAll => {
                let span = Duration::from_millis(rng.u64(100..=60_000));
                self.hosts.iter().for_each(|host| host.clock.suspend(span));
            }
            Fault::WallAhead | Fault::WallBack | Fault::OtherVoters | Fault::NextEpoch => {
                self.reconfigure(sim, k, fault);
            }
            Fault::MoveFromDead => {
                let down = [Down::Off, Down::Killed][rng.usize(..2)];
                self.end(sim, k, down);
                members.at_home(k).for_each(|member| member.home.set(other));
            }
            Fault::CrashAgent
            | Fault::RestartAgent
            | Fault::HandOver
            | Fault::Hang
            | Fault::Move
            | Fault::MoveUnseen
            | Fault::FreshMemory
            | Fault::Retime => {
                if let Some(member) = &hit.member {
                    self.agent(sim, rng, (member, other), fault);
                }
            }
            Fault::ChangeVoters => self.change_voters(sim, rng, hit, members),
            Fault::KillSentinel => self.setting.net.kill_sentinel(self.hosts[k].name()),
            Fault::ForgeNotice => self.forge(sim, rng, k, other),
            Fault::Outage => self.outage(sim, rng, k),
        }
    }

    /// Restarts a process with another configuration or another wall clock.
    fn reconfigure(&mut self, sim: &mut Sim<'_>, k: usize, fault: Fault) {
        let is_diskless = self.setting.plan.is_diskless;
        let is_even = sim.elapsed().as_millis() % 2 == 0;
        let is_near = is_diskless && (is_even || self.is_majority_ahead_with(k));
        let wanted = match fault {
            // A peer accepts the terms of a clock that is a little ahead, and refuses the terms of a clock that is
            // years ahead.
            Fault::WallAhead if is_near => Settings::of_wall(STEP),
            Fault::WallBack if is_near => Settings::of_wall(-STEP),
            Fault::WallAhead => Settings::of_wall(10 * YEAR),
            Fault::WallBack => Settings::of_wall(-HOUR),
            Fault::OtherVoters => Settings {
                has_other_voters: true,
                ..Settings::default()
            },
            _ => {
                self.epoch += 1;
                Settings::default()
            }
        };
        self.bounce(sim, k, wanted);
    }

    /// Whether a majority of the clocks would be years ahead, the clock of `k` included. Then voters without disks
    /// would elect by these clocks, and a voter that remembers such terms would be out of the group until its
    /// restart. No promise would be broken, but every such history would end there.
    fn is_majority_ahead_with(&self, k: usize) -> bool {
        let is_ahead = |at: usize| self.process(at).is_some_and(|p| p.settings.wall > STEP);
        let ahead = (0..self.hosts.len()).filter(|at| *at == k || is_ahead(*at));
        2 * ahead.count() > self.hosts.len()
    }

    /// Carries out the fault of one agent.
    fn agent(
        &mut self,
        sim: &Sim<'_>,
        rng: &mut Rng,
        (member, other): (&Member, usize),
        fault: Fault,
    ) {
        let place = member.place();
        let Some(process) = place.and_then(|place| self.process(place.host)) else {
            return;
        };
        match fault {
            Fault::CrashAgent => {
                if let Some(agent) = process.agent(member.index) {
                    agent.addr().do_send(Inject::Crash);
                }
                return;
            }
            Fault::HandOver => return process.order(Order::StepDown(member.index)),
            Fault::Hang => {
                let span = Duration::from_millis(rng.u64(200..=4_000));
                member.leaves();
                return process.order(Order::Hang(member.index, span));
            }
            Fault::MoveUnseen => self.ways.isolate(sim, process.place.host, false),
            Fault::FreshMemory => member.is_forgetful.set(true),
            Fault::Retime => member.speed.set(match member.speed.get() {
                Speed::Usual => Speed::other(&self.setting.plan),
                Speed::Brisk | Speed::Lan => Speed::Usual,
            }),
            _ => {}
        }
        if matches!(fault, Fault::Move | Fault::MoveUnseen) {
            member.home.set(other);
        }
        member.leaves();
        process.order(Order::Leave(member.index));
    }

    /// Delays the reports of the host `k` to the host `to`, and changes `k` meanwhile.
    fn late_rosters(
        &mut self,
        sim: &mut Sim<'_>,
        rng: &mut Rng,
        (k, to): (usize, usize),
        members: &Members,
    ) {
        let late = Duration::from_millis(rng.u64(100..=1_500));
        let (from, to_name) = (self.hosts[k].name(), self.hosts[to].name());
        self.setting.net.delay(from, to_name, sim.elapsed() + late);
        match members.running_on(k, rng) {
            Some(member) if rng.bool() => {
                let mut fault =
                    [Fault::CrashAgent, Fault::Move, Fault::RestartAgent][rng.usize(..3)];
                if !Fault::Move.fits(&self.setting.plan) {
                    fault = Fault::RestartAgent;
                }
                self.agent(sim, rng, (&member, to), fault);
            }
            _ => self.bounce(sim, k, Settings::default()),
        }
    }

    /// Stops the messages between an agent and one of its neighbours in the same process.
    fn silence(&self, sim: &Sim<'_>, rng: &mut Rng, hit: &Hit) {
        let Some(member) = &hit.member else {
            return;
        };
        let agents = self.setting.plan.agents;
        let other = (member.index + rng.usize(1..agents)) % agents;
        let until = sim.elapsed() + Duration::from_millis(rng.u64(200..=3_000));
        let ledger = &self.setting.ledger;
        ledger.silence(&member.id, &agent_of(other), until);
    }

    /// Ends the processes that have left, and resumes the processes whose pause is over.
    pub(crate) fn tend(&mut self, sim: &mut Sim<'_>) {
        for k in self.leaving.clone() {
            if self.hosts[k].has_left.get() {
                self.end(sim, k, Down::Killed);
            }
        }
        let due = |frozen: &Frozen| frozen.until <= sim.elapsed();
        let due: Vec<_> = self.frozen.iter().filter(|(_, f)| due(f)).collect();
        for k in due.into_iter().map(|(k, _)| *k).collect::<Vec<_>>() {
            self.thaw(sim, k);
        }
    }

    /// Ends all faults, and starts every host that is down.
    pub(crate) fn repair(&mut self, sim: &mut Sim<'_>, members: &Members) {
        self.ways.mend_all(sim);
        self.setting.net.hurry();
        self.setting.ledger.end_silence();
        for k in 0..self.hosts.len() {
            self.thaw(sim, k);
            self.setting.net.set_pace(self.hosts[k].name(), None);
        }
        for k in std::mem::take(&mut self.leaving) {
            self.end(sim, k, Down::Killed);
        }
        let right = self.settings(Settings::default());
        for k in 0..self.hosts.len() {
            if self.down.contains_key(&k) {
                self.start(sim, k, Settings::default());
            } else if self.process(k).is_none_or(|p| p.settings != right) {
                self.bounce(sim, k, Settings::default());
            }
        }
        for member in members.iter() {
            if member.speed.get() == Speed::Lan {
                member.speed.set(Speed::Usual);
                let process = member.place().and_then(|place| self.process(place.host));
                if let Some(process) = process {
                    member.leaves();
                    process.order(Order::Leave(member.index));
                }
            }
        }
    }

    /// Returns the settings with which a process begins now.
    fn settings(&self, wanted: Settings) -> Settings {
        let epoch = self.epoch;
        Settings { epoch, ..wanted }
    }

    pub(crate) fn process(&self, k: usize) -> Option<Process> {
        self.hosts[k].process.borrow().clone()
    }

    fn bounce(&mut self, sim: &mut Sim<'_>, k: usize, settings: Settings) {
        self.end(sim, k, Down::Killed);
        self.start(sim, k, settings);
    }

    pub(crate) fn end(&mut self, sim: &mut Sim<'_>, k: usize, down: Down) {
        let name = self.hosts[k].name();
        self.thaw(sim, k);
        self.down.insert(k, down);
        self.leaving.remove(&k);
        self.hosts[k].has_left.set(false);
        if down == Down::Off {
            self.ways.set_off(sim, k, true); // before its sockets are closed: no other hears that either
            self.setting.net.end_sentinel(name);
        } else {
            self.setting.net.set_ended(name, true);
            self.tell_end(sim, k);
        }
        self.hosts[k].process.replace(None);
        sim.crash(name);
    }

    /// Starts a process on a host that is down, with these settings as its only fault.
    pub(crate) fn start(&mut self, sim: &mut Sim<'_>, k: usize, wanted: Settings) {
        let name = self.hosts[k].name();
        self.down.remove(&k);
        self.setting.net.set_ended(name, false);
        self.ways.set_off(sim, k, false);
        self.hosts[k].next.set(self.settings(wanted));
        sim.bounce(name);
    }

    /// Ends several processes at once, among them the process of `k`. Most of them start again.
    fn outage(&mut self, sim: &mut Sim<'_>, rng: &mut Rng, k: usize) {
        let is_of_all = rng.u8(..3) == 0;
        for host in 0..self.hosts.len() {
            let is_hit = host == k || is_of_all || rng.u8(..3) == 0;
            if !is_hit || self.down.contains_key(&host) {
                continue;
            }
            match rng.u8(..6) {
                0 => self.end(sim, host, Down::Off),
                1 => self.end(sim, host, Down::Killed),
                _ => self.bounce(sim, host, Settings::default()),
            }
        }
    }

    fn slow(&self, rng: &mut Rng, k: usize) {
        let (bytes, pause) = [(1, 200), (8, 50), (32, 50)][rng.usize(..3)];
        let pace = Some(Pace { bytes, pause });
        self.setting.net.set_pace(self.hosts[k].name(), pace);
    }

    /// Orders a process to leave. Leaving takes a while, and other faults may hit the process meanwhile.
    fn leave(&mut self, k: usize) {
        if let Some(process) = self.process(k) {
            process.order(Order::End);
            self.leaving.insert(k);
        }
    }

    fn crash_bridge(&self, k: usize) {
        if let Some(bridge) = self.process(k).and_then(|process| process.bridge) {
            bridge.addr().do_send(CrashBridge);
        }
    }
}

impl Settings {
    fn of_wall(wall: i64) -> Self {
        Self {
            wall,
            ..Self::default()
        }
    }
}

const STEP: i64 = 3_000;
const HOUR: i64 = 3_600_000;
const YEAR: i64 = 365 * 24 * HOUR;
