//! The choice of the next fault.
//!
//! Decided here: which faults of the list a history uses, how fast they follow each other, and which agents they
//! affect: the leader more often than other agents. Not here: the effect of a fault; each fault is a verb of the world.

use std::time::Duration;

use super::{
    ChaosOptions, Coverage, Fault, Scenario,
    scenario::{calm, name},
    strikes::{forget, outage, strikes, target},
    timings::{self, RollingChange},
};
use crate::{
    faults::{Conditions, SplitMix64},
    sim::{Reaction, Situation, Situations, Trap, World},
};
use bully_core::protocol::{After, AgentId, Election};

/// The effect of each trap, and the fault that is counted when the trap springs.
const TRAPS: [(Reaction, Fault); 3] = [
    (Reaction::Crash, Fault::CrashAfterSend),
    (Reaction::Pause, Fault::PauseAfterSend),
    (Reaction::Isolate, Fault::IsolateAfterSend),
];

/// The source of the faults of one history.
#[derive(Debug)]
pub(super) struct Nemesis {
    /// The faults of this history.
    faults: Vec<Fault>,
    gap: After,
    /// Largest number of agents, and the number of names in use.
    most: usize,
    taken: usize,
    skew: u32,
    /// The cut in force, and the messages that cuts had lost before it began.
    cut: Option<(Fault, Situations)>,
    /// Number of agents that have lost the record on which they depend, for ever.
    pub(super) lost: usize,
    /// The agents that had a second process, or another store. These agents are ended before the members have to agree.
    pub(super) doubtful: Vec<AgentId>,
    /// The agent in `doubtful` that has an old record, or a copy of a record.
    pub(super) copied: Option<AgentId>,
    /// The new timings, if a change of timings goes from member to member.
    rolling: RollingChange,
    pub(super) coverage: Coverage,
}

impl Nemesis {
    /// Chooses the circumstances at random: each kind of fault is used with a chance of one half.
    pub(super) fn new<S: Scenario>(
        n: usize,
        options: &ChaosOptions,
        scenario: &S,
        random: &mut SplitMix64,
    ) -> Self {
        let mut all = options.faults.clone();
        all.retain(|fault| scenario.takes(*fault));
        let mut faults = all.clone();
        faults.retain(|_| random.chance(500));
        if faults.is_empty() {
            faults = all;
        }
        let shortest = Duration::from_millis(random.between(1, 200)) * scenario.stretch();
        Self {
            faults,
            gap: After {
                min: shortest,
                max: shortest * 8,
            },
            most: n.saturating_add(3), // three new agents may join; then former agents join again
            taken: n,
            skew: options.skew,
            cut: None,
            lost: 0,
            doubtful: Vec::new(),
            copied: None,
            rolling: RollingChange::default(),
            coverage: Coverage::default(),
        }
    }

    /// Returns whether this history uses this kind of fault.
    pub(super) fn takes(&self, fault: Fault) -> bool {
        self.faults.contains(&fault)
    }

    pub(super) fn gap(&self, random: &mut SplitMix64) -> Duration {
        random.span(self.gap)
    }

    /// Causes a fault, or ends one.
    pub(super) fn strike<S: Scenario>(
        &mut self,
        world: &mut World<S::Election>,
        scenario: &mut S,
        random: &mut SplitMix64,
    ) {
        // The share of repairs is chosen: with far fewer, groups have no leader to test; with far more, two faults
        // rarely overlap.
        if random.chance(400) {
            return self.repair(world, scenario.delay_bound(), random);
        }
        let Some(fault) = random.pick(&self.faults).copied() else {
            return;
        };
        if self.spares(fault, world) {
            return;
        }
        if let Some(situation) = self.inflict(fault, world, scenario, random) {
            self.coverage.hit(fault, situation);
        }
    }

