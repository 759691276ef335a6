//! The quorum election while its voters change: the commands that the agents get, and the expected outcome.
//!
//! A history begins with some voters and some learners. Every agent restarts with the first list, as its operator typed
//! it; the lists that it has learned since are in its record.

use std::time::Duration;

use super::{QuorumScenario, Watched, decrees::Decrees, draw, owed, timings_of};
use bully_core::{
    elections::quorum::QuorumConfig,
    protocol::{AgentId, NewVoter, SettingError, VoterChange},
    random::SplitMix64,
};
use bully_sim::sim::{Participant, Situation, World, chaos::Expected};

impl QuorumScenario {
    /// Returns a scenario with the first `n` agents of a history, voters and learners, whose list of voters changes.
    ///
    /// # Errors
    /// [`SettingError`] when `n` is zero.
    pub fn changing(seed: u64, n: usize) -> Result<Self, SettingError> {
        let mut random = SplitMix64::new(seed ^ 0x00C4_A26E);
        let most = u64::try_from(n).unwrap_or(1);
        let voters = usize::try_from(random.between(1, most.max(1))).unwrap_or(n);
        let config = QuorumConfig {
            learner: true,
            ..draw(seed, voters.min(n), timings_of(seed))?
        };
        let mut scenario = Self::new(config);
        scenario.changes = true;
        Ok(scenario)
    }

    /// Returns whether an agent of this name has no store, so that it only observes.
    fn is_observer(&self, id: &AgentId) -> bool {
        let last = id.as_str().bytes().next_back().unwrap_or(0);
        last % 5 == 4 && !self.watch.sound.voters.contains(id)
    }

    /// Returns a learner, or an observer if the agent has no store.
    pub(super) fn learner(&mut self, id: AgentId, random: &mut SplitMix64) -> Participant<Watched> {
        if self.is_observer(&id) {
            return Participant::observer(id, self.watch.clone());
        }
        self.with_store(id, random)
    }

    /// Returns the time for which a user goes on asking.
    pub(super) fn asks_within(&self) -> Duration {
        if self.changes {
            self.slowest.promise() * 20
        } else {
            Duration::ZERO
        }
    }

    /// Asks an agent, the leader or another one, for a change of the last list.
    pub(super) fn ask(
        &self,
        world: &mut World<Watched>,
        random: &mut SplitMix64,
    ) -> Option<Situation> {
        let running = world.agents().filter(|id| world.is_running(id));
        let running: Vec<AgentId> = running.cloned().collect();
        let leaders = world.believers();
        let asked = random.pick(&leaders).filter(|_| random.clone().chance(500));
        let asked = asked.or_else(|| random.pick(&running))?.clone();
        let change = self.draw_change(world, random)?;
        let every = self.watch.sound.timings.round() * 4;
        let situation = world.situation(&asked);
        let within = self.asks_within();
        situation.filter(|_| world.change_voters(&asked, change, every, within))
    }

    fn draw_change(&self, world: &World<Watched>, random: &mut SplitMix64) -> Option<VoterChange> {
        let present = self.last_list(world);
        let all: Vec<AgentId> = world.agents().cloned().collect();
        let (voters, mut others) = (&present.voters, all.clone());
        others.retain(|id| !voters.contains(id));
        // Now and then any agent, also one for which the change makes no sense.
        let one_of = |usual: &[AgentId], random: &mut SplitMix64| {
            let agents: &[AgentId] = if random.chance(50) { &all } else { usual };
            random.pick(agents).cloned()
        };
        let new = |random: &mut SplitMix64| {
            let id = one_of(&others, random);
            id.map(|id| NewVoter { id, contact: None })
        };
        match random.below(3) {
            0 => new(random).map(VoterChange::Add),
            1 => one_of(voters, random).map(VoterChange::Remove),
            _ => Some(VoterChange::Replace {
                old: one_of(voters, random)?,
                new: new(random)?,
            }),
        }
    }

