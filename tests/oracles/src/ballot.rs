//! The ballot leader election under chaos: BLE3 after every step, BLE1 and BLE2 after healing.
//!
//! Decided here: the properties. With every fault:
//!
//! | property | |
//! |---|---|
//! | `UniqueBallot` | a ballot number of one agent belongs to one incarnation, and has one score |
//! | `RisingTrust` | the ballots that an agent trusts never fall, also over restarts (an observer: within one) |
//! | `RisingLeadership` | the ballots that an agent leads by rise strictly, over restarts too |
//! | `DiskFirst` | the ballot with which an agent is a candidate, and the ballot that it trusts, are durable |
//! | `MajorityHeard` | a majority answered the last round of an agent that begins to lead; a leader heard a majority |
//!
//! An agent may trust the same ballot again after it trusted none: after it heard too few agents for a while, or
//! crashed, it comes back to a leader that kept the leadership. A leadership that has ended never begins again with the
//! same ballot: that is `RisingLeadership`.
//!
//! After healing (BLE1, BLE2): one leader, if a majority of the voters runs and one of them may be elected; else none.
//! The ballots decide which agent leads.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use crate::skewed;
use bully_classics::ballot::{Ballot, BallotConfig, BallotNumber};
use bully_core::{
    protocol::{AgentId, Incarnation, Score, SettingError, Timings},
    random::SplitMix64,
};
use bully_sim::sim::{
    Participant, World,
    chaos::{Expected, Scenario, name},
};

/// The voters of one configuration, and observers that join.
#[derive(Clone, Debug)]
pub struct BallotScenario {
    config: Arc<BallotConfig>,
    /// The incarnation and the score of each ballot.
    taken: BTreeMap<(AgentId, u64), (Incarnation, Score)>,
    trusted: BTreeMap<AgentId, (Incarnation, BallotNumber)>,
    led: BTreeMap<AgentId, Led>,
    elections: u64,
}

/// The last ballot of an agent's leaderships.
#[derive(Clone, Debug)]
struct Led {
    incarnation: Incarnation,
    n: u64,
    goes_on: bool,
}

impl BallotScenario {
    /// Returns the scenario with the voters of `config`; every other agent observes.
    pub fn new(config: BallotConfig) -> Self {
        Self {
            config: Arc::new(config),
            taken: BTreeMap::new(),
            trusted: BTreeMap::new(),
            led: BTreeMap::new(),
            elections: 0,
        }
    }

    /// Returns a scenario with the first `n` agents as voters, and timings that the seed decides.
    ///
    /// # Errors
    /// [`SettingError`] when `n` is zero.
    pub fn drawn(seed: u64, n: usize) -> Result<Self, SettingError> {
        // Another seed than the history's, whose first draws would be the same.
        let mut random = SplitMix64::new(seed ^ 0x0BA1_107E);
        let timings = match random.below(8) {
            0 => Timings::default(),
            1 | 2 => Timings::lan(),
            _ => Timings::in_process(),
        };
        let half = Duration::from_millis(500);
        let config = BallotConfig {
            timings,
            drain: half,
            cooldown: half,
            ..BallotConfig::new((0..n).filter_map(name))
        };
        config.check()?;
        Ok(Self::new(config))
    }

    /// Returns the configuration.
    pub const fn config(&self) -> &Arc<BallotConfig> {
        &self.config
    }

    /// Returns the number of leaderships that began in this history.
    pub const fn elections(&self) -> u64 {
        self.elections
    }

    fn check_agent(&mut self, world: &World<Ballot>, id: &AgentId) -> Result<(), String> {
        let Some(machine) = world.machine(id) else {
            return Ok(());
        };
        let incarnation = world.incarnation(id).unwrap_or_default();
        self.check_own(world, id, machine, incarnation)?;
        self.check_trust(world, id, machine, incarnation)?;
        self.check_leadership(id, machine, incarnation)
    }

    /// Checks `UniqueBallot`, and `DiskFirst` of the agent's own ballot.
    fn check_own(
        &mut self,
        world: &World<Ballot>,
        id: &AgentId,
        machine: &Ballot,
        incarnation: Incarnation,
    ) -> Result<(), String> {
        let Some(own) = machine.own() else {
            return Ok(());
        };
        let taken = self.taken.entry((own.id.clone(), own.n));
        if own.id != *id || *taken.or_insert((incarnation, own.score)) != (incarnation, own.score) {
            return Err(format!(
                "UniqueBallot: incarnation {incarnation} of {id} is a candidate with {own}"
            ));
        }
        match world.durable(id) {
            Some(record) if record.n >= own.n => Ok(()),
            Some(_) | None => Err(format!("DiskFirst: {id} is a candidate with {own}")),
        }
    }

