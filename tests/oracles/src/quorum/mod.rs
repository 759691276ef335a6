//! The quorum election under chaos: its invariants after every step, agreement once all is healed.
//!
//! Decided here: what is owed. Whatever happens, as long as the clocks keep within their bound:
//!
//! | invariant | |
//! |---|---|
//! | `OneBeliever` | at every instant at most one agent believes that it leads |
//! | `LeaderPerTerm` | at most one agent is elected in a term |
//! | `VoteOnce` | a voter votes once in a term, in all its incarnations |
//! | `TermMonotone` | a durable term never decreases |
//! | `TokenMonotone` | of two leaderships the later one has the higher term |
//! | `LeaseBacked` | an agent that believes has a quorum of voters that are bound to it, abstain, or do not run |
//! | `PromiseKept` | a vote is only given by a voter that is not bound |
//! | `NoRivalElected` | while one believes, no other has a quorum of votes for a higher term |
//! | `ElectedFirst` | an agent announces itself in a term for which a quorum voted for it; if ahead, after its predecessor has resigned |
//! | `ResignFinal` | no agent believes in a term that it resigned |
//! | `DiskFirst` | nothing is said of a term, and no promise given, that is not durable, but for a claim |
//! | `NoDisrupt` | a question, and a refused claim, change nothing durable |
//! | `Observers` | an observer says nothing |
//!
//! Where the voters are changed, over all lists, and also:
//!
//! | invariant | |
//! |---|---|
//! | `OneList` | in each epoch one list of voters at most is installed |
//! | `SealedFirst` | a quorum of the voters of the list before has sealed it in one term, durably |
//! | `NoAckAfterSeal` | a voter that sealed a term acknowledges no leader of that term or a lower one |
//! | `AnswerTrue` | who is told that the voters are changed finds them so |
//!
//! And once all is healed, one leader: the highest-ranked voter of the last list, if it may preempt.

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
    /// The longest of the promises that members of this history give.
    slowest: Timings,
    /// Of voters without disks.
    hosts: Hosts,
    /// Whether the voters are changed.
    changes: bool,
}

impl QuorumScenario {
    /// These voters; every other agent observes.
    pub fn new(config: QuorumConfig) -> Self {
        Self::unsound(config.clone(), config)
    }

    /// Agents with one configuration, judged by another one.
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

    /// The first `n` agents of a history, with quorums and preemption as the seed will.
    ///
    /// # Errors
    /// [`SettingError`] when `n` is zero.
    pub fn drawn(seed: u64, n: usize) -> Result<Self, SettingError> {
        draw(seed, n, timings_of(seed)).map(Self::new)
    }

    /// The same with these timings.
    ///
    /// # Errors
    /// As [`drawn`](Self::drawn).
    pub fn with_timings(seed: u64, n: usize, timings: Timings) -> Result<Self, SettingError> {
        draw(seed, n, timings).map(Self::new)
    }

    /// Whether such a fault can meet a voter in such a situation. An agent that asks or defers knows no
    /// leader, and a leader knows itself.
    pub fn is_reachable(fault: Fault, situation: Situation) -> bool {
        let Situation { role, has_leader } = situation;
        if matches!(fault, Fault::Restart | Fault::Join | Fault::Outage) {
            return role == Role::Follower && !has_leader; // as an incarnation begins
        }
        if fault.is_of_memory() {
            return has_leader && role != Role::Candidate && role != Role::Waiting; // rare, and mostly these
        }
        match role {
            Role::Follower => true,
            Role::Candidate | Role::Waiting => !has_leader,
            Role::Leader => has_leader,
        }
    }

    /// The rules' parameters, and the record.
    pub const fn watch(&self) -> &Watch {
        &self.watch
    }

    /// The rules' parameters as they ought to be.
    pub fn sound(&self) -> &QuorumConfig {
        &self.watch.sound
    }

