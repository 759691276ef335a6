//! One moment of a group: its machines, its clocks, the messages on their way, and the budget of commands and faults.

use std::{
    hash::{Hash, Hasher},
    sync::Arc,
    time::Duration,
};

use bully_core::driver::MembersReports as _;
use bully_core::protocol::{
    Birth, EffectsOf, Election, Identity, Incarnation, Member, MemberKind, Members, Score, StoreId,
    Time, View, VoterChange,
};

use super::{Bounds, Crash};
use crate::{
    relative::{Mixer, at, digest},
    rules::{MessageOf, Rules, name},
};

/// The world of the machine of `R`. Two worlds with the same [digest](Hash) have the same future.
#[derive(Clone, Debug)]
pub struct World<R: Rules> {
    pub(super) nodes: Vec<Slot<R::Election>>,
    pub(super) wire: Vec<SentMessage<MessageOf<R>>>,
    /// The messages that arrived before the search began, and may arrive again. The same in every world of one search.
    pub(super) past: Arc<[SentMessage<MessageOf<R>>]>,
    /// Number of ticks that have passed.
    pub now: u16,
    /// The members that the supervisors know.
    pub(super) members: Arc<Members>,
    members_digest: u64,
    /// The commands and faults that may still happen.
    pub left: Budget,
    /// Whether any agent ever began an election by a command of a user or by a restart.
    pub stirred: bool,
    /// The score of each agent.
    pub scores: Vec<Option<Score>>,
    /// The part of the history that the invariants need.
    pub ledger: R::Ledger,
    memory: Duration,
    counts_time: bool,
    counts_clocks: bool,
}

/// A host and its clock. Worlds that differ only elsewhere share the host.
#[derive(Clone, Debug)]
pub(super) struct Slot<E: Election> {
    pub host: Arc<Host<E>>,
    /// Number of ticks that the clock has counted.
    pub clock: u16,
    digest: u64,
}

/// The machine of one name, with its timers, its disk, and its driver's knowledge.
#[derive(Clone, Debug)]
pub(super) struct Host<E: Election> {
    /// The machine; `None` after a crash.
    pub machine: Option<E>,
    pub timers: Vec<Armed<E::Timer>>,
    pub disk: Option<E::Durable>,
    /// The content of the disk before the last step, if this step sent a message and then wrote: the next crash may
    /// come between the two.
    pub unwritten: Option<Option<E::Durable>>,
    pub incarnation: Incarnation,
    /// The id of the store on the disk; `None` if no store is ever lost.
    pub store: Option<StoreId>,
    /// The members that the driver knows, as the machine heard them last.
    pub known: Arc<Members>,
}

/// A timer that was set. It is due at `from`, and fires at `to` at the latest under synchrony.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Armed<T> {
    pub timer: T,
    pub from: Time,
    pub to: Time,
}

/// A message or a notice on its way.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SentMessage<M> {
    pub from: usize,
    pub to: usize,
    pub incarnation: Incarnation,
    /// Number of ticks on the way, if the model has a longest delay.
    pub age: u8,
    /// Whether the message has arrived before.
    pub is_copy: bool,
    pub content: Content<M>,
}

/// The content of a message or a notice.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Content<M> {
    /// A message of one agent to another.
    Said(Arc<M>),
    /// An update of the members, with their state when it arrives.
    Members,
    /// The notice of the sentinel beside the sender that the sender's process has ended.
    Notice,
}

/// The commands and faults that may still happen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Budget {
    /// For each agent, whether its user may still ask for an election.
    pub campaigners: Vec<bool>,
    /// Number of elections for which users may still ask.
    pub campaigns: u8,
    /// Number of ticks that a clock may still miss.
    pub slow: u8,
    /// Number of crashes left.
    pub crashes: u8,
    /// Number of leaders that may still be asked to step down.
    pub resigns: u8,
    /// Number of wrong suspicions left.
    pub doubts: u8,
    /// Number of messages that have arrived and may arrive once more.
    pub repeats: u8,
    /// The scores that may still be set, with their agents.
    pub scores: Vec<(usize, i32)>,
    /// The changes of the voters for which a leader may still be asked.
    pub changes: Vec<VoterChange>,
}

