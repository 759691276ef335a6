//! What is owed of a history in which an election carries an application.
//!
//! Decided here: which elections carry some, with which timings, and how soon they agree after healing. What the
//! elections themselves promise is held elsewhere (`tests/oracles`): here they only have to bring leaders.

use std::{fmt, sync::Arc, time::Duration};

use super::{Application, Carried, CarriedConfig};
use crate::{
    elections::{
        bully::Preemption,
        quorum::{QuorumBully, QuorumConfig},
    },
    protocol::{AgentId, Election, Timings},
};
use bully_core::elections::bully::{Bully, BullyConfig};
use bully_sim::{
    faults::SplitMix64,
    sim::{
        Participant, World,
        chaos::{ChaosOptions, Coverage, Expected, Fault, HistoryReport, Scenario, chaos, name},
    },
};

/// An election that carries applications in these histories.
pub(in crate::leader) trait Carrier: Election {
    const DECISIVE: &'static [&'static str];

    fn config(voters: &[AgentId], timings: &Timings) -> Self::Config;
    fn is_voter(config: &Self::Config, id: &AgentId) -> bool;
    /// How many must run for a leader.
    fn needs(config: &Self::Config) -> usize;
    /// The same configuration with other timings, where members may differ.
    fn retimed(config: &Self::Config, timings: &Timings) -> Option<Self::Config>;
    fn settles_within(timings: &Timings) -> Duration;
}

const SHORT: Duration = Duration::from_millis(500);

impl Carrier for QuorumBully {
    const DECISIVE: &'static [&'static str] = &["claim", "claim_reply", "ack", "elected", "resign"];

    fn config(voters: &[AgentId], timings: &Timings) -> Self::Config {
        Arc::new(QuorumConfig {
            timings: timings.clone(),
            preemption: Preemption::Never,
            cooldown: SHORT,
            ..QuorumConfig::new(voters.iter().cloned())
        })
    }

    fn is_voter(config: &Self::Config, id: &AgentId) -> bool {
        config.voters.contains(id)
    }

    fn needs(config: &Self::Config) -> usize {
        config.vote_quorum()
    }

    fn retimed(config: &Self::Config, timings: &Timings) -> Option<Self::Config> {
        let config = QuorumConfig {
            timings: timings.clone(),
            ..QuorumConfig::clone(config)
        };
        config.check().is_ok().then(|| Arc::new(config))
    }

    fn settles_within(t: &Timings) -> Duration {
        let rounds = (t.round() * 2 + t.step() + t.jitter() + SHORT) * 10;
        t.promise() * 7 + rounds + SHORT * 4
    }
}

impl Carrier for Bully {
    const DECISIVE: &'static [&'static str] = &["elected", "yield", "ok", "resign", "elect"];

    fn config(_: &[AgentId], timings: &Timings) -> Self::Config {
        Arc::new(BullyConfig {
            timings: timings.clone(),
            drain: SHORT,
            cooldown: SHORT,
            ..BullyConfig::default()
        })
    }

    fn is_voter(_: &Self::Config, _: &AgentId) -> bool {
        true
    }

    fn needs(_: &Self::Config) -> usize {
        1
    }

    fn retimed(_: &Self::Config, _: &Timings) -> Option<Self::Config> {
        None
    }

    fn settles_within(t: &Timings) -> Duration {
        let detection = t.detector().map_or(Duration::ZERO, |d| d.detection);
        let rounds = t.victory_wait() + (t.deadline() + t.delay_bound() * 2) * 2;
        (detection * 2 + (t.step() + t.jitter()) * 9 + rounds + SHORT * 2) * 2
    }
}

/// One history.
pub(in crate::leader) struct Story<E: Carrier, A: Application> {
    config: CarriedConfig<E::Config, A::Shared>,
    timings: Timings,
    /// The longest that some member has.
    slowest: Timings,
    decisive: Vec<&'static str>,
    agents: usize,
}