    /// How many leaderships began in this history.
    pub fn elections(&self) -> u64 {
        self.watch.ledger().elections
    }
}

/// Mostly in-process timings, all others now and then.
fn timings_of(seed: u64) -> Timings {
    let mut random = SplitMix64::new(seed ^ 0x510E_CA57);
    match random.below(8) {
        0 if random.chance(500) => Timings::wan(),
        0 => Timings::default(),
        1 | 2 => Timings::lan(),
        _ => Timings::in_process(),
    }
}

/// Who leads once all is healed, of a group whose highest-ranked voter that runs is this one.
fn owed(
    world: &World<Watched>,
    highest: Option<(Score, &AgentId)>,
    preemption: Preemption,
) -> Expected {
    let Some((_, highest)) = highest else {
        return Expected::NoLeader;
    };
    // `slow-waits`: a voter finds after minutes only that its disk is fast again.
    let machine = world.machine(highest);
    let is_slow = machine.is_some_and(|machine| machine.prospects().slow_writes.is_some());
    match preemption {
        Preemption::After(_) if !is_slow => Expected::Only(highest.clone()),
        Preemption::After(_) | Preemption::Immediately | Preemption::Never => Expected::AnyLeader,
    }
}

/// How long a leader with these timings is left alone, if it is not for ever.
fn grace_of(timings: &Timings) -> Duration {
    timings.promise().saturating_mul(2)
}

/// Every fifth history has other quorums than majorities, every third leaves its leaders alone.
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

/// What decides who leads, and last what decides who votes. A change of the voters is rare: a trap waits for what it
/// says twice as often.
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

/// So many of them, at the end, are about a change.
const OF_A_CHANGE: usize = 6;

impl QuorumScenario {
    /// A participant with a store, which can be a voter: its clock is off, and runs at a rate of its own.
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

    /// Now and then a voter is a witness; an agent that is not listed observes.
    fn participant(&mut self, id: AgentId, random: &mut SplitMix64) -> Participant<Watched> {
        let watch = self.watch.clone();
        // The agent shares its name with the configuration, so that two equal names are mostly one pointer.
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

    /// Promises and quarantines run out; a few rounds; then the grace periods of several leaders in
    /// turn, each with a hand-over: of the first two up to 16 times what it was, then up to 4, 2
    /// and 1, since the flaps are counted half after each 16.
    fn settles_within(&self, skew: u32) -> Duration {
        let (config, t) = (&self.watch.sound, &self.slowest);
        let rounds = (t.round() * 2 + t.step() + t.jitter() + config.wait()) * 10;
        let grace = match config.preemption {
            Preemption::After(_) => grace_of(t) * (16 + 16 + 4 + 2 + 1),
            Preemption::Immediately | Preemption::Never => Duration::ZERO,
        };
        let pauses = (t.promise() + config.drain()) * 3 + config.cooldown;
        let all = t.promise() * 4 + rounds + grace + pauses + self.recovers_within();
        let all = if self.changes {
            all * 2 + self.asks_within()
        } else {
            all
        };
        all + all * skew / 1_000_000 * 2
    }

    /// Without disks all have the same promise, many restart at once, and of two processes of a name one abstains. Where
    /// the voters are changed, each epoch forgets which stores took part.
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

    /// Leases and promises up to five times as long, and heartbeats as rare; every other promise as
    /// short as `promise-outlasts-lease` allows. All wait for messages as before.
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

    /// Where the record of every other voter names the agent's store: no rule helps where two processes of a name are
    /// heard by voters that never met the other one, or where a voter lost its store and another was cut off since the
    /// birth.
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
            // With a small quorum for the lease all have to return.
            return usize::from(sound.vote_quorum() == sound.lease_quorum());
        }
        sound.voters.len() - sound.vote_quorum().max(sound.lease_quorum())
    }

    /// A promise of one second is what others' faults are made for.
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

    /// With a small quorum for the lease, a leader may outlive the chance to elect another one:
    /// then all voters return.
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
