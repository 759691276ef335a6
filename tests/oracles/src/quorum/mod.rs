//! The quorum election under chaos: its invariants after every step, agreement after healing.
//!
//! Decided here: the properties. With every fault, as long as the clocks keep within their bound:
//!
//! | invariant | |
//! |---|---|
//! | `OneBeliever` | at every instant at most one agent believes that it leads |
//! | `LeaderPerTerm` | at most one agent is elected in a term |
//! | `VoteOnce` | a voter votes once in a term, in all its incarnations |
//! | `TermMonotone` | a durable term never decreases |
//! | `TokenMonotone` | of two leaderships the later one has the higher term |
//! | `LeaseBacked` | a believer has a quorum of voters, each of which is bound to it, abstains, or does not run |
//! | `PromiseKept` | only a voter that is not bound to another agent votes |
//! | `NoRivalElected` | while one agent believes that it leads, no other has a quorum of votes for a higher term |
//! | `ElectedFirst` | an agent announces itself after a quorum voted for it; if ahead, after the leader resigned |
//! | `ResignFinal` | no agent believes that it leads in a term that it resigned |
//! | `DiskFirst` | a term and a promise are durable before a message names them, except a claim |
//! | `NoDisrupt` | a question, and a refused claim, change nothing durable |
//! | `Observers` | an observer sends nothing |
//!
//! Where the voters change, over all lists, and also:
//!
//! | invariant | |
//! |---|---|
//! | `OneList` | in each epoch one list of voters at most is installed |
//! | `SealedFirst` | a quorum of the voters of the former list has sealed the new list durably in one term |
//! | `NoAckAfterSeal` | a voter that sealed a term acknowledges no leader of that term or a lower one |
//! | `AnswerTrue` | an agent that hears that the voters are changed has the changed list |
//!
//! After healing: one leader. It is the highest-ranked voter of the last list, if preemption allows it.

mod changing;
mod decrees;
mod diskless;
mod gap;
mod ledger;
mod watch;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

pub use watch::{Watch, Watched};

use self::diskless::Hosts;

use bully_core::{
    elections::{bully::Preemption, quorum::QuorumConfig},
    protocol::{AgentId, Election, Role, Score, SettingError, Timings},
    random::SplitMix64,
};
use bully_sim::sim::{
    Participant, Situation, World,
    chaos::{Expected, Fault, Scenario, name},
};

/// The voters of one configuration, and observers that join.
#[derive(Clone, Debug)]
pub struct QuorumScenario {
    watch: Watch,
    /// The timings with the longest promise in this history.
    slowest: Timings,
    /// The wall clocks, for voters without disks.
    hosts: Hosts,
    /// Whether the voters change.
    changes: bool,
}

impl QuorumScenario {
    /// Returns the scenario with the voters of `config`; every other agent observes.
    pub fn new(config: QuorumConfig) -> Self {
        Self::unsound(config.clone(), config)
    }

    /// Returns a scenario whose agents use `config`, and whose properties are those of `sound`.
    pub fn unsound(config: QuorumConfig, sound: QuorumConfig) -> Self {
        Self {
            slowest: sound.timings.clone(),
            hosts: Hosts::default(),
            changes: false,
            watch: Watch {
                config: Arc::new(config),
                sound: Arc::new(sound),
                ledger: Arc::new(Mutex::default()),
            },
        }
    }

    /// Returns a scenario with the first `n` agents of a history, and with quorums and preemption that the seed
    /// decides.
    ///
    /// # Errors
    /// [`SettingError`] when `n` is zero.
    pub fn drawn(seed: u64, n: usize) -> Result<Self, SettingError> {
        draw(seed, n, timings_of(seed)).map(Self::new)
    }

    /// Returns the scenario of [`drawn`](Self::drawn) with these timings.
    ///
    /// # Errors
    /// As [`drawn`](Self::drawn).
    pub fn with_timings(seed: u64, n: usize, timings: Timings) -> Result<Self, SettingError> {
        draw(seed, n, timings).map(Self::new)
    }

