//! What the cluster knows of its run: the network, the messages under way, and the record.
//!
//! Decided here: the order of messages, which is (time of arrival, order of sending), and what counts
//! towards an election. Not here: when it is asked (`hub.rs`).

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use actix::{Recipient, prelude::SendError};
use futures::channel::oneshot;

use crate::{
    clock::{Clock, RuntimeClock},
    group::Envelope,
    protocol::{AgentId, Event, PeerMessage, Role, Time},
    supervisor::{Exit, Supervision},
    testkit::{
        faults::{Fate, Network},
        trace::{Happening, Trace},
    },
};

/// A message on its way.
#[derive(Clone, Debug)]
pub(super) struct Parcel<M: PeerMessage> {
    pub(super) to: AgentId,
    pub(super) envelope: Envelope<M>,
    pub(super) inbox: Recipient<Envelope<M>>,
    pub(super) worth: Worth,
}

/// What a message is to an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Worth {
    /// Part of it.
    Election,
    /// A repeated message, but not the same as before.
    Changed,
    /// Nothing that was not said before.
    Nothing,
}

/// See the [module's page](self).
#[derive(Debug)]
pub(super) struct Journal<M: PeerMessage> {
    clock: RuntimeClock,
    pub(super) network: Network,
    pub(super) trace: Trace,
    under_way: BTreeMap<(Time, u64), Parcel<M>>,
    sequence: u64,
    /// What each said last of what it repeats.
    said: BTreeMap<(AgentId, AgentId), M>,

    /// Grows whenever something happens that may belong to an election.
    activity: u64,
    /// Told when it next does.
    waiters: Vec<oneshot::Sender<()>>,
    /// Messages of elections, sent so far.
    messages: u64,
    /// When an agent last changed its leader.
    believed: Time,
    last_action: LastAction,

    /// Their end was recorded when it was done to them.
    doomed: BTreeSet<AgentId>,
    roles: BTreeMap<AgentId, Role>,
    /// They have told something since their role was last recorded.
    told: BTreeSet<AgentId>,
}

/// The last thing that was done to the cluster.
#[derive(Clone, Copy, Debug, Default)]
struct LastAction {
    at: Time,
    messages: u64,
}

impl<M: PeerMessage> Journal<M> {
    pub(super) fn new(clock: RuntimeClock, network: Network, trace: Trace) -> Self {
        Self {
            clock,
            network,
            trace,
            under_way: BTreeMap::new(),
            sequence: 0,
            said: BTreeMap::new(),
            activity: 0,
            waiters: Vec::new(),
            messages: 0,
            believed: Time::ZERO,
            last_action: LastAction::default(),
            doomed: BTreeSet::new(),
            roles: BTreeMap::new(),
            told: BTreeSet::new(),
        }
    }

    // ---- messages ----------------------------------------------------------------------------

    /// A message leaves.
    pub(super) fn carry(
        &mut self,
        to: AgentId,
        envelope: Envelope<M>,
        inbox: Recipient<Envelope<M>>,
    ) {
        let now = self.now();
        let worth = self.worth(&to, &envelope);
        let parcel = Parcel {
            to,
            envelope,
            inbox,
            worth,
        };
        if worth != Worth::Nothing {
            self.stir();
        }
        self.messages += u64::from(worth == Worth::Election);
        let Parcel { to, envelope, .. } = &parcel;
        let (from, message) = (&envelope.from, &envelope.message);
        let arrivals = match self.network.fate_of(message.kind(), now, from, to) {
            Fate::Arrives(arrivals) => arrivals,
            Fate::Lost(why) => return self.trace.lost(now, from, to, message, why),
        };
        let first = self.on_the_grid(now, arrivals.first(), from, to);
        let copies = arrivals.iter().skip(1);
        let copies: Vec<_> = copies
            .map(|at| self.on_the_grid(now, at, from, to))
            .collect();
        let all = std::iter::once(first).chain(copies.iter().copied());
        self.trace.sent(now, from, to, message, all);
        for at in copies {
            self.send_off(at, parcel.clone());
        }
        self.send_off(first, parcel);
    }

    fn worth(&mut self, to: &AgentId, envelope: &Envelope<M>) -> Worth {
        let Envelope { from, message, .. } = envelope;
        if !message.is_repeated() {
            return Worth::Election;
        }
        let before = self
            .said
            .insert((from.clone(), to.clone()), message.clone());
        match before {
            Some(before) if before == *message => Worth::Nothing,
            Some(_) | None => Worth::Changed,
        }
    }

    fn send_off(&mut self, at: Time, parcel: Parcel<M>) {
        self.sequence += 1;
        self.under_way.insert((at, self.sequence), parcel);
    }

    /// Whole milliseconds, as timers fire on a grid of them; but what takes no time takes none,
    /// unless an earlier message of the same pair is still under way.
    fn on_the_grid(&self, now: Time, at: Time, from: &AgentId, to: &AgentId) -> Time {
        if at > now {
            let nanos = at.as_nanos().checked_next_multiple_of(MILLISECOND);
            return Time::from_nanos(nanos.unwrap_or(u64::MAX));
        }
        let same = |parcel: &Parcel<M>| parcel.envelope.from == *from && parcel.to == *to;
        let mut ahead = self.under_way.iter().rev();
        ahead
            .find(|(_, parcel)| same(parcel))
            .map_or(now, |((at, _), _)| *at)
    }