impl<E: Carrier, A: Application> Story<E, A> {
    /// Of so many agents, all of which take part from the beginning; the kinds are those of the application's
    /// messages.
    pub(in crate::leader) fn new(
        agents: usize,
        timings: Timings,
        shared: A::Shared,
        kinds: &[&'static str],
    ) -> Self {
        let voters: Vec<_> = (0..agents).filter_map(name).collect();
        let decisive = E::DECISIVE.iter().chain(kinds).copied();
        Self {
            config: CarriedConfig {
                election: E::config(&voters, &timings),
                shared,
            },
            slowest: timings.clone(),
            timings,
            decisive: decisive.collect(),
            agents,
        }
    }

    /// Plays it under every fault that the election takes.
    pub(in crate::leader) fn play(mut self, seed: u64) -> HistoryReport {
        let agents = self.agents;
        chaos(seed, agents, &ChaosOptions::default(), &mut self)
    }
}

impl<E: Carrier, A: Application> Scenario for Story<E, A> {
    type Election = Carried<E, A>;

    /// Clocks begin up to four seconds apart.
    fn participant(&mut self, id: AgentId, random: &mut SplitMix64) -> Participant<Self::Election> {
        let config = self.config.clone();
        if !E::is_voter(&config.election, &id) {
            return Participant::observer(id, config);
        }
        let score = self.score(random);
        let skew = i32::try_from(random.between(0, 100_000)).unwrap_or(0);
        Participant {
            clock_offset: Duration::from_millis(random.below(4_000)),
            clock_ppm: skew - 50_000,
            ..Participant::voter(id, score, config)
        }
    }

    fn delay_bound(&self) -> Duration {
        self.timings.delay_bound()
    }

    fn settles_within(&self, skew: u32) -> Duration {
        let all = E::settles_within(&self.slowest);
        all + all * skew / 1_000_000 * 2
    }

    fn takes(&self, fault: Fault) -> bool {
        let has_timings = E::retimed(&self.config.election, &self.timings).is_some();
        fault.is_general() || has_timings && !fault.is_of_memory()
    }

    /// Promises up to five times as long.
    fn timings(&mut self, random: &mut SplitMix64) -> Option<Timings> {
        let detector = self.timings.detector()?;
        let times = u32::try_from(random.between(1, 5)).unwrap_or(1);
        let longer = self.timings.clone().to_builder();
        let longer = longer.lease(self.timings.lease() * times, self.timings.promise() * times);
        let longer = longer.detector(detector.heartbeat * times, detector.detection * times);
        longer.build().ok()
    }

    fn retimed(
        &mut self,
        config: &CarriedConfig<E::Config, A::Shared>,
        timings: &Timings,
    ) -> Option<CarriedConfig<E::Config, A::Shared>> {
        if timings.promise() > self.slowest.promise() {
            self.slowest = timings.clone();
        }
        Some(CarriedConfig {
            election: E::retimed(&config.election, timings)?,
            shared: config.shared.clone(),
        })
    }

    fn may_lose_storage(&self) -> usize {
        self.agents - E::needs(&self.config.election)
    }

    fn decisive(&self) -> &[&'static str] {
        &self.decisive
    }

    fn expected(&self, world: &World<Self::Election>) -> Expected {
        let config = &self.config.election;
        let is_running = |id: &&AgentId| world.is_running(id) && E::is_voter(config, id);
        let running: Vec<_> = world.agents().filter(is_running).collect();
        let is_eligible = |id: &&AgentId| world.score(id).is_some();
        if running.len() < E::needs(config) || !running.iter().any(is_eligible) {
            return Expected::NoLeader;
        }
        Expected::AnyLeader
    }

    fn check(&mut self, _: &World<Self::Election>) -> Result<(), String> {
        A::broken(&self.config.shared).map_or(Ok(()), Err)
    }
}

impl<E: Carrier, A: Application> fmt::Debug for Story<E, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Story")
            .field("agents", &self.agents)
            .finish_non_exhaustive()
    }
}

/// Every kind of fault, or every general one, happened in these histories. Their voters stay as they are: what a
/// change means for schedules is tested by itself. So are their stores: what a second process of a name means is the
/// election's to decide.
pub(in crate::leader) fn each_fault_happened(coverage: &Coverage, is_general: bool) {
    for (fault, count) in coverage.iter() {
        let is_there = fault != Fault::VoterChange && !fault.is_of_memory();
        let is_owed = is_there && (!is_general || fault.is_general());
        assert!(!is_owed || count > 0, "{fault} never happened");
    }
}