    /// Returns whether `fault` can meet a voter in this situation. A candidate and a waiting agent know no leader, and
    /// a leader knows itself.
    pub fn is_reachable(fault: Fault, situation: Situation) -> bool {
        let Situation { role, has_leader } = situation;
        if matches!(fault, Fault::Restart | Fault::Join | Fault::Outage) {
            return role == Role::Follower && !has_leader; // as an incarnation begins
        }
        if fault.is_of_memory() {
            // These faults are rare, and mostly meet a leader or a follower.
            return has_leader && role != Role::Candidate && role != Role::Waiting;
        }
        match role {
            Role::Follower => true,
            Role::Candidate | Role::Waiting => !has_leader,
            Role::Leader => has_leader,
        }
    }

    /// Returns the configurations and the record of the history.
    pub const fn watch(&self) -> &Watch {
        &self.watch
    }

    /// Returns the sound configuration.
    pub fn sound(&self) -> &QuorumConfig {
        &self.watch.sound
    }

    /// Returns the number of leaderships that began in this history.
    pub fn elections(&self) -> u64 {
        self.watch.ledger().elections
    }
}

/// Returns the timings of a seed: mostly those within a process, now and then others.
fn timings_of(seed: u64) -> Timings {
    let mut random = SplitMix64::new(seed ^ 0x510E_CA57);
    match random.below(8) {
        0 if random.chance(500) => Timings::wan(),
        0 => Timings::default(),
        1 | 2 => Timings::lan(),
        _ => Timings::in_process(),
    }
}

/// Returns the leader that the group must have after healing; `highest` is its highest-ranked voter that runs.
fn owed(
    world: &World<Watched>,
    highest: Option<(Score, &AgentId)>,
    preemption: Preemption,
) -> Expected {
    let Some((_, highest)) = highest else {
        return Expected::NoLeader;
    };
    // `slow-waits`: a voter notices only after minutes that its disk is fast again.
    let machine = world.machine(highest);
    let is_slow = machine.is_some_and(|machine| machine.prospects().slow_writes.is_some());
    match preemption {
        Preemption::After(_) if !is_slow => Expected::Only(highest.clone()),
        Preemption::After(_) | Preemption::Immediately | Preemption::Never => Expected::AnyLeader,
    }
}

/// Returns for how long the policy lets a leader with these timings lead.
fn grace_of(timings: &Timings) -> Duration {
    timings.promise().saturating_mul(2)
}

/// Draws a configuration. Every fifth history has quorums other than majorities; in every third no agent takes over
/// from a leader.
fn draw(seed: u64, n: usize, timings: Timings) -> Result<QuorumConfig, SettingError> {
    let mut random = SplitMix64::new(seed ^ 0x510E_CA57);
    random.next_u64(); // the timings' draw
    let preemption = if random.chance(333) {
        Preemption::Never
    } else {
        Preemption::After(grace_of(&timings))
    };
    let mut config = QuorumConfig {
        timings,
        preemption,
        cooldown: Duration::from_millis(500),
        ..QuorumConfig::new((0..n).filter_map(name))
    };
    if n > 0 && !random.chance(800) {
        let all: Vec<usize> = (n / 2 + 1..=n).collect();
        let votes = random.pick(&all).copied().unwrap_or(n);
        (config.vote_quorum, config.lease_quorum) = (Some(votes), Some(n - votes + 1));
    }
    config.check().map(|()| config)
}

/// The kinds of messages that decide which agent leads, and last those that decide which agents vote. A change of the
/// voters is rare, so a trap waits for messages of a change twice as often.
const DECISIVE: [&str; 13] = [
    "claim",
    "claim_reply",
    "ack",
    "elected",
    "resign",
    "takeover",
    "yield",
    "seal",
    "sealed",
    "install",
    "seal",
    "sealed",
    "install",
];

