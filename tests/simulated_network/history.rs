//! One history: hosts that run, faults drawn by a seed, a repair, and calm after it.
//!
//! ```text
//!   all start ─▶ fault ─▶ a while ─▶ fault ─▶ .. ─▶ repair ─▶ all agree, in time ─▶ calm
//!                └────────── the invariants are checked after each step ────────────┘
//! ```

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    rc::Rc,
    time::{Duration, SystemTime},
};

use actix_bully::remote::{BridgeCounts, BridgeEvent};
use fastrand::Rng;
use turmoil::{Builder, Sim};

use crate::{
    check::{self, Broken, Watch},
    clock::SimulatedClock,
    faults::{Faults, Hit},
    host::{Host, POLITE, Process},
    kinds::{Fault, Kinds},
    ledger::Ledger,
    member::Member,
    members::Members,
    plan::Plan,
    setting::{NAMES, Setting, Settings},
    wire::{Net, Peaks},
};

/// The outcome of a history.
#[derive(Debug, Default)]
pub struct Tale {
    /// All events, one in each line.
    pub log: String,
    /// Number of times that each thing happened: faults with the role of the agent that they hit, ends of links,
    /// events of bridges.
    pub seen: BTreeMap<String, u64>,
    pub peaks: Peaks,
    /// Time from the repair until all agents agreed.
    pub agreed: Duration,
    pub broken: Option<Broken>,
}

/// Plays the history of a seed with these kinds of faults.
pub fn play(seed: u64, kinds: &Kinds) -> Tale {
    play_with(seed, kinds, |_| {})
}

/// Plays the history of a seed, after `change` has altered the drawn plan.
pub fn play_with(seed: u64, kinds: &Kinds, change: impl FnOnce(&mut Plan)) -> Tale {
    let mut rng = Rng::with_seed(seed);
    let mut plan = Plan::draw(&mut rng, kinds);
    change(&mut plan);
    let setting = Rc::new(Setting {
        net: Net::new(plan.is_silent).with_sentinels(plan.has_sentinels()),
        clock: SimulatedClock::default(),
        plan,
        seed,
        ledger: Ledger::default(),
        worked: Rc::default(),
    });
    let mut sim = Builder::new()
        .rng_seed(seed)
        .epoch(SystemTime::UNIX_EPOCH)
        .tick_duration(TICK)
        .min_message_latency(Duration::from_millis(1))
        .max_message_latency(Duration::from_millis(setting.plan.latency))
        .build();
    let hosts: Vec<_> = (0..setting.plan.hosts)
        .map(|index| Rc::new(Host::new(index, &setting)))
        .collect();
    for host in &hosts {
        let (host, setting) = (Rc::clone(host), Rc::clone(&setting));
        sim.host(host.name(), move || {
            Rc::clone(&host).live(Rc::clone(&setting))
        });
    }
    let mut run = Run {
        faults: Faults::new(Rc::clone(&setting), hosts.clone()),
        members: Members::new(&setting, &hosts),
        hosts,
        happened: Kinds::new(),
        watch: Watch::default(),
        idle: BTreeSet::new(),
        counted: BTreeMap::new(),
        tale: Tale::default(),
        setting,
        sim,
    };
    let first = run.setting.plan.first_voters();
    run.setting.ledger.lists(|lists| lists.begin(first));
    if run.setting.plan.is_diskless {
        run.setting.ledger.expect_no_disks();
    }
    run.note(&format!("{:?}", run.setting.plan));
    let ended = run.whole(&mut rng);
    run.tale.broken = ended.err();
    run.tale.peaks = run.setting.net.peaks();
    run.tale
}

struct Run<'a> {
    setting: Rc<Setting>,
    sim: Sim<'a>,
    hosts: Vec<Rc<Host>>,
    faults: Faults,
    members: Members,
    happened: Kinds,
    watch: Watch,
    /// The hosts on which no agent ran at some time since there are two epochs.
    idle: BTreeSet<String>,
    /// The counts of each incarnation of a bridge when they were read last.
    counted: BTreeMap<(String, u64), BridgeCounts>,
    tale: Tale,
}

