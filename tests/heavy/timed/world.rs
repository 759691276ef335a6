//! One moment of a group: its machines, its clocks, the messages on their way, and what may still happen.

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
    rules::{MessageOf, Owner, Rules, name},
};

/// What the machine `R` plays against; the same [digest](Hash) means the same future.
#[derive(Clone, Debug)]
pub struct World<R: Rules> {
    pub(super) nodes: Vec<Slot<R::Election>>,
    pub(super) wire: Vec<SentMessage<MessageOf<R>>>,
    /// What arrived before the search began, and may do so again. The same in every world of one search.
    pub(super) past: Arc<[SentMessage<MessageOf<R>>]>,
    /// How many ticks have passed.
    pub now: u16,
    /// The members, as the supervisors know them.
    pub(super) members: Arc<Members>,
    members_digest: u64,
    /// What may still be done to the group.
    pub left: Budget,
    /// Whether any agent was ever made to hold an election, by a user or by a restart.
    pub stirred: bool,
    /// The score of each.
    pub scores: Vec<Option<Score>>,
    /// What was said and done, as far as the invariants need it.
    pub ledger: R::Ledger,
    memory: Duration,
    counts_time: bool,
    counts_clocks: bool,
}

/// A machine, and where it runs; shared between worlds that differ elsewhere.
#[derive(Clone, Debug)]
pub(super) struct Slot<E: Election> {
    pub host: Arc<Host<E>>,
    /// The ticks that its clock has counted.
    pub clock: u16,
    digest: u64,
}

/// What belongs to one name.
#[derive(Debug)]
pub(super) struct Host<E: Election> {
    /// `None` after a crash.
    pub machine: Option<E>,
    pub timers: Vec<Armed<E::Timer>>,
    pub disk: Option<E::Durable>,
    /// What was on the disk before the last step, if that said something and then wrote: the next crash may come
    /// between the two.
    pub unwritten: Option<Option<E::Durable>>,
    pub incarnation: Incarnation,
    /// Which store the disk is; `None` where none is ever lost.
    pub store: Option<StoreId>,
    /// What its driver knows of the members: what the machine was told last.
    pub known: Arc<Members>,
}

impl<E: Election + Clone> Clone for Host<E> {
    fn clone(&self) -> Self {
        Self {
            machine: self.machine.clone(),
            timers: self.timers.clone(),
            disk: self.disk.clone(),
            unwritten: self.unwritten.clone(),
            incarnation: self.incarnation,
            store: self.store,
            known: Arc::clone(&self.known),
        }
    }
}

/// A timer that was set. It does not fire before `from`. If the delay of a timer is bounded, the time does not pass `to`
/// before the timer has fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Armed<T> {
    pub timer: T,
    pub from: Time,
    pub to: Time,
}

/// Something on its way.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SentMessage<M> {
    pub from: usize,
    pub to: usize,
    pub incarnation: Incarnation,
    /// For how many ticks it has been on its way, where that matters.
    pub age: u8,
    /// Whether it has arrived before.
    pub is_copy: bool,
    pub content: Content<M>,
}

/// What is on its way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Content<M> {
    /// What one agent says to another.
    Said(Arc<M>),
    /// An update of the members, as of when it arrives.
    Members,
    /// The sentinel beside the sender says that the sender's process has ended.
    Notice,
}

/// What may still be done to the group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Budget {
    /// The agents whose users may still ask for an election.
    pub campaigners: Vec<bool>,
    /// How many elections users may still ask for.
    pub campaigns: u8,
    /// How many ticks one clock may still miss.
    pub slow: u8,
    /// How many may still crash.
    pub crashes: u8,
    /// How many leaders may still be asked to step down.
    pub resigns: u8,
    /// How often an agent may still be suspected for nothing.
    pub doubts: u8,
    /// How many notices may still be told of agents that go on.
    pub forgeries: u8,
    /// How many messages that have arrived may arrive once more.
    pub repeats: u8,
    /// Which scores may still be set, and of which agents.
    pub scores: Vec<(usize, i32)>,
    /// Which changes of the voters a leader may still be asked for.
    pub changes: Vec<VoterChange>,
}

