//! The invitation election: agreement within each group, in every order of events and without a bound on delays.
//!
//! The model checks these invariants at every instant. Two agents that name the same group have the same coordinator,
//! and the same task if both work (`OneCoordinator`, `OneTask`). An agent that works follows the coordinator of its
//! group; it follows no agent before (`IdleUntilReady`). A leadership names one incarnation (`OneIncarnation`). No
//! agent has a leader that ranks below it (`LedFromAbove`). Over all incarnations: the number of a group is used once
//! (`NumberOnce`); no agent moves back to an older group (`GroupsRise`); a message about a group is sent after its
//! number is durable (`DiskFirst`); and a leader sends the task only to agents that have joined (`TaskForMembers`). The
//! election does not promise one leader.

use std::{cmp::Ordering, sync::Arc, time::Duration};

use bully_classics::invitation::{
    CountRecord, ElectionId, InvitationConfig, InvitationElection, InvitationMessage, PaperStatus,
    Task,
};
use bully_core::protocol::{Effect, Event, Incarnation, Leader, Timings, To};

use crate::{
    limits::number,
    relative::ticks,
    rules::{Rules, Seen, name, position},
    timed::{Bounds, World},
};

/// Rules of an invitation election for a model.
#[derive(Clone, Debug)]
pub struct Invitations {
    /// The configuration of each agent. They differ in the task.
    configs: Vec<Arc<InvitationConfig>>,
    /// Highest number of a group that the model explores.
    numbers: u8,
    /// Whether every agent can be elected, with the scores of the beginning.
    has_fixed_ranks: bool,
    /// Whether the model checks only that agents agree at one instant, and not over all incarnations.
    only_agreement: bool,
}

impl Invitations {
    /// Returns the rules for `n` voters with groups numbered up to 2.
    pub fn new(n: usize) -> Self {
        let timings = Timings::lan()
            .to_builder()
            .delay_bound(ticks(0.1))
            .deadline(ticks(0.4))
            .detector(ticks(0.5), ticks(1.5))
            .step(ticks(0.1))
            .jitter(Duration::ZERO)
            .round(ticks(0.4))
            .lease(ticks(2.0), ticks(4.0))
            .build()
            .expect("every relation holds");
        let config = |agent: u64| {
            Arc::new(InvitationConfig {
                task: Task(agent),
                cooldown: ticks(0.5),
                ..InvitationConfig::new(timings.clone())
            })
        };
        Self {
            configs: (1..).take(n).map(config).collect(),
            numbers: 2,
            has_fixed_ranks: true,
            only_agreement: false,
        }
    }
}

/// The parts of a group that order it: its number, and the position of its coordinator plus one.
type Rank = (u8, u8);

fn rank(group: &ElectionId) -> Rank {
    (small(group.count.0), small(position(&group.id)) + 1)
}

/// The history of one path, as far as the invariants need it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Groups {
    /// For each agent, the latest group that it has joined or begun, and the incarnation that did so.
    latest: [(Rank, u8); 3],
    /// For each agent, the numbers of the groups that it has led, a bit each.
    led: [u8; 3],
    /// The highest number that any agent gave a group.
    numbers: u8,
    broken: Option<&'static str>,
}

impl Groups {
    fn breaks(&mut self, invariant: &'static str) {
        self.broken.get_or_insert(invariant);
    }

    /// Notes that `agent` gives `number` to a group of its own, to which it invites others or which it leads.
    fn begins(&mut self, agent: usize, incarnation: u8, number: u8) {
        self.numbers = self.numbers.max(number);
        let (latest, since) = self.latest[agent];
        let group = (number, small(agent) + 1);
        match group.cmp(&latest) {
            Ordering::Less => self.breaks("GroupsRise"),
            Ordering::Equal if since != incarnation => self.breaks("NumberOnce"),
            Ordering::Equal => {}
            Ordering::Greater => self.latest[agent] = (group, incarnation),
        }
    }

    fn leads(&mut self, agent: usize, incarnation: u8, number: u8) {
        self.begins(agent, incarnation, number);
        let bit = 1 << number.min(7);
        if self.led[agent] & bit != 0 {
            self.breaks("NumberOnce");
        }
        self.led[agent] |= bit;
    }

    fn joins(&mut self, agent: usize, incarnation: u8, group: Rank) {
        let (latest, since) = self.latest[agent];
        if group < latest || group == latest && since != incarnation {
            self.breaks("GroupsRise");
        }
        self.latest[agent] = (group, incarnation);
    }

    fn follows(&mut self, agent: usize, incarnation: u8, leader: &Leader) {
        let holder = position(&leader.id);
        let number = small(leader.term.0);
        let has_joined = self.latest[agent] == ((number, small(holder) + 1), incarnation);
        if !has_joined || self.led[holder] & (1 << number.min(7)) == 0 {
            self.breaks("TaskForMembers");
        }
    }

    fn says(
        &mut self,
        agent: usize,
        incarnation: u8,
        to: &To,
        message: &InvitationMessage,
        disk: &CountRecord,
    ) {
        use InvitationMessage as M;
        let group = message.group();
        let is_mine = position(&group.id) == agent;
        match message {
            M::Invitation(_) if is_mine => self.begins(agent, incarnation, small(group.count.0)),
            M::Accept(_) => self.joins(agent, incarnation, rank(group)),
            M::Ready(_) => {
                let told: &[_] = match to {
                    To::One(id) => std::slice::from_ref(id),
                    To::Set(ids) => ids,
                    To::All => return self.breaks("TaskForMembers"),
                };
                let has_joined = |id| self.latest[position(id)].0 >= rank(group);
                if !told.iter().all(has_joined) {
                    self.breaks("TaskForMembers");
                }
            }
            _ => {}
        }
        let binds = is_mine && matches!(message, M::Invitation(_) | M::AreYouCoordinator(_));
        if (binds || matches!(message, M::Accept(_))) && group.count > disk.count {
            self.breaks("DiskFirst");
        }
    }
}

