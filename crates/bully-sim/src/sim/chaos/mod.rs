//! Chaos: faults happen for a while, then all faults end, and the promises of the election are checked.
//!
//! ```text
//!   0 ────────── faults, drawn by the seed ─────────▶ 20 s ─── calm ──▶ agreement ── 2 s ──▶ still?
//!     each step: contract, scenario's check                 within the scenario's bound
//! ```
//!
//! Decided here: the order of a history. Each seed chooses the circumstances of its history (delays, detection, pace,
//! which kinds of faults), so that rare combinations occur. Not here: the promises of an election ([`Scenario`]), and
//! the list of faults (`nemesis`).

mod fault;
mod nemesis;
mod options;
mod scenario;
mod stores;
mod strikes;
mod timings;

use std::time::Duration;

pub use fault::{Coverage, Fault, UnknownFault};
pub use options::{ChaosOptions, Contested, HistoryReport};
pub use scenario::{Expected, Scenario, name};

use self::{nemesis::Nemesis, scenario::calm};
use super::{Detection, World};
use crate::faults::SplitMix64;
use bully_core::protocol::{After, AgentId, Leader, Time};

/// Runs one history of `n` agents. The same arguments give the same history.
pub fn chaos<S: Scenario>(
    seed: u64,
    n: usize,
    options: &ChaosOptions,
    scenario: &mut S,
) -> HistoryReport {
    let mut random = SplitMix64::new(seed);
    let world = world(seed, n, options, scenario, &mut random);
    let nemesis = Nemesis::new(n, options, scenario, &mut random);
    let mut run = Run {
        world,
        scenario,
        nemesis,
        random,
        contested: Contested::default(),
        since: None,
        contested_for: options.contested_for,
        checked: None,
    };
    let mut calm = Calm::default();
    let stretch = run.scenario.stretch();
    let forged = [
        Fault::Replay,
        Fault::OldIncarnation,
        Fault::Forgery,
        Fault::LaterIncarnation,
    ];
    // Messages are kept only if a fault sends some of them again, because they need much memory.
    if forged.iter().any(|fault| run.nemesis.takes(*fault)) {
        run.world.remember_messages();
    }
    if run.faults(Time::ZERO.after(options.faults_for * stretch)) {
        run.heal(options);
        // The limit counts from the last arrival, because messages that left during the faults still arrive.
        let healed = run.world.all_told_at();
        if run.advance(healed) {
            run.scenario.healed(&mut run.world);
            calm = run.calm(healed, options);
        }
    }
    run.nemesis.finish(&run.world);
    HistoryReport {
        seed,
        n,
        violation: run.world.violation().cloned(),
        leader: calm.leader,
        settled_after: calm.settled_after,
        relapses: calm.relapses,
        contested: run.contested,
        coverage: run.nemesis.coverage,
        tally: run.world.tally(),
        steps: run.world.steps(),
        ended: run.world.now(),
        trace: std::mem::take(run.world.trace_mut()),
    }
}

fn world<S: Scenario>(
    seed: u64,
    n: usize,
    options: &ChaosOptions,
    scenario: &mut S,
    random: &mut SplitMix64,
) -> World<S::Election> {
    let bound = scenario.delay_bound();
    let takes = After::jittered(Duration::ZERO, bound * u32::from(random.chance(500)) * 3);
    let detection = match random.below(3) {
        0 => Detection::Certain(takes),
        1 => Detection::Suspect(takes),
        _ => Detection::Silent(takes),
    };
    let detection = if options.sentinels {
        Detection::Told(After::jittered(Duration::ZERO, bound * 30))
    } else {
        detection
    };
    let late = bound * u32::from(random.chance(300)) * 20;
    // At most half of the time with faults, because each agent shall run for the other half.
    let late = late.min(options.faults_for / 2);
    let reproduce = options
        .reproduce
        .replace("{seed}", &seed.to_string())
        .replace("{n}", &n.to_string());
    let participants: Vec<_> = (0..n)
        .filter_map(name)
        .map(|id| scenario.participant(id, random))
        .collect();
    World::builder(random.next_u64())
        .agents(participants)
        .detection(detection)
        .conditions(calm(bound))
        .starts_within(late)
        .drains_in(Some(
            random.span(After::jittered(Duration::ZERO, bound * 4)),
        ))
        .term_order(scenario.term_order())
        .trace(options.trace.clone())
        .reproduce(reproduce)
        .build()
        .called(seed)
}

/// The outcome of the calm phase.
#[derive(Default)]
struct Calm {
    leader: Option<AgentId>,
    settled_after: Duration,
    relapses: u32,
}

/// The expected state did not come in time. The world shows the missing part.
struct Late;

struct Run<'a, S: Scenario> {
    world: World<S::Election>,
    scenario: &'a mut S,
    nemesis: Nemesis,
    random: SplitMix64,
    contested: Contested,
    /// Time since which two agents lead.
    since: Option<Time>,
    /// Longest time for which two agents may lead.
    contested_for: Option<Duration>,
    /// Number of steps of the machines at the scenario's last check.
    checked: Option<u64>,
}

