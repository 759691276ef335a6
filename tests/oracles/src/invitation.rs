//! The invitation election under chaos.
//!
//! Decided here: the properties. After every step, with every fault: voters that name the same group have the same
//! coordinator; voters that work in it have the same task; no number names two groups; and the number of an agent's own
//! group is durable. After healing: one group, which the highest-ranked agent coordinates.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use crate::{preset, skewed, voters};
use bully_classics::invitation::{ElectionId, InvitationConfig, InvitationElection, Task};
use bully_core::{
    protocol::{AgentId, Incarnation, SettingError},
    random::SplitMix64,
};
use bully_sim::sim::{Participant, World, chaos::Scenario};

/// A group of agents with an invitation election.
#[derive(Clone, Debug)]
pub struct InvitationScenario {
    config: InvitationConfig,
    /// For each group, the incarnation that formed it.
    formed: BTreeMap<ElectionId, Incarnation>,
    tasks: BTreeMap<ElectionId, Task>,
}

impl InvitationScenario {
    /// Returns a scenario with timings that the seed decides. Draining and cooling down take half a second each, so
    /// that a history does not wait for them.
    ///
    /// # Errors
    /// None: every preset that is drawn has a failure detector.
    pub fn drawn(seed: u64) -> Result<Self, SettingError> {
        let mut random = SplitMix64::new(seed ^ 0x1A_517E_1982);
        let timings = preset(&mut random);
        let half = Duration::from_millis(500);
        let config = InvitationConfig {
            drain: half,
            cooldown: half,
            ..InvitationConfig::new(timings)
        };
        config.check()?;
        Ok(Self {
            config,
            formed: BTreeMap::new(),
            tasks: BTreeMap::new(),
        })
    }

    fn look_at(
        &mut self,
        world: &World<InvitationElection>,
        id: &AgentId,
        machine: &InvitationElection,
    ) -> Result<(), String> {
        let incarnation = world.incarnation(id).unwrap_or_default();
        let durable = world.durable(id).map(|record| record.count);
        let (Some(group), Some(coordinator)) = (machine.group(), machine.coordinator()) else {
            return Ok(());
        };
        if group.id != *coordinator {
            return Err(format!("{id} is in {group} under {coordinator}"));
        }
        if durable < Some(group.count) {
            return Err(format!("DiskFirst: {id} is in {group}"));
        }
        if coordinator == id {
            let former = *self.formed.entry(group.clone()).or_insert(incarnation);
            if former != incarnation {
                return Err(format!(
                    "{id} forms {group} in its incarnations {former} and {incarnation}"
                ));
            }
        }
        let Some(task) = machine.task() else {
            return Ok(());
        };
        let agreed = *self.tasks.entry(group.clone()).or_insert(task);
        if agreed != task {
            return Err(format!(
                "{id} works on {task} in {group}, others on {agreed}"
            ));
        }
        Ok(())
    }
}

impl Scenario for InvitationScenario {
    type Election = InvitationElection;

    /// Draws mostly voters with scores from 0 to 9, each with a task of its own; now and then a witness or an observer.
    fn participant(
        &mut self,
        id: AgentId,
        random: &mut SplitMix64,
    ) -> Participant<InvitationElection> {
        let task = Task(random.next_u64());
        let config = Arc::new(InvitationConfig {
            task,
            ..self.config.clone()
        });
        let score = self.score(random);
        Participant::drawn(id, score, config, random)
    }

    fn delay_bound(&self) -> Duration {
        self.config.timings.delay_bound()
    }

    /// A drain and a cool-down; a silence that has to be noticed and proved, a slot, a task that does not come, and
    /// three merges of which two leave an agent out.
    fn settles_within(&self, skew: u32) -> Duration {
        let c = &self.config;
        let t = &c.timings;
        let noticed = c.worst_case_failover(8) + c.detector().detection;
        let merge = c.detector().heartbeat + t.step() * 4 + c.worst_case_merge_with_losses();
        skewed(
            noticed + c.takeover() + merge * 3 + c.drain + c.cooldown,
            skew,
        )
    }

    fn decisive(&self) -> &[&'static str] {
        &[
            "are_you_coordinator",
            "place",
            "invitation",
            "accept",
            "decline",
            "ready",
            "there",
            "resign",
        ]
    }

    /// All voters are checked: an update changes several agents in one step, and so do faults between two steps.
    fn check(&mut self, world: &World<InvitationElection>) -> Result<(), String> {
        voters(world).try_for_each(|(id, machine)| self.look_at(world, id, machine))
    }
}
