//! Faults of memory: two processes of one name, and a replaced store.
//!
//! Decided here: which agents they hit, and which faults exclude each other. Two processes of one name may be on two
//! sides of a partition, and the peers of each never met the other process: no rule helps then. So no fault of the
//! network happens while both run, and the others meet the second process when it begins, as a link reports it before
//! it carries a message. No rule helps either where a store is lost after a promise longer than the present ones: so no
//! history has both. An agent that had two memories, or lost one, is gone once all is healed, and counts as an agent
//! that lost its record.

use std::time::Duration;

use super::{
    Fault, Scenario, calm,
    nemesis::{Nemesis, strikes, target},
};
use crate::{
    faults::SplitMix64,
    sim::{Situation, StoreContents, World},
};
use bully_core::protocol::{AgentId, Election, Role};

impl Nemesis {
    /// Begins a second process; now and then the first one is cut off, as if its links had been replaced.
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
        // Unmet, it takes part in the first election after its quarantine; a voter that leads is in none before.
        if met.role != Role::Leader || random.chance(500) {
            world.meet_second(&agent);
        }
        if random.chance(500) {
            world.isolate(&agent);
        }
        Some(met)
    }

    /// A second process ends.
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

    /// An agent crashes, and comes back with another store.
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

    /// Returns whether this fault would keep from the others what some of them know.
    pub(super) fn spares<E: Election>(&self, fault: Fault, world: &World<E>) -> bool {
        let is_copied = self.copied.is_some();
        let hides = fault.is_of_reach() || fault == Fault::Leave;
        let doubles = fault.is_of_memory() && fault != Fault::SecondEnds;
        hides && self.is_doubled(world) || is_copied && (hides || doubles || fault.is_of_peers())
    }

    /// An agent crashes: beside an old record, that agent alone.
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

    /// All hear each other from now on.
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

    /// Retires each agent whose memory is in doubt.
    pub(super) fn retire<E: Election>(&mut self, world: &mut World<E>) {
        for agent in self.doubtful.drain(..) {
            world.retire(&agent);
        }
    }

    /// An agent whose memory may be doubted from now on.
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