    /// Delivers what is due; says when to look again.
    pub(super) fn deliver(&mut self) -> Option<Duration> {
        let now = self.now();
        while let Some(first) = self.under_way.first_entry() {
            let (at, _) = *first.key();
            if at > now {
                return Some(at.since(now));
            }
            let parcel = first.remove();
            self.put(now, parcel);
        }
        None
    }

    /// As the group does without a network: what is repeated anyway is dropped at a full mailbox.
    fn put(&mut self, now: Time, parcel: Parcel<M>) {
        let Parcel {
            to,
            envelope,
            inbox,
            worth,
        } = parcel;
        let (from, message) = (envelope.from.clone(), envelope.message.clone());
        let dropped = if !inbox.connected() {
            Some("no receiver")
        } else if message.is_repeated() {
            match inbox.try_send(envelope) {
                Ok(()) => None,
                Err(SendError::Full(_)) => Some("the mailbox is full"),
                Err(SendError::Closed(_)) => Some("no receiver"),
            }
        } else {
            inbox.do_send(envelope);
            None
        };
        if worth != Worth::Nothing {
            self.stir();
        }
        match dropped {
            None => self.trace.delivered(now, &from, &to, &message),
            Some(why) => self.trace.dropped(now, &from, &to, &message, why),
        }
    }

    /// How many messages that may change something are under way to agents that run.
    pub(super) fn under_way(&self, listens: impl Fn(&AgentId) -> bool) -> usize {
        let counts = |parcel: &&Parcel<M>| parcel.worth != Worth::Nothing && listens(&parcel.to);
        self.under_way.values().filter(counts).count()
    }

    // ---- what agents tell -------------------------------------------------------------------

    pub(super) fn notice(&mut self, agent: &AgentId, event: &Event) {
        let now = self.now();
        self.stir();
        self.believed = now;
        self.told.insert(agent.clone());
        self.trace.event(now, agent, event);
    }

    /// An agent's role, which its events may have told already.
    pub(super) fn role(&mut self, agent: &AgentId, role: Role, is_new: bool) {
        let before = self.roles.insert(agent.clone(), role);
        let has_told = self.told.remove(agent);
        if !is_new || before.unwrap_or_default() == role {
            return;
        }
        self.stir();
        let is_known = match role {
            Role::Leader => true,
            Role::Follower => has_told,
            Role::Candidate | Role::Waiting => false,
        };
        if !is_known {
            self.trace.role(self.now(), agent, role);
        }
    }

    /// What a supervisor says: recorded unless it was done on purpose.
    pub(super) fn supervision(&mut self, update: Supervision<AgentId>) {
        let (agent, what) = match update {
            Supervision::Up { child, .. } => (child, Happening::Restarted),
            Supervision::Down { child, exit, .. } | Supervision::GaveUp { child, exit } => {
                match exit {
                    Exit::Panicked(_) => (child, Happening::Crashed),
                    Exit::Stopped => (child, Happening::Stopped),
                    Exit::Abandoned => return,
                }
            }
            Supervision::Finished { child } => (child, Happening::Stopped),
        };
        self.stir();
        if what == Happening::Restarted || !self.doomed.remove(&agent) {
            self.acted();
            self.trace.happened(self.now(), &agent, what);
        }
    }

    // ---- what is done to the cluster --------------------------------------------------------

    /// Something is done: what follows is measured from here.
    pub(super) fn acted(&mut self) {
        self.stir();
        self.last_action = LastAction {
            at: self.now(),
            messages: self.messages,
        };
    }

    /// Something is done to an agent.
    pub(super) fn happen(&mut self, agent: &AgentId, what: Happening) {
        let now = self.now();
        let ends = matches!(
            what,
            Happening::Crashed | Happening::Stopped | Happening::Left
        );
        if ends {
            self.doomed.insert(agent.clone());
        }
        self.trace.happened(now, agent, what);
    }

    /// Something is done to the network, or an agent is given a command.
    pub(super) fn mark(&mut self, text: impl FnOnce() -> String) {
        self.acted();
        self.trace.mark(self.now(), text);
    }

    /// Something has happened.
    fn stir(&mut self) {
        self.activity += 1;
        self.waiters.clear(); // each is told by that
    }

    // ---- queries ----------------------------------------------------------------------------

    pub(super) fn now(&self) -> Time {
        self.clock.now()
    }

    pub(super) fn activity(&self) -> u64 {
        self.activity
    }

    /// Ends when something happens.
    pub(super) fn next_activity(&mut self) -> oneshot::Receiver<()> {
        let (tell, told) = oneshot::channel();
        self.waiters.push(tell);
        told
    }

    /// From the last thing that was done until the last change of a belief.
    pub(super) fn took(&self) -> Duration {
        self.believed.since(self.last_action.at)
    }

    /// Messages of elections since the last thing that was done.
    pub(super) fn messages(&self) -> u64 {
        self.messages.saturating_sub(self.last_action.messages)
    }
}

/// The journal, as the hub and the cluster share it.
pub(super) type SharedJournal<M> = Arc<Mutex<Journal<M>>>;

pub(super) fn open<M: PeerMessage>(journal: &SharedJournal<M>) -> MutexGuard<'_, Journal<M>> {
    // Each entry is whole at once, so there is nothing to be poisoned.
    journal.lock().unwrap_or_else(PoisonError::into_inner)
}

const MILLISECOND: u64 = 1_000_000;