impl Rules for Invitations {
    type Election = InvitationElection;
    type Ledger = Groups;

    fn set(&mut self, bounds: &mut Bounds, name: &str, value: &'static str) -> bool {
        match name {
            "n" => {
                *self = Self::new(number(value));
                return bounds.set(name, value);
            }
            "numbers" => self.numbers = number(value),
            // An agent may have a leader that ranks below it.
            "ranks-change" => self.has_fixed_ranks = false,
            "only-agreement" => self.only_agreement = true,
            _ => return false,
        }
        true
    }

    fn config(&self) -> &Arc<InvitationConfig> {
        &self.configs[0]
    }

    fn config_of(&self, agent: usize, _incarnation: Incarnation) -> &Arc<InvitationConfig> {
        &self.configs[agent]
    }

    /// A reading in the past makes no difference: no rule reads how long ago a deadline passed.
    fn memory(&self) -> Duration {
        Duration::ZERO
    }

    fn note(&self, ledger: &mut Groups, seen: &Seen<'_, InvitationElection>) {
        let (agent, incarnation) = (seen.agent, small(seen.incarnation.0));
        let nothing = CountRecord::default();
        let disk = seen.disk.unwrap_or(&nothing);
        match seen.effect {
            Effect::Persist(count) if count.count <= disk.count => ledger.breaks("GroupsRise"),
            Effect::Notify(Event::Acquired { term }) => {
                if *term > disk.count {
                    ledger.breaks("DiskFirst");
                }
                ledger.leads(agent, incarnation, small(term.0));
            }
            Effect::Notify(Event::NewLeader(leader)) => ledger.follows(agent, incarnation, leader),
            Effect::Send { to, message } => ledger.says(agent, incarnation, to, message, disk),
            _ => {}
        }
    }

    fn broken(&self, world: &World<Self>) -> Option<&'static str> {
        let in_ledger = world.ledger.broken.filter(|_| !self.only_agreement);
        let alone = || (0..world.count()).find_map(|agent| self.broken_by(world, agent));
        let pairs = (0..world.count()).flat_map(|one| (0..one).map(move |other| (one, other)));
        let mut pairs = pairs.filter_map(|(one, other)| disagree(world, one, other));
        in_ledger.or_else(alone).or_else(|| pairs.next())
    }

    fn sights(&self) -> &'static [&'static str] {
        if self.has_fixed_ranks {
            &SIGHTS[..3]
        } else {
            &SIGHTS
        }
    }

    fn shows(&self, sight: usize, world: &World<Self>) -> bool {
        let leads = |agent: usize| world.believers().any(|(leader, _)| leader == agent);
        match sight {
            0 => one_group(world),
            1 => leads(0),
            2 => world.believers().nth(1).is_some(),
            _ => (0..world.count() - 1).any(|agent| follows(world, world.count() - 1, agent)),
        }
    }

    fn is_within(&self, ledger: &Groups) -> bool {
        ledger.numbers <= self.numbers
    }
}

/// The sights: three of every search, and one of searches where ranks change.
const SIGHTS: [&str; 4] = [
    "all work in one group",
    "the lowest leads",
    "two lead at once",
    "the highest is led",
];

impl Invitations {
    /// Returns the invariant that `agent` alone breaks.
    fn broken_by(&self, world: &World<Self>, agent: usize) -> Option<&'static str> {
        let (machine, view) = (world.machine(agent)?, world.view(agent)?);
        let believed = view.leader.as_ref().map(|leader| (&leader.id, leader.term));
        let works = machine.status() == PaperStatus::Normal;
        let coordinated = machine.coordinator().zip(machine.group());
        let coordinated = coordinated.map(|(id, group)| (id, group.count));
        if believed != coordinated.filter(|_| works) {
            return Some("IdleUntilReady");
        }
        let coordinator = machine.coordinator().map(position)?;
        let is_led_from_below = self.has_fixed_ranks && coordinator < agent;
        is_led_from_below.then_some("LedFromAbove")
    }
}

/// Returns the invariant about agreement that the two agents break.
fn disagree(world: &World<Invitations>, one: usize, other: usize) -> Option<&'static str> {
    let (a, b) = (world.machine(one)?, world.machine(other)?);
    if a.group()? != b.group()? {
        return None;
    }
    if a.coordinator() != b.coordinator() {
        return Some("OneCoordinator");
    }
    let work = |m: &InvitationElection| m.status() == PaperStatus::Normal;
    if work(a) && work(b) && a.task() != b.task() {
        return Some("OneTask");
    }
    let incarnation = |agent| Some(world.view(agent)?.leader?.incarnation);
    (work(a) && work(b) && incarnation(one) != incarnation(other)).then_some("OneIncarnation")
}

/// Returns whether all agents work in the same group.
fn one_group(world: &World<Invitations>) -> bool {
    let best = world.believers().next().map(|(leader, _)| leader);
    best.is_some_and(|best| {
        (0..world.count()).all(|agent| agent == best || follows(world, agent, best))
    })
}

/// Returns whether `agent` works in the group that `leader` leads.
fn follows(world: &World<Invitations>, agent: usize, leader: usize) -> bool {
    let view = |agent| world.view(agent).and_then(|view| view.leader);
    agent != leader
        && view(agent).is_some_and(|leader_of_who| {
            leader_of_who.id == name(leader) && Some(leader_of_who) == view(leader)
        })
}

fn small(number: impl TryInto<u8>) -> u8 {
    number.try_into().unwrap_or(u8::MAX)
}