impl<R: Rules> World<R> {
    /// All are there, and none has begun.
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

    /// What the clock of `agent` shows.
    pub fn clock(&self, agent: usize) -> Time {
        at(self.nodes[agent].clock)
    }

    /// The clock of `agent` moves on to its first tick that is not before `due`, unless it is there.
    pub(super) fn await_time(&mut self, agent: usize, due: Time) {
        while self.clock(agent) < due {
            self.nodes[agent].clock += 1;
        }
    }

    /// Whether both are alike, whatever is left of their budgets.
    pub(super) fn does_as(&self, other: &Self) -> bool {
        let same = |(mine, theirs): (&Slot<_>, &Slot<_>)| mine.digest == theirs.digest;
        let mut nodes = self.nodes.iter().zip(&other.nodes);
        nodes.all(same) && self.wire.len() == other.wire.len() && self.ledger == other.ledger
    }

    /// What `agent` believes now; `None` while it is down.
    pub fn view(&self, agent: usize) -> Option<View> {
        let machine = self.nodes[agent].host.machine.as_ref()?;
        Some(machine.view(self.clock(agent)))
    }

    /// The machine of `agent`; `None` while it is down.
    pub fn machine(&self, agent: usize) -> Option<&R::Election> {
        self.nodes[agent].host.machine.as_ref()
    }

    /// Whether `agent` is not down.
    pub(super) fn is_up(&self, agent: usize) -> bool {
        self.nodes[agent].host.machine.is_some()
    }

    /// Whether an incarnation of `agent` has ended, and no other one has begun.
    pub(super) fn is_dead(&self, agent: usize) -> bool {
        !self.is_up(agent) && self.incarnation(agent) > Incarnation(0)
    }

    /// How many agents there are, dead or alive.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Which incarnation of `agent` this is, or was the last.
    pub fn incarnation(&self, agent: usize) -> Incarnation {
        self.nodes[agent].host.incarnation
    }

    /// The agents that believe that they lead, with their terms.
    pub fn believers(&self) -> impl Iterator<Item = (usize, u64)> {
        let leading = |agent| Some((agent, self.view(agent)?.leading?.0));
        (0..self.nodes.len()).filter_map(leading)
    }

    /// Whether nothing will happen by itself any more.
    pub fn is_at_rest(&self) -> bool {
        self.wire.is_empty() && self.nodes.iter().all(|slot| slot.host.timers.is_empty())
    }

    /// Replaces what belongs to `agent`, or only notes that its clock has moved on.
    pub(super) fn settle(&mut self, agent: usize, host: Option<Host<R::Election>>) {
        let (now, memory) = (self.clock(agent), self.memory);
        let slot = &mut self.nodes[agent];
        if let Some(host) = host {
            slot.host = Arc::new(host);
        }
        slot.digest = digest(&Dated(&*slot.host, now), now, memory);
    }

    /// The supervisors know something else.
    pub(super) fn change_members(&mut self, members: Members) {
        self.members_digest = digest(&members, Time::ZERO, self.memory);
        self.members = Arc::new(members);
    }

    /// The incarnation that `agent` begins, from what is on its disk.
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

/// What belongs to one name, as far as it decides the future: a timer that is due is due.
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
    /// Order does not count among messages, and their readings belong to one clock.
    fn digest_of(&self, sent: &SentMessage<MessageOf<R>>) -> u64 {
        let clock = match &sent.content {
            Content::Said(message) => match R::clock_in(message) {
                Owner::Sender => self.clock(sent.from),
                Owner::Receiver => self.clock(sent.to),
            },
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

/// The effects of one step, carried out by the caller.
pub(super) fn handle<E: Election>(
    machine: &mut E,
    now: Time,
    input: bully_core::protocol::InputOf<E>,
) -> EffectsOf<E> {
    let mut out = EffectsOf::<E>::new();
    machine.handle(now, input, &mut out);
    out
}
