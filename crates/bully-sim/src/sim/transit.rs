//! The state between the agents: messages on their way, and scheduled events.
//!
//! Decided here: when a sent message arrives, and whether it springs a trap.

use std::{fmt, rc::Rc};

use super::{
    node::{KnownMembers, NodeIndex},
    queue::EventQueue,
    replays::Remembered,
    situation::{Situation, Situations},
    trap::{Reaction, Traps},
    world::Scheduled,
};
use crate::{
    faults::{Fate, Loss, Network, Tally},
    trace::Trace,
};
use bully_core::protocol::{AgentId, Election, Incarnation, PeerMessage, Time, To};

/// The names of the agents, and the index of each.
#[derive(Debug, Default)]
pub(super) struct Directory {
    names: Vec<AgentId>,
    /// An index plus one, or 0 for an empty slot, by the hash of the name. At most half of the slots are used. The
    /// list is only used for look-ups, so its order decides nothing.
    slots: Vec<usize>,
}

impl Directory {
    /// Returns the index of this name. A new name gets a new index at the end.
    pub(super) fn enter(&mut self, id: &AgentId) -> NodeIndex {
        if let Some(known) = self.find(id.as_str()) {
            return known;
        }
        let index = NodeIndex(self.names.len());
        self.names.push(id.clone());
        let room = self.names.len().saturating_mul(2).next_power_of_two();
        if room > self.slots.len() {
            self.slots = vec![0; room];
            for at in 0..self.names.len() {
                self.enter_slot(NodeIndex(at));
            }
        } else {
            self.enter_slot(index);
        }
        index
    }

    /// Adds another index for a known name. A look-up finds the first index.
    pub(super) fn enter_second(&mut self, id: &AgentId) -> NodeIndex {
        self.names.push(id.clone());
        NodeIndex(self.names.len() - 1)
    }

    pub(super) fn find(&self, name: &str) -> Option<NodeIndex> {
        for at in self.probe(name) {
            let index = NodeIndex(self.slots.get(at)?.checked_sub(1)?);
            if self.names.get(index.0)?.as_str() == name {
                return Some(index);
            }
        }
        None
    }

    pub(super) fn name(&self, index: NodeIndex) -> Option<&AgentId> {
        self.names.get(index.0)
    }

    fn enter_slot(&mut self, index: NodeIndex) {
        let Some(id) = self.names.get(index.0) else {
            return;
        };
        let free = self
            .probe(id.as_str())
            .find(|at| self.slots.get(*at) == Some(&0));
        if let Some(slot) = free.and_then(|at| self.slots.get_mut(at)) {
            *slot = index.0.saturating_add(1);
        }
    }

    /// Returns the slots in which a name may be, in the order in which they are tried.
    fn probe(&self, name: &str) -> impl Iterator<Item = usize> + use<> {
        let mix = |hash: usize, byte: u8| (hash ^ usize::from(byte)).wrapping_mul(0x0100_0193);
        let first = name.bytes().fold(0x811c_9dc5, mix);
        let mask = self.slots.len().wrapping_sub(1);
        (0..self.slots.len()).map(move |step| first.wrapping_add(step) & mask)
    }
}

/// A message on its way.
#[derive(Clone, Debug)]
pub(super) struct SentMessage<M> {
    pub(super) from: NodeIndex,
    pub(super) to: NodeIndex,
    pub(super) incarnation: Incarnation,
    /// The epoch of the sender's list of voters.
    pub(super) epoch: u64,
    /// All receivers and copies share the message until it arrives, because many messages are lost.
    pub(super) message: Rc<M>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct SenderState {
    pub(super) index: NodeIndex,
    pub(super) incarnation: Incarnation,
    pub(super) epoch: u64,
    pub(super) situation: Situation,
}

/// Numbers of messages for each effect of the network, by the situations of the senders.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hits {
    pub(super) lost: Situations,
    pub(super) cut: Situations,
    pub(super) partitioned: Situations,
    pub(super) isolated: Situations,
    pub(super) duplicated: Situations,
    pub(super) slow: Situations,
    pub(super) reordered: Situations,
}

