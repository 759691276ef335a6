//! The ballot leader election under chaos: BLE3 after every step, BLE1 and BLE2 once all is healed.
//!
//! Decided here: what is owed. Whatever happens:
//!
//! | property | |
//! |---|---|
//! | `UniqueBallot` | a ballot number of one agent belongs to one incarnation, and has one score |
//! | `RisingTrust` | the ballots that an agent trusts never fall, over restarts too (an observer's: within an incarnation) |
//! | `RisingLeadership` | the ballots that an agent leads by strictly rise, over restarts too |
//! | `DiskFirst` | the ballot that it is a candidate with, and the one that it trusts, are durable |
//! | `MajorityHeard` | an agent that begins to lead was answered by a majority in its last round, and a leader heard one |
//!
//! An agent may trust the same ballot again after it trusted none: an agent that heard too few for a while,
//! or crashed, comes back to a leader that kept the leadership meanwhile. A leadership that has ended
//! never begins again by the same ballot: that is `RisingLeadership`.
//!
//! And once all is healed (BLE1, BLE2): one leader, if a majority of the voters runs and one of them
//! may be elected; else none. Which one it is, is up to the ballots.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

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
    /// Which incarnation each ballot belongs to, and with which score.
    taken: BTreeMap<(AgentId, u64), (Incarnation, Score)>,
    trusted: BTreeMap<AgentId, (Incarnation, BallotNumber)>,
    led: BTreeMap<AgentId, Led>,
    elections: u64,
}

/// The last ballot that an agent led by.
#[derive(Clone, Debug)]
struct Led {
    incarnation: Incarnation,
    n: u64,
    goes_on: bool,
}

impl BallotScenario {
    /// These voters; every other agent observes.
    pub fn new(config: BallotConfig) -> Self {
        Self {
            config: Arc::new(config),
            taken: BTreeMap::new(),
            trusted: BTreeMap::new(),
            led: BTreeMap::new(),
            elections: 0,
        }
    }

    /// The first `n` agents of a history, with timings as the seed will.
    ///
    /// # Errors
    /// [`SettingError`] when `n` is zero.
    pub fn drawn(seed: u64, n: usize) -> Result<Self, SettingError> {
        // The history draws from the seed itself: its first draws would else be these.
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

    /// The rules' parameters.
    pub const fn config(&self) -> &Arc<BallotConfig> {
        &self.config
    }

    /// How many leaderships began in this history.
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

    /// `UniqueBallot`, and `DiskFirst` of the own ballot.
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

    /// `RisingTrust`, and `DiskFirst` of the ballot that is trusted.
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

    /// `RisingLeadership`, `MajorityHeard`.
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

    /// Now and then a voter is a witness; an agent that is not listed observes.
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

    /// A hand-over that has begun, and a cool-down; then rounds, at their longest: one that has just begun,
    /// one to notice, one to elect, and one more for a rival of the same number.
    fn settles_within(&self, skew: u32) -> Duration {
        let config = &self.config;
        let all = config.cap() * 4 + config.drain + config.cooldown;
        all + all * skew / 1_000_000 * 2
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

    /// All of them: an update moves several in one step, and so does what happens between two steps.
    fn check(&mut self, world: &World<Ballot>) -> Result<(), String> {
        world
            .agents()
            .try_for_each(|id| self.check_agent(world, id))
    }
}