/// Number of kinds, at the end of [`DECISIVE`], that belong to a change.
const OF_A_CHANGE: usize = 6;

impl QuorumScenario {
    /// Returns a participant with a store, which can be a voter. Its clock is off, and runs at a rate of its own.
    fn with_store(&mut self, id: AgentId, random: &mut SplitMix64) -> Participant<Watched> {
        let score = self.score(random);
        let skew = i32::try_from(random.between(0, 100_000)).unwrap_or(0);
        Participant {
            clock_offset: Duration::from_millis(random.below(100_000)),
            clock_ppm: skew - 50_000,
            ..Participant::voter(id, score, self.watch.clone())
        }
    }
}

impl Scenario for QuorumScenario {
    type Election = Watched;

    /// Draws a voter, and now and then a witness. An agent that is not listed observes.
    fn participant(&mut self, id: AgentId, random: &mut SplitMix64) -> Participant<Watched> {
        let watch = self.watch.clone();
        // The agent and the configuration share one name, so that a comparison of two equal names usually compares one
        // pointer.
        let listed = watch.sound.voters.iter().find(|voter| **voter == id);
        let id = listed.unwrap_or(&id).clone();
        if watch.sound.diskless.is_some() {
            return self.without_disk(id, random);
        }
        if self.changes {
            return self.learner(id, random);
        }
        if !watch.sound.voters.contains(&id) {
            return Participant::observer(id, watch);
        }
        self.with_store(id, random)
    }

    fn delay_bound(&self) -> Duration {
        self.watch.sound.timings.delay_bound()
    }

    /// The ends of promises and quarantines; a few rounds; then the grace periods of several leaders in turn, each with
    /// a hand-over. The grace periods of the first two are up to 16 times as long, then up to 4, 2 and 1 times, since
    /// the number of flaps is halved after each period of 16.
    fn settles_within(&self, skew: u32) -> Duration {
        let (config, t) = (&self.watch.sound, &self.slowest);
        let rounds = (t.round() * 2 + t.step() + t.jitter() + config.wait()) * 10;
        let grace = match config.preemption {
            Preemption::After(_) => grace_of(t) * (16 + 16 + 4 + 2 + 1),
            Preemption::Immediately | Preemption::Never => Duration::ZERO,
        };
        let pauses = (t.promise() + config.drain()) * 3 + config.cooldown;
        let all = t.promise() * 4 + rounds + grace + pauses + self.recovers_within();
        let asked = all + self.asks_within();
        crate::skewed(if self.changes { all + asked } else { all }, skew)
    }

    /// Without disks all voters need the same promise, and of two processes of a name one abstains; but many voters may
    /// restart at once. Where the voters change, each epoch forgets which stores took part.
    fn takes(&self, fault: Fault) -> bool {
        let is_of_disks = matches!(
            fault,
            Fault::OtherTimings | Fault::RollingChange | Fault::SlowDisk
        );
        let is_own = match &self.watch.sound.diskless {
            None if self.changes => is_of_disks || fault == Fault::VoterChange,
            None => is_of_disks || fault.is_of_memory(),
            Some(_) => fault == Fault::Outage,
        };
        fault.is_general() || is_own || fault == Fault::LaterIncarnation
    }

    /// Leases and promises up to five times as long, and heartbeats up to five times as rare. Every other promise is as
    /// short as `promise-outlasts-lease` allows. The waits for messages stay the same.
    fn timings(&mut self, random: &mut SplitMix64) -> Option<Timings> {
        let t = &self.watch.sound.timings;
        let detector = t.detector()?;
        let most = if t.promise() < Duration::from_secs(1) {
            5
        } else {
            2
        };
        let leases = u32::try_from(random.between(1, most)).unwrap_or(1);
        let promises = u32::try_from(random.between(u64::from(leases), most)).unwrap_or(1);
        let lease = t.lease().saturating_mul(leases);
        let promise = if random.chance(500) {
            Timings::least_promise(lease)
        } else {
            t.promise().saturating_mul(promises)
        };
        let timings = t.clone().to_builder().lease(lease, promise).detector(
            detector.heartbeat.saturating_mul(leases),
            detector.detection.saturating_mul(leases),
        );
        timings.build().ok()
    }