impl<S: Scenario> Run<'_, S> {
    /// Runs the phase of the faults. Returns `false` if a promise was broken.
    fn faults(&mut self, end: Time) -> bool {
        loop {
            let next = self.world.now().after(self.nemesis.gap(&mut self.random));
            if !self.advance(next.min(end)) {
                return false;
            }
            if next >= end {
                return true;
            }
            self.nemesis
                .strike(&mut self.world, self.scenario, &mut self.random);
        }
    }

    /// Ends all faults, except that some dead agents stay dead.
    fn heal(&mut self, options: &ChaosOptions) {
        let bound = self.scenario.delay_bound();
        self.world.disarm();
        self.world.recover();
        self.world.meet_again();
        self.world.set_conditions(calm(bound));
        self.world
            .set_lateness(After::jittered(Duration::ZERO, bound / 4));
        self.nemesis.retire(&mut self.world);
        let all: Vec<AgentId> = self.world.agents().cloned().collect();
        let all_return = self.random.chance(600);
        for agent in &all {
            self.world.set_write_time(agent, Duration::ZERO);
            self.world.resume(agent);
            if all_return || self.world.believers().is_empty() && self.random.chance(700) {
                self.world.restart(agent);
            }
        }
        if self.world.views().next().is_none() {
            for agent in &all {
                self.world.restart(agent);
            }
        }
        if options.faults.contains(&Fault::Restart) && self.random.chance(200) {
            // A crash that is not reported may be the last event before the calm phase.
            let some = strikes::target(&self.world, &mut self.random);
            if let Some(agent) = some.filter(|_| self.world.views().count() > 1) {
                self.world.crash(agent);
            }
        }
    }

    /// Runs the calm phase: the expected state must come in time, and last.
    fn calm(&mut self, healed: Time, options: &ChaosOptions) -> Calm {
        let limit = self.scenario.settles_within(options.skew);
        let end = healed.after(limit);
        let mut calm = Calm::default();
        loop {
            let Ok(agreed) = self.agreement(end, limit) else {
                return calm;
            };
            calm.settled_after = self.world.now().since(healed);
            let steady = self.world.now().after(options.steady_for);
            if self.lasts(agreed.as_ref(), steady) {
                calm.leader = agreed.map(|leader| leader.id);
                return calm;
            }
            if self.world.violation().is_some() {
                return calm;
            }
            calm.relapses += 1;
        }
    }

    /// Waits for the expected state until `end`.
    fn agreement(&mut self, end: Time, limit: Duration) -> Result<Option<Leader>, Late> {
        let mut seen = None;
        loop {
            let shape = Some(self.world.shape());
            if self.world.is_calm() && seen != shape {
                seen = shape;
                let agreed = self.world.agreed();
                if self.is_expected(agreed.as_ref()) {
                    return Ok(agreed);
                }
            }
            let due = self.world.next_at().is_some_and(|at| at <= end);
            if !due || !self.advance_one() {
                break;
            }
        }
        let expected = self.scenario.expected(&self.world);
        let unsettled = self.world.unsettled(limit);
        self.world
            .violate(format!("{unsettled}; expected {expected}"));
        Err(Late)
    }

    /// Returns whether this agreement holds until `end`. Stops as soon as it does not hold, or a promise is broken.
    fn lasts(&mut self, agreed: Option<&Leader>, end: Time) -> bool {
        let mut seen = self.world.shape();
        while self.world.next_at().is_some_and(|at| at <= end) {
            if !self.advance_one() {
                return false;
            }
            let shape = self.world.shape();
            if std::mem::replace(&mut seen, shape) == shape {
                continue;
            }
            if self.world.agreed().as_ref() != agreed || !self.is_expected(agreed) {
                return false;
            }
        }
        self.world.run_to(end);
        true
    }

    fn is_expected(&self, leader: Option<&Leader>) -> bool {
        match (self.scenario.expected(&self.world), leader) {
            (Expected::NoLeader, None) => self.world.believers().is_empty(),
            (Expected::AnyLeader, Some(_)) => true,
            (Expected::Only(id), Some(leader)) => leader.id == id,
            (Expected::NoLeader, Some(_)) | (Expected::AnyLeader | Expected::Only(_), None) => {
                false
            }
        }
    }

    /// Runs all events that are due until `end`. Returns `false` if a promise was broken.
    fn advance(&mut self, end: Time) -> bool {
        while self.world.next_at().is_some_and(|at| at <= end) {
            if !self.advance_one() {
                return false;
            }
        }
        self.world.run_to(end);
        true
    }

    fn advance_one(&mut self) -> bool {
        if !self.world.step() {
            return false;
        }
        let now = self.world.now();
        let is_contested = self.world.is_contested();
        if let Some(since) = self.since {
            let span = now.since(since);
            if self.contested_for.is_some_and(|longest| span > longest) {
                let still = self.world.believers();
                let what = format!("two lead since {since}; now {still:?}");
                self.world.violate(what);
            }
            if !is_contested {
                self.contested.note(span);
                self.since = None;
            }
        } else if is_contested {
            self.since = Some(now);
        }
        let moves = Some(self.world.moves());
        if std::mem::replace(&mut self.checked, moves) != moves
            && let Err(what) = self.scenario.check(&self.world)
        {
            self.world.violate(what);
        }
        self.world.violation().is_none()
    }
}