    /// Causes a fault. If the fault affects a single agent, returns the situation of that agent before the fault.
    fn inflict<S: Scenario>(
        &mut self,
        fault: Fault,
        world: &mut World<S::Election>,
        scenario: &mut S,
        random: &mut SplitMix64,
    ) -> Option<Situation> {
        match fault {
            Fault::Loss | Fault::Duplication | Fault::Reordering | Fault::LongDelay => {
                self.worsen(world, fault, scenario.delay_bound(), random);
                None
            }
            Fault::Split | Fault::OneWayCut | Fault::NonTransitiveCut | Fault::Isolation => {
                self.separate(world, fault, random);
                None
            }
            Fault::CrashAfterSend | Fault::PauseAfterSend | Fault::IsolateAfterSend => {
                let found = TRAPS.iter().find(|(_, named)| *named == fault);
                if let Some((reaction, _)) = found {
                    set_trap(world, *reaction, scenario.decisive(), random);
                }
                None
            }
            Fault::LateTimers => {
                self.delay_timers(world, scenario.delay_bound());
                None
            }
            Fault::Join => self.join(world, scenario, random),
            Fault::Leave => leave(world, random),
            Fault::ScoreChange => {
                let score = scenario.score(random);
                strikes(world, random, |world, agent| world.set_score(agent, score))
            }
            Fault::Crash => self.crash(world, random),
            Fault::Restart => restart(world, random),
            Fault::Pause => strikes(world, random, |world, agent| world.pause(agent)),
            Fault::ClockRate => {
                let ppm = self.rate(random);
                strikes(world, random, |world, agent| {
                    world.set_clock_rate(agent, ppm)
                })
            }
            Fault::Campaign => strikes(world, random, |world, agent| world.campaign(agent)),
            Fault::StepDown => {
                let to = target(world, random).filter(|_| random.chance(500));
                strikes(world, random, |world, agent| world.step_down(agent, to))
            }
            Fault::LostStorage => self.lose_storage(world, scenario.may_lose_storage(), random),
            Fault::Replay => met_at(world, random, World::replay),
            Fault::OldIncarnation => met_at(world, random, World::replay_of_ended_incarnation),
            Fault::Forgery if random.chance(500) => met_at(world, random, World::forge_sender),
            Fault::Forgery => met_at(world, random, World::forge_epoch),
            Fault::Forgotten => forget(world, random),
            Fault::OtherTimings => timings::differ(world, scenario, random),
            Fault::RollingChange => self.rolling.go_on(world, scenario, random),
            Fault::Outage => outage(world, random),
            Fault::VoterChange => scenario.change_voters(world, random),
            Fault::LaterIncarnation => met_at(world, random, World::replay_to_later_incarnation),
            Fault::SecondProcess => self.begin_second(world, scenario, random),
            Fault::SecondEnds => self.end_second(world, random),
            Fault::OtherStore => self.replace_store(world, scenario, random),
            Fault::SlowDisk => slow_down(world, scenario.delay_bound(), random),
        }
    }

    /// Makes timers late from now on.
    fn delay_timers<E: Election>(&mut self, world: &mut World<E>, bound: Duration) {
        world.set_lateness(After::jittered(Duration::ZERO, bound * 10));
        self.coverage.count(Fault::LateTimers, 1);
        self.coverage
            .meets(Fault::LateTimers, &all_situations(world));
    }

    /// Returns a random deviation of a clock's rate, in parts per million.
    fn rate(&self, random: &mut SplitMix64) -> i32 {
        let ppm = random.below(u64::from(self.skew) * 2 + 1);
        let ppm = i64::try_from(ppm).unwrap_or(0) - i64::from(self.skew);
        i32::try_from(ppm).unwrap_or(0)
    }

    /// Loses an agent's disk in a crash. If the rules depend on the disk, no further incarnation may begin.
    fn lose_storage<E: Election>(
        &mut self,
        world: &mut World<E>,
        most: usize,
        random: &mut SplitMix64,
    ) -> Option<Situation> {
        let (mut lost, room) = (None, self.lost < most);
        let met = strikes(world, random, |world, agent| {
            let depends = world.depends_on_a_record(agent);
            let done = (room || !depends) && world.crash(agent);
            lost = done.then(|| (agent.clone(), depends));
            done
        })?;
        let (agent, depends) = lost?;
        world.wipe(&agent);
        self.lost = self.lost.saturating_add(usize::from(depends));
        if world.restart(&agent) && depends {
            world.violate(format!("{agent} starts without the record that it lost"));
        }
        Some(met)
    }

    /// Counts the faults that can only be counted at the end.
    pub(super) fn finish<E: Election>(&mut self, world: &World<E>) {
        self.end_cut(world);
        let tally = world.tally();
        self.coverage.count(Fault::Loss, tally.lost);
        self.coverage.count(Fault::Duplication, tally.duplicated);
        self.coverage.count(Fault::Reordering, tally.reordered);
        self.coverage.count(Fault::LongDelay, tally.slow);
        let hits = world.hits();
        for (fault, situations) in [
            (Fault::Loss, &hits.lost),
            (Fault::Duplication, &hits.duplicated),
            (Fault::Reordering, &hits.reordered),
            (Fault::LongDelay, &hits.slow),
        ] {
            self.coverage.meets(fault, situations);
        }
        for (reaction, fault) in TRAPS {
            self.coverage.count(fault, world.sprung(reaction));
            self.coverage.meets(fault, &world.trapped(reaction));
        }
    }

    fn repair<E: Election>(
        &mut self,
        world: &mut World<E>,
        bound: Duration,
        random: &mut SplitMix64,
    ) {
        match random.below(4) {
            0 => {
                world.heal();
                world.meet_again();
                self.end_cut(world);
            }
            1 => world.set_conditions(calm(bound)),
            2 => {
                let all: Vec<AgentId> = world.agents().cloned().collect();
                for agent in all {
                    world.resume(agent);
                }
            }
            _ => {
                if let Some(met) = restart(world, random) {
                    self.coverage.hit(Fault::Restart, met);
                }
            }
        }
    }