impl Run<'_> {
    fn whole(&mut self, rng: &mut Rng) -> Result<(), Broken> {
        self.pass(Duration::from_millis(rng.u64(0..1_500)))?;
        for _ in 0..self.setting.plan.faults {
            self.fault(rng)?;
            let pause = rng.u64(TICK_MS..=self.setting.plan.pause);
            self.pass(Duration::from_millis(pause))?;
        }
        self.take_counts()?;
        self.faults.repair(&mut self.sim, &self.members);
        self.note("repaired");
        self.agree()?;
        let ended = self.ended_links();
        self.pass(REST)?;
        let running = self.running();
        let is_calm = check::in_calm(&self.setting, &running, &self.members).is_ok();
        if self.ended_links() > ended && !(is_calm && self.all_agree(&running)) {
            // A quiet link that the repair left broken was only found during the rest, and the messages on it are
            // lost.
            self.agree()?;
            self.pass(REST)?;
        }
        self.calm()
    }

    fn fault(&mut self, rng: &mut Rng) -> Result<(), Broken> {
        self.take_counts()?;
        let k = rng.usize(..self.hosts.len());
        let name = NAMES[k];
        let Some((fault, member)) = self.faults.draw(rng, k, &self.members) else {
            self.note(&format!("start {name}"));
            self.see("start met no agent".to_owned(), 1);
            self.faults.start(&mut self.sim, k, Settings::default());
            return Ok(());
        };
        let what = fault.name();
        let (hit, met) = match &member {
            Some(member) => (member.id.as_str(), self.met(k, Some(member.index))),
            None => (name, self.met(k, None)),
        };
        self.note(&format!("{what} {hit}"));
        self.see(format!("{what} met {met}"), 1);
        self.happened.insert(fault);
        let (sim, members) = (&mut self.sim, &self.members);
        let hit = Hit { k, member };
        self.faults.happen(sim, rng, &hit, fault, members);
        Ok(())
    }

    /// Returns the role of the agent that is hit: this member on the host, or any agent there.
    fn met(&self, k: usize, member: Option<usize>) -> &'static str {
        let process = self.hosts[k].process.borrow();
        let Some(process) = process.as_ref() else {
            return "no agent";
        };
        let starts = process.starts.borrow();
        let mut hit = starts
            .iter()
            .filter(|start| member.is_none_or(|member| start.member == member));
        if hit.any(|start| start.agent.is_leader()) {
            "leader"
        } else {
            "other"
        }
    }

    /// Lets time pass, and checks the invariants after each step.
    fn pass(&mut self, span: Duration) -> Result<(), Broken> {
        let until = self.sim.elapsed() + span;
        while self.sim.elapsed() < until {
            self.step()?;
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), Broken> {
        let stepped = self.sim.step();
        stepped.map_err(|failed| format!("a host failed: {failed}"))?;
        self.setting.clock.set(self.sim.elapsed());
        self.faults.tend(&mut self.sim);
        let now = self.sim.elapsed();
        for (what, detail) in self.members.tend(now, |k| self.faults.is_ready(k)) {
            self.note(&format!("{what} {detail}"));
            self.see(what.to_owned(), 1);
        }
        for (what, times) in self.setting.ledger.take_counts() {
            self.note(what);
            self.see(what.to_owned(), times);
        }
        self.setting.ledger.check()?;
        let running = self.running();
        if self.setting.plan.changes_voters() || self.happened.contains(&Fault::NextEpoch) {
            let idle = running.iter().filter(|process| !process.has_agents());
            let names = idle.map(|process| NAMES[process.place.host].to_owned());
            self.idle.extend(names);
        }
        let starts = check::starts(&running);
        if self.setting.plan.changes_voters() {
            check::one_list(&starts, &self.setting.ledger)?;
        }
        let worked = self.setting.worked.take();
        let is_quorum = self.setting.plan.is_quorum;
        self.watch
            .forget(self.sim.elapsed(), &starts, &self.setting.plan);
        if let Some(leading) = self.watch.step(&starts, &worked, is_quorum)? {
            self.note(&format!("leading: {leading}"));
        }
        for host in self.hosts.clone() {
            for event in host.told.take() {
                check::harmless(host.name(), &event, &self.happened)?;
                self.note(&format!("{} told {event:?}", host.name()));
                if matches!(event, BridgeEvent::Mismatch { .. }) {
                    self.see("told Mismatch".to_owned(), 1);
                }
            }
        }
        check::bounded(self.setting.net.peaks(), self.hosts.len())
    }

    fn agree(&mut self) -> Result<(), Broken> {
        let (began, most) = (self.sim.elapsed(), self.setting.plan.agreed() + POLITE);
        let (mut linked, mut since) = (None, None::<Duration>);
        loop {
            self.step()?;
            let took = self.sim.elapsed().saturating_sub(began);
            let running = self.running();
            let is_whole = self.faults.all_run()
                && running.len() == self.hosts.len()
                && self.members.all_run();
            if linked.is_none() && is_whole && check::all_linked(&running) {
                linked = Some(took);
                self.note("all are linked");
            }
            // A quiet link that the repair left broken is found when a host uses the link.
            let is_calm = || check::in_calm(&self.setting, &running, &self.members).is_ok();
            let agrees = linked.is_some() && self.all_agree(&running) && is_calm();
            // A leader that has to seal a list still leads while its work ends.
            let is_asked = self.setting.ledger.lists(|lists| lists.are_asked());
            since = since.filter(|_| agrees && !is_asked);
            if agrees && !is_asked {
                let since = *since.get_or_insert(took);
                if took >= since + self.setting.plan.settled().max(self.noticed()) {
                    self.note("all agree");
                    self.tale.agreed = since;
                    return Ok(());
                }
            }
            if linked.is_none() && took > self.setting.plan.reconnected() + POLITE {
                return Err(format!("not linked within {took:?} after the repair"));
            }
            if took > most && since.is_none() {
                self.note_agents(&running);
                for bridge in running.iter().filter_map(|process| process.bridge.as_ref()) {
                    self.note(&format!("{} {:?}", bridge.node(), bridge.counters()));
                }
                let calm = check::in_calm(&self.setting, &running, &self.members);
                let but = calm.err().map(|why| format!(", and {why}"));
                let but = but.unwrap_or_default();
                return Err(format!(
                    "no agreement within {most:?} after the repair{but}"
                ));
            }
        }
    }

    /// Returns the number of links that have ended without a goodbye.
    fn ended_links(&self) -> u64 {
        let bridges = self.running().into_iter().filter_map(|p| p.bridge);
        let counts = bridges.map(|bridge| {
            let counters = bridge.counters();
            let ended = counters
                .iter()
                .filter(|(name, _)| matches!(*name, "lost" | "silent"));
            ended.map(|(_, n)| n).sum::<u64>()
        });
        counts.sum()
    }

    /// Returns the longest time until a leader notices that its host was suspended: until its next heartbeat.
    fn noticed(&self) -> Duration {
        let suspends = [Fault::Suspend, Fault::SuspendAll];
        if suspends.iter().any(|fault| self.happened.contains(fault)) {
            self.setting.plan.heartbeat()
        } else {
            Duration::ZERO
        }
    }

    fn calm(&mut self) -> Result<(), Broken> {
        self.take_counts()?;
        let running = self.running();
        check::in_calm(&self.setting, &running, &self.members)?;
        if !self.all_agree(&running) {
            self.note_agents(&running);
            return Err("they agreed, and agree no more".to_owned());
        }
        let late = self.setting.net.late_reports();
        if late > 0 {
            self.see("rosters of a former process read".to_owned(), late);
        }
        for bridge in running.iter().filter_map(|process| process.bridge.as_ref()) {
            self.note(&format!("{} {:?}", bridge.node(), bridge.traffic()));
        }
        Ok(())
    }

    fn note_agents(&mut self, running: &[Process]) {
        for (_, agent) in check::starts(running) {
            let epoch = agent.voters().map(|voters| voters.epoch);
            let status = agent.current();
            self.note(&format!("{}, epoch {epoch:?}, is {status:?}", agent.id()));
        }
    }

    fn all_agree(&self, running: &[Process]) -> bool {
        let newest = |member: Rc<Member>| {
            let place = member.place()?;
            let process = running.iter().find(|process| process.place == place)?;
            process.agent(member.index)
        };
        let agents: Vec<_> = self.members.iter().filter_map(newest).collect();
        agents.len() == self.setting.plan.agents
            && check::all_agree(&check::starts(running), &agents)
            && (!self.setting.plan.changes_voters()
                || check::all_know(&agents, &self.setting.ledger))
    }

    /// Adds up the counts of the bridges since the last call, and checks that these counts are harmless.
    fn take_counts(&mut self) -> Result<(), Broken> {
        for bridge in self.running().into_iter().filter_map(|p| p.bridge) {
            let counts = bridge.counters();
            let node = bridge.node().to_string();
            let hears = !self.idle.contains(&node);
            check::honest(&node, &counts, &self.happened, &self.setting.plan, hears)?;
            let incarnation = (node, bridge.incarnation().0);
            let before = self.counted.insert(incarnation, counts.clone());
            for (name, n) in counts.iter() {
                let before = before.as_ref().and_then(|before| before.get(name));
                let before = before.unwrap_or(0);
                if n > before {
                    self.see(format!("counted {name}"), n - before);
                }
            }
        }
        Ok(())
    }

    fn running(&self) -> Vec<Process> {
        let process = |host: &Rc<Host>| host.process.borrow().clone();
        self.hosts.iter().filter_map(process).collect()
    }

    fn see(&mut self, what: String, times: u64) {
        *self.tale.seen.entry(what).or_default() += times;
    }

    fn note(&mut self, what: &str) {
        let at = self.sim.elapsed().as_millis();
        // Writing to a text cannot fail.
        writeln!(self.tale.log, "{at:>6} {what}").unwrap_or_default();
    }
}

const TICK_MS: u64 = 5;
const TICK: Duration = Duration::from_millis(TICK_MS);

/// Time to wait after agreement. It is longer than a goodbye may take, and longer than a dial that is no longer
/// needed.
const REST: Duration = Duration::from_millis(1_500);