    /// Checks `RisingTrust`, and `DiskFirst` of the trusted ballot.
    fn check_trust(
        &mut self,
        world: &World<Ballot>,
        id: &AgentId,
        machine: &Ballot,
        incarnation: Incarnation,
    ) -> Result<(), String> {
        let Some(ballot) = machine.trusted() else {
            return Ok(());
        };
        let is_voter = self.config.voters.contains(id);
        let before = self.trusted.get(id);
        if let Some((_, before)) =
            before.filter(|(l, b)| b > ballot && (is_voter || *l == incarnation))
        {
            return Err(format!("RisingTrust: {id} trusts {ballot} after {before}"));
        }
        if before.is_none_or(|(l, b)| (*l, b) != (incarnation, ballot)) {
            self.trusted
                .insert(id.clone(), (incarnation, ballot.clone()));
        }
        let durable = world.durable(id).and_then(|record| record.max.as_ref());
        if is_voter && durable < Some(ballot) {
            return Err(format!("DiskFirst: {id} trusts {ballot}"));
        }
        Ok(())
    }

    /// Checks `RisingLeadership` and `MajorityHeard`.
    fn check_leadership(
        &mut self,
        id: &AgentId,
        machine: &Ballot,
        incarnation: Incarnation,
    ) -> Result<(), String> {
        let leadership = machine.trusted().filter(|ballot| ballot.id == *id);
        let Some(ballot) = leadership else {
            if let Some(led) = self.led.get_mut(id) {
                led.goes_on = false;
            }
            return Ok(());
        };
        if !machine.is_connected() {
            return Err(format!("MajorityHeard: {id} leads by {ballot}"));
        }
        match self.led.get(id) {
            Some(led) if led.goes_on && (led.incarnation, led.n) == (incarnation, ballot.n) => {
                return Ok(());
            }
            Some(led) if led.n >= ballot.n => {
                return Err(format!(
                    "RisingLeadership: {id} leads by {ballot} after {}",
                    led.n
                ));
            }
            Some(_) | None => {}
        }
        let heard = machine.heard();
        if heard < self.config.majority() {
            return Err(format!(
                "MajorityHeard: {id} leads by {ballot} with {heard}"
            ));
        }
        self.elections += 1;
        let (n, goes_on) = (ballot.n, true);
        self.led.insert(
            id.clone(),
            Led {
                incarnation,
                n,
                goes_on,
            },
        );
        Ok(())
    }
}

impl Scenario for BallotScenario {
    type Election = Ballot;

    /// Draws a voter, and now and then a witness. An agent that is not listed observes.
    fn participant(&mut self, id: AgentId, random: &mut SplitMix64) -> Participant<Ballot> {
        let config = Arc::clone(&self.config);
        if !config.voters.contains(&id) {
            return Participant::observer(id, config);
        }
        let score = self.score(random);
        Participant::voter(id, score, config)
    }

    fn delay_bound(&self) -> Duration {
        self.config.timings.delay_bound()
    }

    /// A hand-over that has begun, and a cool-down; then rounds of the longest duration: one that has just begun, one
    /// to notice, one to elect, and one more for a rival with the same number.
    fn settles_within(&self, skew: u32) -> Duration {
        let config = &self.config;
        skewed(config.cap() * 4 + config.drain + config.cooldown, skew)
    }

    fn decisive(&self) -> &[&'static str] {
        &[
            "heartbeat_request",
            "heartbeat_reply",
            "resign",
            "leads",
            "nack",
        ]
    }

    fn expected(&self, world: &World<Ballot>) -> Expected {
        let running = || {
            let voters = self.config.voters.iter();
            voters.filter(|id| world.is_running(id))
        };
        let is_enough = running().count() >= self.config.majority();
        if is_enough && running().any(|id| world.score(id).is_some()) {
            Expected::AnyLeader
        } else {
            Expected::NoLeader
        }
    }

    /// All agents are checked: an update changes several agents in one step, and so do faults between two steps.
    fn check(&mut self, world: &World<Ballot>) -> Result<(), String> {
        world
            .agents()
            .try_for_each(|id| self.check_agent(world, id))
    }
}