impl Hits {
    /// Returns the messages that were lost because agents were separated.
    pub(super) fn separated(&self) -> Situations {
        let mut all = self.cut;
        all.add_all(&self.partitioned);
        all.add_all(&self.isolated);
        all
    }

    fn count(&mut self, sender: Situation, fate: &Fate, before: &Tally, after: &Tally) {
        match fate {
            Fate::Lost(Loss::Chance) => self.lost.add(sender),
            Fate::Lost(Loss::Cut) => self.cut.add(sender),
            Fate::Lost(Loss::Partition) => self.partitioned.add(sender),
            Fate::Lost(Loss::Isolation) => self.isolated.add(sender),
            Fate::Lost(Loss::Ignored) => {}
            Fate::Arrives(_) => {
                if after.duplicated > before.duplicated {
                    self.duplicated.add(sender);
                }
                if after.slow > before.slow {
                    self.slow.add(sender);
                }
                if after.reordered > before.reordered {
                    self.reordered.add(sender);
                }
            }
        }
    }
}

/// Number of dropped messages, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DroppedMessages {
    /// Number of messages without a receiver.
    pub absent: u64,
    /// Number of messages from an agent that is not a member.
    pub stranger: u64,
    /// Number of messages from an incarnation that had ended.
    pub ended: u64,
    /// Number of messages from another epoch, whose sender has other voters.
    pub epoch: u64,
}

/// The reason why a message is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drop {
    Absent,
    Stranger,
    Ended,
    Epoch,
}

impl DroppedMessages {
    pub(super) const fn count(&mut self, why: Drop) {
        let count = match why {
            Drop::Absent => &mut self.absent,
            Drop::Stranger => &mut self.stranger,
            Drop::Ended => &mut self.ended,
            Drop::Epoch => &mut self.epoch,
        };
        *count = count.saturating_add(1);
    }
}

impl fmt::Display for Drop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Absent => "no receiver",
            Self::Stranger => "from a stranger",
            Self::Ended => "from an ended incarnation",
            Self::Epoch => "from another epoch",
        })
    }
}

/// The network, and all events that have not happened yet.
#[derive(Debug)]
pub(super) struct Transit<E: Election> {
    pub(super) queue: EventQueue<Scheduled<E>>,
    pub(super) network: Network<NodeIndex>,
    pub(super) directory: Directory,
    pub(super) traps: Traps,
    pub(super) trace: Trace,
    /// The first and the second process of each doubled name, including processes that have ended.
    pub(super) seconds: Vec<(NodeIndex, NodeIndex)>,
    /// Number of messages on their way, without repeated messages.
    pub(super) under_way: usize,
    /// The latest time at which a sent message arrives.
    pub(super) last_arrival: Time,
    pub(super) dropped: DroppedMessages,
    pub(super) hits: Hits,
    pub(super) remembered: Remembered<E::Message>,
}

impl<E: Election> Transit<E> {
    pub(super) fn new(
        queue: EventQueue<Scheduled<E>>,
        network: Network<NodeIndex>,
        directory: Directory,
        trace: Trace,
    ) -> Self {
        Self {
            queue,
            network,
            directory,
            traps: Traps::default(),
            trace,
            seconds: Vec::new(),
            under_way: 0,
            last_arrival: Time::ZERO,
            dropped: DroppedMessages::default(),
            hits: Hits::default(),
            remembered: Remembered::default(),
        }
    }

    /// Returns the first process with the name of this agent.
    pub(super) fn first_of(&self, at: NodeIndex) -> NodeIndex {
        let mut seconds = self.seconds.iter();
        let found = seconds.find(|(_, second)| *second == at);
        found.map_or(at, |(first, _)| *first)
    }

