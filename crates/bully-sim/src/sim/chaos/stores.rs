//! Faults of memory: two processes of one name, and a replaced store.
//!
//! Decided here: which agents these faults meet, and which faults exclude each other. If two processes of one name are
//! on two sides of a partition, the peers of one process never meet the other process, and then no rule helps. So no
//! fault of the network happens while both processes run. The other agents learn of the second process when it begins,
//! because a link reports a process before it carries a message of it. No rule helps either if a store is lost after a
//! promise that is longer than promises by the present timings. So no history has both a lost store and changed
//! timings. An agent that had two memories, or lost one, is gone when all faults have ended, and counts as an agent
//! that lost its record.

use std::time::Duration;

use super::{
    Fault, Scenario,
    nemesis::Nemesis,
    scenario::calm,
    strikes::{strikes, target},
};
use crate::{
    faults::SplitMix64,
    sim::{Situation, StoreContents, World},
};
use bully_core::protocol::{AgentId, Election, Role};

impl Nemesis {
    /// Begins a second process. Sometimes the first process is cut off, as if its links had been replaced.
    pub(super) fn begin_second<S: Scenario>(
        &mut self,
        world: &mut World<S::Election>,
        scenario: &mut S,
        random: &mut SplitMix64,
    ) -> Option<Situation> {
        let contents = [
            StoreContents::New,
            StoreContents::Copied,
            StoreContents::Old,
        ];
        let contents = random.pick(&contents).copied()?;
        let agent = self.doubt(world, scenario, contents, random)?;
        let met = world.situation(&agent)?;
        self.bring_together(world, scenario.delay_bound());
        if !world.begin_second(&agent, contents) {
            return None;
        }
        // If the other agents do not learn of the second process, it takes part in the first election after its
        // quarantine. No election happens earlier while the agent's first process leads.
        if met.role != Role::Leader || random.chance(500) {
            world.meet_second(&agent);
        }
        if random.chance(500) {
            world.isolate(&agent);
        }
        Some(met)
    }

    pub(super) fn end_second<E: Election>(
        &mut self,
        world: &mut World<E>,
        random: &mut SplitMix64,
    ) -> Option<Situation> {
        let mut doubled = self.doubtful.iter().filter(|id| world.has_second(id));
        let agent = doubled.next()?;
        let met = world.situation(agent).unwrap_or_default();
        world.end_second(agent, random.chance(800)).then_some(met)
    }

    /// Crashes an agent, and restarts it with another store.
    pub(super) fn replace_store<S: Scenario>(
        &mut self,
        world: &mut World<S::Election>,
        scenario: &mut S,
        random: &mut SplitMix64,
    ) -> Option<Situation> {
        if self.takes(Fault::OtherTimings) || self.takes(Fault::RollingChange) {
            return None;
        }
        let contents = if random.chance(600) {
            StoreContents::New
        } else {
            StoreContents::Old
        };
        let agent = self.doubt(world, scenario, contents, random)?;
        let met = world.situation(&agent)?;
        if contents != StoreContents::New {
            self.bring_together(world, scenario.delay_bound());
        }
        let is_replaced = world.crash(&agent) && world.replace_store(&agent, contents);
        (is_replaced && world.restart(&agent)).then_some(met)
    }

    /// Returns whether this fault must not happen now, because the facts that some agents know could then never reach
    /// the other agents.
    pub(super) fn spares<E: Election>(&self, fault: Fault, world: &World<E>) -> bool {
        let is_copied = self.copied.is_some();
        let hides = fault.is_of_reach() || fault == Fault::Leave;
        let doubles = fault.is_of_memory() && fault != Fault::SecondEnds;
        hides && self.is_doubled(world) || is_copied && (hides || doubles || fault.is_of_peers())
    }

    /// Crashes an agent. If an agent has an old record, only that agent may crash.
    pub(super) fn crash<E: Election>(
        &self,
        world: &mut World<E>,
        random: &mut SplitMix64,
    ) -> Option<Situation> {
        let only = self.copied.as_ref();
        strikes(world, random, |world, agent| {
            only.is_none_or(|id| id == agent) && world.crash(agent)
        })
    }

    /// Ends all faults of the network, so that all agents hear each other from now on.
    fn bring_together<E: Election>(&mut self, world: &mut World<E>, bound: Duration) {
        self.end_cut(world);
        world.disarm();
        world.recover();
        world.meet_again();
        world.set_conditions(calm(bound));
    }

    /// Returns whether two processes of one name run.
    fn is_doubled<E: Election>(&self, world: &World<E>) -> bool {
        self.doubtful.iter().any(|id| world.has_second(id))
    }

    /// Ends each agent whose memory is in doubt, for ever.
    pub(super) fn retire<E: Election>(&mut self, world: &mut World<E>) {
        for agent in self.doubtful.drain(..) {
            world.retire(&agent);
        }
    }

    /// Chooses an agent whose memory is in doubt from now on.
    fn doubt<S: Scenario>(
        &mut self,
        world: &World<S::Election>,
        scenario: &mut S,
        contents: StoreContents,
        random: &mut SplitMix64,
    ) -> Option<AgentId> {
        let agent = target(world, random).filter(|id| world.depends_on_a_record(id))?;
        let is_new = !self.doubtful.contains(&agent);
        let has_room = !is_new || self.lost < scenario.may_lose_storage();
        if !has_room || world.has_second(&agent) || !scenario.doubts_memory(world, &agent) {
            return None;
        }
        if contents != StoreContents::New {
            let mut all = world.agents();
            if !all.all(|id| world.is_running(id)) {
                return None;
            }
            self.copied = Some(agent.clone());
        }
        if is_new {
            self.lost = self.lost.saturating_add(1);
            self.doubtful.push(agent.clone());
        }
        Some(agent)
    }
}