    /// Returns the number of the last list that any agent keeps. A list that an agent had only begun to write when it
    /// crashed does not count.
    fn last_epoch(&self, world: &World<Watched>) -> u64 {
        let kept = world.agents().filter_map(|id| world.durable(id));
        let kept = kept
            .filter_map(|vote| vote.installed())
            .map(|list| list.epoch);
        let run = world.agents().filter_map(|id| world.machine(id));
        let run = run.map(Watched::epoch);
        kept.chain(run).max().unwrap_or(self.watch.sound.epoch)
    }

    /// Returns the configuration with the last list.
    fn last_list(&self, world: &World<Watched>) -> QuorumConfig {
        let (first, ledger) = (&self.watch.sound, self.watch.ledger());
        let last = ledger.decrees.config(self.last_epoch(world), first);
        last.unwrap_or_else(|| QuorumConfig::clone(first))
    }

    /// Returns whether some running voter of `list` would learn the list from `teller`. A voter learns only from an
    /// agent of the same list, or of the list that the voter has. If every agent that knows the list is in neither, its
    /// voters learn of it from no agent: then the group has no quorum, as if the list had never been decided.
    fn is_heard(
        &self,
        world: &World<Watched>,
        decrees: &Decrees,
        teller: &AgentId,
        list: &QuorumConfig,
    ) -> bool {
        let first = &self.watch.sound;
        let mut voters = list.voters.iter().filter(|id| world.is_running(id));
        list.voters.contains(teller)
            || voters.any(|voter| {
                let own = world.machine(voter).map_or(first.epoch, Watched::epoch);
                let own = decrees.config(own, first);
                own.is_some_and(|own| own.voters.contains(teller))
            })
    }

    /// Returns the leader that the group must have in the end: the highest-ranked voter of the last list. Every running
    /// agent learns of that list, if an agent that knows it runs and [is heard](Self::is_heard), or if a quorum of the
    /// list before runs, which has sealed it.
    pub(super) fn expected_of_changes(&self, world: &World<Watched>) -> Expected {
        let (first, ledger) = (&self.watch.sound, self.watch.ledger());
        let quorum_of = |config: &QuorumConfig| {
            let running = config
                .voters
                .iter()
                .filter(|id| world.is_running(id))
                .count();
            running >= config.vote_quorum().max(config.lease_quorum())
        };
        let known = world.agents().filter(|id| world.is_running(id));
        let known = known.filter_map(|id| world.machine(id).map(|machine| (id, machine)));
        let known = known.filter(|(id, machine)| {
            let list = ledger.decrees.config(machine.epoch(), first);
            let decrees = &ledger.decrees;
            let is_heard = |list: QuorumConfig| self.is_heard(world, decrees, id, &list);
            machine.has_store() && list.is_some_and(is_heard)
        });
        let epochs = known.map(|(_, machine)| machine.epoch());
        let mut epoch = epochs.max().unwrap_or(first.epoch);
        let last = self.last_epoch(world);
        loop {
            let Some(config) = ledger.decrees.config(epoch, first) else {
                return Expected::NoLeader;
            };
            if !quorum_of(&config) {
                return Expected::NoLeader;
            }
            if epoch < last {
                epoch += 1;
                continue;
            }
            let running = config.voters.iter().filter(|id| world.is_running(id));
            let highest = running
                .filter_map(|id| world.score(id).map(|score| (score, id)))
                .max();
            return owed(world, highest, config.preemption);
        }
    }

    /// Restarts every agent with a store, in the list or not. A small quorum for the lease makes that necessary.
    pub(super) fn everyone_returns(&self, world: &mut World<Watched>) {
        let all: Vec<AgentId> = world.agents().cloned().collect();
        for id in all.into_iter().filter(|id| !self.is_observer(id)) {
            let score = world.score(&id).or_else(|| Some(1.into()));
            world.restart(&id);
            world.join(Participant::voter(id, score, self.watch.clone()));
        }
    }

    /// Returns the number of changes of the voters that were made in this history.
    pub fn changes(&self) -> u64 {
        self.watch.ledger().decrees.installed()
    }
}