    /// Sends one message. If the message springs a trap of its sender, returns the reaction.
    pub(super) fn send(
        &mut self,
        now: Time,
        sender: &SenderState,
        sent: SentMessage<E::Message>,
    ) -> Option<Reaction> {
        let (from, to) = (sent.from, sent.to);
        let kind = sent.message.kind();
        let before = self.network.tally();
        let fate = self.network.fate_of(kind, now, &from, &to);
        let after = self.network.tally();
        self.hits.count(sender.situation, &fate, &before, &after);
        self.remembered.note(now, &sent);
        if self.trace.counts() {
            self.record(now, &sent, &fate);
        }
        if let Fate::Arrives(arrivals) = fate {
            let mut next = None;
            for at in arrivals.iter() {
                self.last_arrival = self.last_arrival.max(at);
                self.under_way += usize::from(!sent.message.is_repeated());
                // The last copy is the message itself, because a message without copies need not be cloned.
                if let Some(before) = next.replace(at) {
                    self.queue.push(before, Scheduled::Message(sent.clone()));
                }
            }
            if let Some(at) = next {
                self.queue.push(at, Scheduled::Message(sent));
            }
        }
        self.traps.springs(from, kind, sender.situation)
    }

    fn record(&mut self, now: Time, sent: &SentMessage<E::Message>, fate: &Fate) {
        let (directory, message) = (&self.directory, &*sent.message);
        let Some(from) = directory.name(sent.from) else {
            return;
        };
        let Some(to) = directory.name(sent.to) else {
            return;
        };
        match fate {
            Fate::Lost(why) => self.trace.lost(now, from, to, message, why),
            Fate::Arrives(at) => self.trace.sent(now, from, to, message, at.iter()),
        }
    }
}

impl<E: Election> Transit<E> {
    /// Sends a message to one agent, to all or to some, never to its sender. If a message springs a trap, returns the
    /// reaction.
    pub(super) fn send_to(
        &mut self,
        now: Time,
        sender: SenderState,
        known: &KnownMembers,
        to: &To,
        message: E::Message,
    ) -> Option<Reaction> {
        let from = sender.index;
        let own = self.first_of(from);
        let mut suffers = None;
        let message = Rc::new(message);
        let mut say = |transit: &mut Self, to: NodeIndex| {
            if suffers == Some(Reaction::Crash) {
                return;
            }
            let outgoing = SentMessage {
                from,
                to,
                incarnation: sender.incarnation,
                epoch: sender.epoch,
                message: Rc::clone(&message),
            };
            let reaction = transit.send(now, &sender, outgoing);
            if reaction == Some(Reaction::Isolate) {
                transit.network.isolate(&from);
            }
            suffers = reaction.or(suffers);
        };
        let mut send = |transit: &mut Self, to: NodeIndex| {
            if to == own {
                return;
            }
            for at in 0..transit.seconds.len() {
                if let Some((_, second)) = transit.seconds.get(at).filter(|(of, _)| *of == to) {
                    say(transit, *second);
                }
            }
            say(transit, to);
        };
        match to {
            To::One(id) => {
                if let Some(index) = self.index_of(known, id) {
                    send(self, index);
                }
            }
            To::All => {
                for index in &*known.indices {
                    send(self, *index);
                }
            }
            To::Set(some) => {
                for id in some.iter() {
                    if let Some(index) = self.index_of(known, id) {
                        send(self, index);
                    }
                }
            }
        }
        suffers
    }

    /// Returns the index of this agent. Usually it is a member, and members are found quickly.
    fn index_of(&self, known: &KnownMembers, id: &AgentId) -> Option<NodeIndex> {
        let member = known.members.index_of(id);
        let index = member.and_then(|at| known.indices.get(at).copied());
        index.or_else(|| self.directory.find(id.as_str()))
    }

    /// Notes that a message is not on its way any more.
    pub(super) fn has_arrived(&mut self, sent: &SentMessage<E::Message>) {
        let counted = usize::from(!sent.message.is_repeated());
        self.under_way = self.under_way.saturating_sub(counted);
    }
}