    /// Makes the conditions of the whole network worse.
    fn worsen<E: Election>(
        &mut self,
        world: &mut World<E>,
        fault: Fault,
        bound: Duration,
        random: &mut SplitMix64,
    ) {
        let with = |fault: Fault, random: &mut SplitMix64| {
            self.faults.contains(&fault) && random.chance(500)
        };
        let mut bad = Conditions::builder().delay(bound / 50..=bound);
        if fault == Fault::Loss || with(Fault::Loss, random) {
            bad = bad.loss(u16::try_from(random.between(10, 400)).unwrap_or(0));
        }
        if fault == Fault::Duplication || with(Fault::Duplication, random) {
            bad = bad.duplication(u16::try_from(random.between(10, 300)).unwrap_or(0));
        }
        if fault == Fault::Reordering || with(Fault::Reordering, random) {
            bad = bad.in_any_order();
        }
        if fault == Fault::LongDelay || with(Fault::LongDelay, random) {
            let share = u16::try_from(random.between(5, 200)).unwrap_or(0);
            bad = bad.slow(share, bound..=bound * 100);
        }
        world.set_conditions(bad.build().unwrap_or_default());
    }

    /// Separates some agents from the other agents.
    fn separate<E: Election>(
        &mut self,
        world: &mut World<E>,
        fault: Fault,
        random: &mut SplitMix64,
    ) {
        self.end_cut(world);
        let mut all: Vec<AgentId> = world.agents().cloned().collect();
        random.shuffle(&mut all);
        match (fault, target(world, random), all.as_slice()) {
            (Fault::Split, _, all) => {
                let half = all.len() / 2;
                world.partition([all.iter().take(half)]);
            }
            (Fault::Isolation, Some(agent), _) => world.isolate(agent),
            (Fault::OneWayCut, Some(from), all) => {
                for to in all.iter().take(all.len() / 2).filter(|to| **to != from) {
                    if random.chance(500) {
                        world.cut_one_way(&from, to);
                    } else {
                        world.cut_one_way(to, &from);
                    }
                }
            }
            (_, _, [one, other, ..]) => world.cut(one, other),
            (_, _, _) => {}
        }
        self.cut = Some((fault, world.hits().separated()));
    }

    /// Makes a new agent join if the limit allows it, otherwise an agent that left.
    fn join<S: Scenario>(
        &mut self,
        world: &mut World<S::Election>,
        scenario: &mut S,
        random: &mut SplitMix64,
    ) -> Option<Situation> {
        let number = if self.taken < self.most {
            self.taken
        } else {
            usize::try_from(random.below(u64::try_from(self.most).unwrap_or(1))).unwrap_or(0)
        };
        self.taken = self.taken.max(number.saturating_add(1));
        let id = name(number)?;
        let participant = scenario.participant(id.clone(), random);
        let joins = world.join(participant);
        world.situation(&id).filter(|_| joins)
    }

    /// Ends a cut, and counts it if a message was lost to it.
    pub(super) fn end_cut<E: Election>(&mut self, world: &World<E>) {
        if let Some((fault, before)) = self.cut.take() {
            let hurt = world.hits().separated().since(&before);
            self.coverage.count(fault, u64::from(hurt.total() > 0));
            self.coverage.meets(fault, &hurt);
        }
    }
}

/// Makes a disk slow, or fast again.
fn slow_down<E: Election>(
    world: &mut World<E>,
    bound: Duration,
    random: &mut SplitMix64,
) -> Option<Situation> {
    let span = bound * u32::try_from(random.below(60)).unwrap_or(0);
    strikes(world, random, |world, agent| {
        world.set_write_time(agent, span)
    })
}

/// Begins the next incarnation of an agent that is down.
fn restart<E: Election>(world: &mut World<E>, random: &mut SplitMix64) -> Option<Situation> {
    let dead = world.agents().filter(|id| world.view(id).is_none());
    let dead: Vec<AgentId> = dead.cloned().collect();
    let agent = random.pick(&dead)?;
    let begins = world.restart(agent);
    world.situation(agent).filter(|_| begins)
}

/// Makes an agent leave for ever, unless no other agent runs.
fn leave<E: Election>(world: &mut World<E>, random: &mut SplitMix64) -> Option<Situation> {
    let few = world.views().count() < 2;
    strikes(world, random, |world, agent| !few && world.leave(agent))
}

/// Adds a message to the messages on their way. Returns the situation of its receiver.
fn met_at<E: Election>(
    world: &mut World<E>,
    random: &mut SplitMix64,
    slip_in: impl FnOnce(&mut World<E>, u64) -> Option<AgentId>,
) -> Option<Situation> {
    let at = slip_in(world, random.next_u64())?;
    world.situation(at)
}

fn all_situations<E: Election>(world: &World<E>) -> Situations {
    let mut all = Situations::default();
    for agent in world.agents() {
        if let Some(situation) = world.situation(agent) {
            all.add(situation);
        }
    }
    all
}

/// Sets a trap for the next agent that sends a decisive message.
fn set_trap<E: Election>(
    world: &mut World<E>,
    then: Reaction,
    kinds: &[&'static str],
    random: &mut SplitMix64,
) {
    world.disarm();
    if let Some(kind) = random.pick(kinds).copied() {
        let spared = u32::try_from(random.below(4)).unwrap_or(0);
        let by = None;
        world.arm(&Trap {
            by,
            kind,
            spared,
            then,
        });
    }
}