    fn retimed(&mut self, watch: &Watch, timings: &Timings) -> Option<Watch> {
        if timings.promise() > self.slowest.promise() {
            self.slowest = timings.clone();
        }
        watch.retimed(timings, grace_of(timings)).ok()
    }

    /// Returns whether `agent` may now get a second memory or lose its store: the record of every other voter must name
    /// the agent's store. No rule helps if voters hear two processes of a name and have never met the other process, or
    /// if a voter lost its store and another voter was cut off since the birth of the group.
    fn doubts_memory(&mut self, world: &World<Watched>, agent: &AgentId) -> bool {
        let sound = &self.watch.sound;
        let mut others = sound.voters.iter().filter(|id| *id != agent);
        let knows = |id| {
            let record = world.durable(id);
            let heard = record.and_then(|vote| vote.others.get(agent));
            heard.is_some_and(|heard| heard.store.is_some())
        };
        let may = sound.diskless.is_none() && !self.changes && others.all(knows);
        self.watch.ledger().is_doubtful |= may;
        may
    }

    fn change_voters(
        &mut self,
        world: &mut World<Watched>,
        random: &mut SplitMix64,
    ) -> Option<Situation> {
        self.ask(world, random)
    }

    fn may_lose_storage(&self) -> usize {
        let sound = &self.watch.sound;
        if self.changes {
            // With a small quorum for the lease all voters have to return.
            return usize::from(sound.vote_quorum() == sound.lease_quorum());
        }
        sound.voters.len() - sound.vote_quorum().max(sound.lease_quorum())
    }

    /// The faults of the simulator are made for a promise of one second.
    fn stretch(&self) -> u32 {
        let seconds = self.watch.sound.timings.promise().as_secs();
        u32::try_from(seconds).unwrap_or(1).max(1)
    }

    fn decisive(&self) -> &[&'static str] {
        if self.changes {
            &DECISIVE
        } else {
            DECISIVE.split_at(DECISIVE.len() - OF_A_CHANGE).0
        }
    }

    fn expected(&self, world: &World<Watched>) -> Expected {
        if self.changes {
            return self.expected_of_changes(world);
        }
        let config = &self.watch.sound;
        let (mut running, mut highest) = (0, None);
        for id in config.voters.iter().filter(|id| world.is_running(id)) {
            running += 1;
            highest = highest.max(world.score(id).map(|score| (score, id)));
        }
        if running < config.vote_quorum().max(config.lease_quorum()) {
            return Expected::NoLeader;
        }
        owed(world, highest, config.preemption)
    }

    /// With a small quorum for the lease, a leader may lead while no election is possible any more: then all voters
    /// return.
    fn healed(&mut self, world: &mut World<Watched>) {
        let config = Arc::clone(&self.watch.sound);
        if config.diskless.is_some() {
            return self.all_return(world);
        }
        if config.vote_quorum() == config.lease_quorum() {
            return;
        }
        if self.changes {
            return self.everyone_returns(world);
        }
        for id in &config.voters {
            let score = world.score(id).or_else(|| Some(1.into()));
            world.restart(id);
            world.join(Participant::voter(id.clone(), score, self.watch.clone()));
        }
    }

    fn check(&mut self, world: &World<Watched>) -> Result<(), String> {
        let ledger = self.watch.ledger();
        let Some(me) = ledger.check(world.beliefs())? else {
            return Ok(());
        };
        let config = world.machine(me).map_or(&self.watch.sound, Watched::sound);
        ledger.check_lease(me, config, |voter| world.reading(voter))
    }
}