impl<R: Rules> World<R> {
    /// Returns the world in which all agents are up, and none has begun.
    pub(super) fn new(rules: &R, bounds: &Bounds) -> Self {
        let mut members = Members::new(false);
        let member = |k| Member::up(name(k), rules.kind(k), rules.score(k), Incarnation(1));
        members.join((0..bounds.n).map(member));
        let store = |k| (bounds.crash == Crash::Lost).then(|| StoreId::new(k as u64 + 1));
        for k in 0..bounds.n {
            members.set_store(&name(k), store(k));
        }
        let slot = |k| Slot {
            host: Arc::new(Host {
                machine: None,
                timers: Vec::new(),
                disk: None,
                unwritten: None,
                incarnation: Incarnation(0),
                store: store(k),
                known: Arc::default(),
            }),
            clock: 0,
            digest: 0,
        };
        Self {
            nodes: (0..bounds.n).map(slot).collect(),
            wire: Vec::new(),
            past: Arc::new([]),
            now: 0,
            members: Arc::new(members),
            members_digest: 0,
            left: bounds.budget.clone(),
            stirred: false,
            scores: (0..bounds.n).map(|agent| rules.score(agent)).collect(),
            ledger: R::Ledger::default(),
            memory: rules.memory(),
            counts_time: bounds.horizon.is_some(),
            counts_clocks: rules.reads_wall_clocks(),
        }
    }

    /// Returns the reading of the clock of `agent`.
    pub fn clock(&self, agent: usize) -> Time {
        at(self.nodes[agent].clock)
    }

    /// Moves the clock of `agent` on to the first tick that is not before `due`.
    pub(super) fn await_time(&mut self, agent: usize, due: Time) {
        while self.clock(agent) < due {
            self.nodes[agent].clock += 1;
        }
    }

    /// Returns whether the two worlds are equal except for their budgets.
    pub(super) fn does_as(&self, other: &Self) -> bool {
        let same = |(mine, theirs): (&Slot<_>, &Slot<_>)| mine.digest == theirs.digest;
        let mut nodes = self.nodes.iter().zip(&other.nodes);
        nodes.all(same) && self.wire.len() == other.wire.len() && self.ledger == other.ledger
    }

    /// Returns the view of `agent`; `None` while it is down.
    pub fn view(&self, agent: usize) -> Option<View> {
        let machine = self.nodes[agent].host.machine.as_ref()?;
        Some(machine.view(self.clock(agent)))
    }

    /// Returns the machine of `agent`; `None` while it is down.
    pub fn machine(&self, agent: usize) -> Option<&R::Election> {
        self.nodes[agent].host.machine.as_ref()
    }

    pub(super) fn is_up(&self, agent: usize) -> bool {
        self.nodes[agent].host.machine.is_some()
    }

    /// Returns whether an incarnation of `agent` has ended, and no next one has begun.
    pub(super) fn is_dead(&self, agent: usize) -> bool {
        !self.is_up(agent) && self.incarnation(agent) > Incarnation(0)
    }

    /// Returns the number of agents, including those that are down.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the present or the last incarnation of `agent`.
    pub fn incarnation(&self, agent: usize) -> Incarnation {
        self.nodes[agent].host.incarnation
    }

    /// Returns the agents that consider themselves leader, with their terms.
    pub fn believers(&self) -> impl Iterator<Item = (usize, u64)> {
        let leading = |agent| Some((agent, self.view(agent)?.leading?.0));
        (0..self.nodes.len()).filter_map(leading)
    }

