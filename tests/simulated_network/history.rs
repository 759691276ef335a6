//! One history: hosts that run, faults drawn by a seed, a repair, and rest.
//!
//! ```text
//!   all start ─▶ fault ─▶ a while ─▶ fault ─▶ .. ─▶ repair ─▶ all agree, in time ─▶ rest
//!                └────────── what must hold is checked after each step ─────────────┘
//! ```

use std::{
    collections::BTreeMap,
    fmt::Write,
    rc::Rc,
    time::{Duration, SystemTime},
};

use actix_bully::remote::Counts;
use fastrand::Rng;
use turmoil::{Builder, Sim};

use crate::{
    check::{self, Broken, Watch},
    clock::SimulatedClock,
    faults::Faults,
    host::{Host, NAMES, Process, Setting},
    plan::Plan,
    wire::{Net, Peaks},
};

/// What a history leaves behind.
#[derive(Debug, Default)]
pub struct Tale {
    /// Everything that happened, a line each.
    pub log: String,
    /// How often each thing happened: faults, by whom they met; ends of links; news of bridges.
    pub seen: BTreeMap<String, u64>,
    /// The largest numbers.
    pub peaks: Peaks,
    /// How long agreement took after the repair.
    pub agreed: Duration,
    /// What was broken, if anything was.
    pub broken: Option<Broken>,
}

/// Plays the history of a seed.
#[must_use]
pub fn play(seed: u64) -> Tale {
    play_with(seed, |_| {})
}

/// Plays the history of a seed with other settings than it draws.
#[must_use]
pub fn play_with(seed: u64, change: impl FnOnce(&mut Plan)) -> Tale {
    let mut rng = Rng::with_seed(seed);
    let mut plan = Plan::draw(&mut rng);
    change(&mut plan);
    let setting = Rc::new(Setting {
        net: Net::new(plan.is_silent),
        clock: SimulatedClock::default(),
        plan,
        seed,
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
        hosts,
        watch: Watch::default(),
        counted: BTreeMap::new(),
        tale: Tale::default(),
        setting,
        sim,
    };
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
    watch: Watch,
    /// What each life of a bridge had counted when it was asked last.
    counted: BTreeMap<(String, u64), Counts>,
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
        self.faults.repair(&mut self.sim);
        self.note("repaired");
        self.agree()?;
        self.pass(REST)?;
        self.rest()
    }

    fn fault(&mut self, rng: &mut Rng) -> Result<(), Broken> {
        self.take_counts()?;
        let k = rng.usize(..self.hosts.len());
        let process = self.hosts[k].process.borrow().clone();
        let met = match process {
            Some(process) if process.agent.is_leader() => "leader",
            Some(_) => "other",
            None => "nobody",
        };
        let what = self.faults.draw(&mut self.sim, rng, k);
        let name = NAMES[k];
        self.note(&format!("{what} {name}"));
        self.see(format!("{what} met {met}"), 1);
        Ok(())
    }

    /// Lets time pass, and looks after each step.
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
        self.faults.bury(&mut self.sim);
        let is_quorum = self.setting.plan.is_quorum;
        if let Some(leading) = self.watch.step(&self.running(), is_quorum)? {
            self.note(&format!("leading: {leading}"));
        }
        for host in self.hosts.clone() {
            for event in host.told.take() {
                check::harmless(host.name(), &event)?;
                self.note(&format!("{} told {event:?}", host.name()));
            }
        }
        check::bounded(self.setting.net.peaks(), self.hosts.len())
    }

    fn agree(&mut self) -> Result<(), Broken> {
        let (began, most) = (self.sim.elapsed(), self.setting.plan.agreed());
        let mut linked = None;
        loop {
            self.step()?;
            let took = self.sim.elapsed().saturating_sub(began);
            let running = self.running();
            let is_whole = self.faults.all_run() && running.len() == self.hosts.len();
            if linked.is_none() && is_whole && check::all_linked(&running) {
                linked = Some(took);
                self.note("all are linked");
            }
            if linked.is_some() && check::all_agree(&running) {
                self.note("all agree");
                self.tale.agreed = took;
                return Ok(());
            }
            if linked.is_none() && took > self.setting.plan.reconnected() {
                return Err(format!("not linked within {took:?} after the repair"));
            }
            if took > most {
                return Err(format!("no agreement within {most:?} after the repair"));
            }
        }
    }

    fn rest(&mut self) -> Result<(), Broken> {
        self.take_counts()?;
        let running = self.running();
        let hosts: Vec<_> = self.hosts.iter().map(Rc::as_ref).zip(&running).collect();
        check::at_rest(&self.setting, &hosts)?;
        if !check::all_agree(&running) {
            return Err("they agreed, and agree no more".to_owned());
        }
        for process in &running {
            let (node, traffic) = (process.bridge.node(), process.bridge.traffic());
            self.note(&format!("{node} {traffic:?}"));
        }
        Ok(())
    }

    /// Adds up what the bridges have counted since the last time, which must be harmless.
    fn take_counts(&mut self) -> Result<(), Broken> {
        for process in self.running() {
            let counts = process.bridge.counters();
            let node = process.bridge.node().to_string();
            check::honest(&node, &counts)?;
            let life = (node, process.bridge.incarnation().0);
            let before = self.counted.insert(life, counts).unwrap_or_default();
            for ((name, n), (_, before)) in counts.iter().zip(before.iter()) {
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

/// After agreement: longer than a goodbye may take, and than a dial that has become needless.
const REST: Duration = Duration::from_millis(1_500);
