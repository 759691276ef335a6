//! The reorganization under chaos: the promises of the paper, under its assumptions.
//!
//! Decided here: the properties. In every history: after healing, the highest-ranked agent that may be elected
//! coordinates, and all work under it (GM2); and after every step, the count by which a voter works is durable. In
//! histories that keep the paper's assumptions, two working agents agree after every step (GM1).

use std::{sync::Arc, time::Duration};

use crate::{preset, skewed, voters};
use bully_classics::reorganization::{
    PaperStatus, Reorganization, ReorganizationConfig, Task, WhenAsked,
};
use bully_core::{
    protocol::{AgentId, SettingError},
    random::SplitMix64,
};
use bully_sim::sim::{
    Participant, World,
    chaos::{Fault, Scenario},
};

/// A group of agents with a reorganization.
#[derive(Clone, Debug)]
pub struct ReorganizationScenario {
    config: ReorganizationConfig,
    assumptions: Assumptions,
}

/// Whether the paper's assumptions hold in a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Assumptions {
    Hold,
    Broken,
}

impl ReorganizationScenario {
    /// The faults that the paper allows: crashes and recoveries at any time, duplicates, any order, late timers, clocks
    /// that are a little off, and users that call for elections.
    ///
    /// It does not allow loss, cuts, long delays, pauses, members that come and go, and scores that change (a step-down
    /// changes the score).
    pub const ALLOWED: [Fault; 8] = [
        Fault::Duplication,
        Fault::Reordering,
        Fault::Crash,
        Fault::Restart,
        Fault::ClockRate,
        Fault::LateTimers,
        Fault::CrashAfterSend,
        Fault::Campaign,
    ];

    /// Returns a scenario with timings and a way to answer that the seed decides. Draining and cooling down take half a
    /// second each, so that a history does not wait for them.
    ///
    /// # Errors
    /// None: every preset that is drawn has a failure detector.
    pub fn drawn(seed: u64) -> Result<Self, SettingError> {
        // Another seed than the history's, whose first draws would be the same.
        let mut random = SplitMix64::new(seed ^ 0x51AE_1982);
        let timings = preset(&mut random);
        let when_asked = if random.chance(300) {
            WhenAsked::Elect
        } else {
            WhenAsked::Answer
        };
        let half = Duration::from_millis(500);
        let config = ReorganizationConfig {
            when_asked,
            drain: half,
            cooldown: half,
            ..ReorganizationConfig::new(timings)
        };
        config.check()?;
        Ok(Self {
            config,
            assumptions: Assumptions::Broken,
        })
    }

    /// Checks GM1 after every step. The history must have only faults that are [`ALLOWED`](Self::ALLOWED).
    #[must_use]
    pub const fn as_assumed(mut self) -> Self {
        self.assumptions = Assumptions::Hold;
        self
    }
}

impl Scenario for ReorganizationScenario {
    type Election = Reorganization;

    /// Draws mostly voters with scores from 0 to 9, each with a task of its own; now and then a witness or an observer.
    fn participant(&mut self, id: AgentId, random: &mut SplitMix64) -> Participant<Reorganization> {
        let task = Task(random.next_u64());
        let config = Arc::new(ReorganizationConfig {
            task,
            ..self.config.clone()
        });
        let score = self.score(random);
        Participant::drawn(id, score, config, random)
    }

    fn delay_bound(&self) -> Duration {
        self.config.timings.delay_bound()
    }

    /// A drain and a cool-down; a silence that has to be noticed and proved, two waits for an agent that does not come,
    /// and three elections of which two fail at the end.
    fn settles_within(&self, skew: u32) -> Duration {
        let c = &self.config;
        let t = &c.timings;
        let noticed = c.detector().detection * 2 + t.jitter() * 2 + t.deadline();
        let elections = c.worst_case_election_with_losses() + t.deadline() + t.step() * 9;
        skewed(
            noticed + c.takeover() * 2 + elections * 3 + c.drain + c.cooldown,
            skew,
        )
    }

    fn decisive(&self) -> &[&'static str] {
        &[
            "are_you_there",
            "there",
            "halt",
            "halt_ack",
            "new_coordinator",
            "new_coordinator_ack",
            "ready",
            "ready_ack",
            "not_normal",
            "resign",
        ]
    }

    /// Checks `DiskFirst`, and GM1, for all voters that are up.
    fn check(&mut self, world: &World<Reorganization>) -> Result<(), String> {
        voters(world).try_for_each(|(id, _)| disk_first(world, id))?;
        if self.assumptions == Assumptions::Broken {
            return Ok(());
        }
        let mut coordinator = None;
        let mut task = None;
        for (_, machine) in voters(world) {
            if !same(&mut coordinator, machine.coordinator()) {
                return Err(format!("GM1: {} and another coordinator", told(world)));
            }
            let works = machine
                .task()
                .filter(|_| machine.status() == PaperStatus::Normal);
            if !same(&mut task, works) {
                return Err(format!("GM1: {} on two tasks", told(world)));
            }
        }
        Ok(())
    }
}

/// Checks that no voter works by a count that its next incarnation would not know.
fn disk_first(world: &World<Reorganization>, id: &AgentId) -> Result<(), String> {
    let Some(leader) = world.view(id).and_then(|view| view.leader) else {
        return Ok(());
    };
    match world.durable(id) {
        Some(record) if record.count >= leader.term => Ok(()),
        Some(_) | None => Err(format!(
            "DiskFirst: {id} works under {} by {}",
            leader.id, leader.term
        )),
    }
}

/// Returns whether `value` is `None`, or the first value, or equal to the values before it.
fn same<T: PartialEq>(first: &mut Option<T>, value: Option<T>) -> bool {
    let Some(value) = value else { return true };
    match first {
        None => *first = Some(value),
        Some(first) => return *first == value,
    }
    true
}

fn told(world: &World<Reorganization>) -> String {
    let tell = |id: &AgentId| {
        let machine = world.machine(id)?;
        let under = machine
            .coordinator()
            .map_or("no coordinator", AgentId::as_str);
        Some(format!("{id} {} under {under}", machine.status()))
    };
    let all: Vec<String> = world.agents().filter_map(tell).collect();
    all.join(", ")
}
