//! The cluster's knowledge of its run: the network, the messages under way, and the record.
//!
//! Decided here: the order of messages, which is (time of arrival, order of sending), and which messages count towards
//! an election. Not here: when the journal is asked for the messages that are due (`hub.rs`).

use std::{
    collections::{BTreeMap, BTreeSet},
    iter,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use actix::prelude::SendError;
use futures::channel::oneshot;

use super::parcel::{Load, Parcel, Worth};
use crate::{
    clock::{Clock, RuntimeClock},
    group::{AppMessage, Envelope},
    protocol::{AgentId, Event, PeerMessage, Role, Time},
    record::RecordedCommand,
    supervisor::{Exit, Supervision},
};
use bully_sim::{
    faults::{Arrivals, Fate, Network},
    trace::{Happening, Trace},
};

/// See the [module's page](self).
#[derive(Debug)]
pub(super) struct Journal<M: PeerMessage> {
    clock: RuntimeClock,
    pub(super) network: Network,
    pub(super) trace: Trace,
    under_way: BTreeMap<(Time, u64), Load<M>>,
    sequence: u64,
    /// For each sender and receiver: the last message of a repeated kind that was sent.
    said: BTreeMap<(AgentId, AgentId), M>,

    /// A counter that grows with each event that may belong to an election.
    activity: u64,
    /// The receivers of a notification at the next change of `activity`.
    waiters: Vec<oneshot::Sender<()>>,
    /// Number of election messages sent so far.
    messages: u64,
    /// Time at which an agent last changed its leader.
    believed: Time,
    last_action: LastAction,

    /// Agents whose end was recorded with the command that caused the end. The supervisor's report of the same end is
    /// not recorded.
    doomed: BTreeSet<AgentId>,
    roles: BTreeMap<AgentId, Role>,
    /// Agents with an event since their role was last recorded.
    told: BTreeSet<AgentId>,
}

/// The time of the last command, and the number of messages until then.
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

    /// Handles a message of the election that an agent sends.
    pub(super) fn carry(&mut self, parcel: Parcel<M>) {
        let worth = self.worth(&parcel);
        if worth != Worth::Nothing {
            self.stir();
        }
        self.messages += u64::from(worth == Worth::Election);
        let Some(arrivals) = self.fate(&parcel) else {
            return;
        };
        let (from, to) = (&parcel.envelope.from, &parcel.to);
        let arrivals = arrivals.iter().map(|at| self.on_the_grid(at, from, to));
        self.send_off(arrivals.collect(), parcel, |parcel| {
            Load::Agent(parcel, worth)
        });
    }

    /// Handles a message of an application that an agent sends. The network treats it like any other message, but it
    /// arrives at most once and in order, as over a bridge. `settle` does not wait for it.
    pub(super) fn carry_application(&mut self, parcel: Parcel<AppMessage>) {
        let Some(arrivals) = self.fate(&parcel) else {
            return;
        };
        let (from, to) = (&parcel.envelope.from, &parcel.to);
        let at = self.on_the_grid(arrivals.first(), from, to);
        let at = self.latest(from, to).map_or(at, |latest| latest.max(at));
        self.send_off(vec![at], parcel, Load::Application);
    }

    fn worth(&mut self, Parcel { to, envelope, .. }: &Parcel<M>) -> Worth {
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

    /// Returns the times at which the message arrives; `None` for a message that never arrives, which is recorded.
    fn fate<T: PeerMessage>(&mut self, parcel: &Parcel<T>) -> Option<Arrivals> {
        let now = self.now();
        let Parcel { to, envelope, .. } = parcel;
        let (from, message) = (&envelope.from, &envelope.message);
        match self.network.fate_of(message.kind(), now, from, to) {
            Fate::Arrives(arrivals) => Some(arrivals),
            Fate::Lost(why) => {
                self.trace.lost(now, from, to, message, why);
                None
            }
        }
    }

    fn send_off<T: PeerMessage>(
        &mut self,
        arrivals: Vec<Time>,
        parcel: Parcel<T>,
        load: impl Fn(Parcel<T>) -> Load<M>,
    ) {
        let now = self.now();
        let Parcel { to, envelope, .. } = &parcel;
        let shown = arrivals.iter().copied();
        self.trace
            .sent(now, &envelope.from, to, &envelope.message, shown);
        let parcels = iter::repeat_n(parcel, arrivals.len());
        for (at, parcel) in arrivals.into_iter().zip(parcels) {
            self.sequence += 1;
            self.under_way.insert((at, self.sequence), load(parcel));
        }
    }

    /// Rounds an arrival up to whole milliseconds, because timers fire only then. A message without delay arrives at
    /// once, unless an earlier message of the same pair is still under way.
    fn on_the_grid(&self, at: Time, from: &AgentId, to: &AgentId) -> Time {
        let now = self.now();
        if at > now {
            let nanos = at.as_nanos().checked_next_multiple_of(MILLISECOND);
            return Time::from_nanos(nanos.unwrap_or(u64::MAX));
        }
        self.latest(from, to).unwrap_or(now)
    }

    /// Returns the latest arrival of the messages under way from one agent to the other; `None` if no message is under
    /// way.
    fn latest(&self, from: &AgentId, to: &AgentId) -> Option<Time> {
        let mut ahead = self.under_way.iter().rev();
        let last = ahead.find(|(_, load)| load.is_between(from, to));
        last.map(|((at, _), _)| *at)
    }

    /// Delivers the messages that are due. Returns the time until the next arrival; `None` if no message is under way.
    pub(super) fn deliver(&mut self) -> Option<Duration> {
        let now = self.now();
        while let Some(first) = self.under_way.first_entry() {
            let (at, _) = *first.key();
            if at > now {
                return Some(at.since(now));
            }
            match first.remove() {
                Load::Agent(parcel, worth) => {
                    self.put(now, parcel);
                    if worth != Worth::Nothing {
                        self.stir();
                    }
                }
                Load::Application(parcel) => self.put(now, parcel),
            }
        }
        None
    }

    /// Delivers a message. A repeated message is dropped if the mailbox is full, as in a group without a simulated
    /// network.
    fn put<T: PeerMessage>(&mut self, now: Time, parcel: Parcel<T>) {
        let Parcel {
            to,
            envelope,
            inbox,
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
            // do_send: as in a group without a simulated network.
            inbox.do_send(envelope);
            None
        };
        match dropped {
            None => self.trace.delivered(now, &from, &to, &message),
            Some(why) => self.trace.dropped(now, &from, &to, &message, why),
        }
    }

    /// Returns the number of messages that may change something and are under way to agents that run.
    pub(super) fn under_way(&self, listens: impl Fn(&AgentId) -> bool) -> usize {
        let receivers = self.under_way.values().filter_map(Load::matters_to);
        receivers.filter(|id| listens(id)).count()
    }

    // ---- reports of agents ------------------------------------------------------------------

    pub(super) fn notice(&mut self, agent: &AgentId, event: &Event) {
        let now = self.now();
        self.stir();
        self.believed = now;
        self.told.insert(agent.clone());
        self.trace.event(now, agent, event);
    }

    /// Records an agent's role, unless its events have shown it already.
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

    /// Records a report of a supervisor, unless the cluster caused the event on purpose.
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

    // ---- commands to the cluster -----------------------------------------------------------

    /// Notes a command: time and messages are measured from now on.
    pub(super) fn acted(&mut self) {
        self.stir();
        self.last_action = LastAction {
            at: self.now(),
            messages: self.messages,
        };
    }

    /// Records an action on an agent.
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

    /// Records a command. Further entries show its effects.
    pub(super) fn command(&mut self, command: &RecordedCommand) {
        let now = self.now();
        self.trace.commanded(now, || command.clone());
    }

    /// Records a command whose effect has no entry of its own in the trace.
    pub(super) fn mark(&mut self, command: &RecordedCommand) {
        self.command(command);
        self.acted();
        self.trace.mark(self.now(), || command.to_string());
    }

    fn stir(&mut self) {
        self.activity += 1;
        self.waiters.clear(); // the drop notifies each waiter
    }

    // ---- queries ----------------------------------------------------------------------------

    pub(super) fn now(&self) -> Time {
        self.clock.now()
    }

    pub(super) fn activity(&self) -> u64 {
        self.activity
    }

    /// Returns the time at which an agent last changed its leader.
    #[cfg(feature = "dashboard")]
    pub(super) fn believed(&self) -> Time {
        self.believed
    }

    /// Returns a receiver that completes at the next event that may belong to an election.
    pub(super) fn next_activity(&mut self) -> oneshot::Receiver<()> {
        let (tell, told) = oneshot::channel();
        self.waiters.push(tell);
        told
    }

    /// Returns the time from the last command until an agent last changed its leader.
    pub(super) fn took(&self) -> Duration {
        self.believed.since(self.last_action.at)
    }

    /// Returns the number of election messages since the last command.
    pub(super) fn messages(&self) -> u64 {
        self.messages.saturating_sub(self.last_action.messages)
    }
}

/// The journal, as the hub and the cluster share it.
pub(super) type SharedJournal<M> = Arc<Mutex<Journal<M>>>;

pub(super) fn open<M: PeerMessage>(journal: &SharedJournal<M>) -> MutexGuard<'_, Journal<M>> {
    // A poisoned lock is used, because each entry is complete before the lock is released.
    journal.lock().unwrap_or_else(PoisonError::into_inner)
}

const MILLISECOND: u64 = 1_000_000;