    /// Returns whether nothing more will happen without a command or a fault.
    pub fn is_at_rest(&self) -> bool {
        self.wire.is_empty() && self.nodes.iter().all(|slot| slot.host.timers.is_empty())
    }

    /// Replaces the host of `agent`, or only updates the digest after its clock has moved on.
    pub(super) fn settle(&mut self, agent: usize, host: Option<Host<R::Election>>) {
        let (now, memory) = (self.clock(agent), self.memory);
        let slot = &mut self.nodes[agent];
        if let Some(host) = host {
            slot.host = Arc::new(host);
        }
        slot.digest = digest(&Dated(&*slot.host, now), now, memory);
    }

    /// Replaces the members that the supervisors know.
    pub(super) fn change_members(&mut self, members: Members) {
        self.members_digest = digest(&members, Time::ZERO, self.memory);
        self.members = Arc::new(members);
    }

    /// Returns the identity with which `agent` begins, made from its disk.
    pub(super) fn identity(
        &self,
        agent: usize,
        kind: MemberKind,
        score: Option<Score>,
    ) -> Identity {
        let incarnation = self.nodes[agent].host.incarnation.next();
        let birth = if incarnation == Incarnation(1) {
            Birth::Started
        } else {
            Birth::Restarted
        };
        Identity {
            id: name(agent),
            incarnation,
            kind,
            score,
            birth,
            store: self.nodes[agent].host.store,
        }
    }
}

/// The parts of a host that decide its future. All timers that are overdue have the same hash.
struct Dated<'a, E: Election>(&'a Host<E>, Time);

impl<E> Hash for Dated<'_, E>
where
    E: Election<Timer: Hash, Durable: Hash> + Hash,
{
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self(host, now) = self;
        host.machine.hash(state);
        for armed in &host.timers {
            armed.timer.hash(state);
            armed.from.max(*now).hash(state);
            armed.to.max(*now).hash(state);
        }
        host.disk.hash(state);
        host.unwritten.hash(state);
        (host.incarnation, host.store).hash(state);
    }
}

impl<R: Rules> Hash for World<R> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for slot in &self.nodes {
            state.write_u64(slot.digest);
        }
        let mut messages: Vec<u64> = self.wire.iter().map(|l| self.digest_of(l)).collect();
        messages.sort_unstable();
        messages.hash(state);
        self.left.hash(state);
        (self.stirred, &self.scores).hash(state);
        self.ledger.hash(state);
        state.write_u64(self.members_digest);
        if self.counts_time {
            self.now.hash(state);
        }
        if self.counts_clocks {
            for slot in &self.nodes {
                slot.clock.hash(state);
            }
        }
    }
}

impl<R: Rules> World<R> {
    /// Returns the digest of a message. Its readings belong to one clock; the order of messages does not count.
    fn digest_of(&self, sent: &SentMessage<MessageOf<R>>) -> u64 {
        let clock = match &sent.content {
            Content::Said(message) if R::quotes_receiver(message) => self.clock(sent.to),
            Content::Said(_) => self.clock(sent.from),
            Content::Members | Content::Notice => Time::ZERO,
        };
        let content = digest(&sent.content, clock, self.memory);
        let mut hasher = Mixer::default();
        let what = (sent.from, sent.to, sent.incarnation, content);
        (what, sent.age, sent.is_copy).hash(&mut hasher);
        hasher.finish()
    }
}

impl<R: Rules> PartialEq for World<R> {
    fn eq(&self, other: &Self) -> bool {
        let sum = |world: &Self| {
            let mut hasher = Mixer::default();
            world.hash(&mut hasher);
            hasher.finish()
        };
        sum(self) == sum(other)
    }
}

/// Returns the effects of one step, which the caller carries out.
pub(super) fn handle<E: Election>(
    machine: &mut E,
    now: Time,
    input: bully_core::protocol::InputOf<E>,
) -> EffectsOf<E> {
    let mut out = EffectsOf::<E>::new();
    machine.handle(now, input, &mut out);
    out
}
