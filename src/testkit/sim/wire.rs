//! Between the agents: what is under way, and what is still to come.
//!
//! Decided here: when a sent message arrives, and whether a trap springs on it.

use std::fmt;

use super::{
    frames::Kept,
    node::Place,
    queue::Queue,
    situation::{Situation, Situations},
    trap::{Reaction, Traps},
    world::Due,
};
use crate::{
    protocol::{AgentId, Election, Incarnation, PeerMessage, Time},
    testkit::{
        faults::{Fate, Loss, Network, Tally},
        trace::Trace,
    },
};

/// The names of the agents, and where each stands.
#[derive(Debug, Default)]
pub(super) struct Directory {
    names: Vec<AgentId>,
    /// A place plus one, or 0 for an empty slot, by the hash of the name; at most half of the slots
    /// are taken. It is only looked up, never walked, so its order decides nothing.
    slots: Vec<usize>,
}

impl Directory {
    /// The place of this name; a new one at the end if it is new.
    pub(super) fn enter(&mut self, id: &AgentId) -> Place {
        if let Some(known) = self.find(id.as_str()) {
            return known;
        }
        let place = Place(self.names.len());
        self.names.push(id.clone());
        let room = self.names.len().saturating_mul(2).next_power_of_two();
        if room > self.slots.len() {
            self.slots = vec![0; room];
            for at in 0..self.names.len() {
                self.index(Place(at));
            }
        } else {
            self.index(place);
        }
        place
    }

    pub(super) fn find(&self, name: &str) -> Option<Place> {
        for at in self.probe(name) {
            let place = Place(self.slots.get(at)?.checked_sub(1)?);
            if self.names.get(place.0)?.as_str() == name {
                return Some(place);
            }
        }
        None
    }

    pub(super) fn name(&self, place: Place) -> Option<&AgentId> {
        self.names.get(place.0)
    }

    fn index(&mut self, place: Place) {
        let Some(id) = self.names.get(place.0) else {
            return;
        };
        let free = self
            .probe(id.as_str())
            .find(|at| self.slots.get(*at) == Some(&0));
        if let Some(slot) = free.and_then(|at| self.slots.get_mut(at)) {
            *slot = place.0.saturating_add(1);
        }
    }

    /// The slots that may hold a name, in the order in which they are tried.
    fn probe(&self, name: &str) -> impl Iterator<Item = usize> + use<> {
        let mix = |hash: usize, byte: u8| (hash ^ usize::from(byte)).wrapping_mul(0x0100_0193);
        let first = name.bytes().fold(0x811c_9dc5, mix);
        let mask = self.slots.len().wrapping_sub(1);
        (0..self.slots.len()).map(move |step| first.wrapping_add(step) & mask)
    }
}

/// A message under way.
#[derive(Clone, Debug)]
pub(super) struct Letter<M> {
    pub(super) from: Place,
    pub(super) to: Place,
    pub(super) incarnation: Incarnation,
    /// The sender's choice of voters.
    pub(super) epoch: u64,
    pub(super) message: M,
}

/// Who sends a letter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sender {
    pub(super) place: Place,
    pub(super) incarnation: Incarnation,
    pub(super) epoch: u64,
    /// What it does.
    pub(super) situation: Situation,
}

/// What the network did to letters, by what their senders were doing.
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
    /// What keeping agents apart did.
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

/// How many letters arrived and were dropped, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dropped {
    /// Nobody was there.
    pub absent: u64,
    /// From somebody who is not a member.
    pub stranger: u64,
    /// From a life that had ended.
    pub ended: u64,
    /// From another epoch: the sender has other voters.
    pub epoch: u64,
}

/// Why a letter is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drop {
    Absent,
    Stranger,
    Ended,
    Epoch,
}

impl Dropped {
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
            Self::Absent => "nobody is there",
            Self::Stranger => "from a stranger",
            Self::Ended => "from an ended life",
            Self::Epoch => "from another epoch",
        })
    }
}

/// The network, and everything that is still to come.
#[derive(Debug)]
pub(super) struct Wire<E: Election> {
    pub(super) queue: Queue<Due<E>>,
    pub(super) network: Network<Place>,
    pub(super) directory: Directory,
    pub(super) traps: Traps,
    pub(super) trace: Trace,
    /// Letters under way that are not repeated anyway.
    pub(super) under_way: usize,
    /// The latest arrival so far.
    pub(super) last_arrival: Time,
    pub(super) dropped: Dropped,
    pub(super) hits: Hits,
    pub(super) kept: Kept<E::Message>,
}

impl<E: Election> Wire<E> {
    pub(super) fn new(
        queue: Queue<Due<E>>,
        network: Network<Place>,
        directory: Directory,
        trace: Trace,
    ) -> Self {
        Self {
            queue,
            network,
            directory,
            traps: Traps::default(),
            trace,
            under_way: 0,
            last_arrival: Time::ZERO,
            dropped: Dropped::default(),
            hits: Hits::default(),
            kept: Kept::default(),
        }
    }

    /// Sends one message; says what the sender suffers for it.
    pub(super) fn send(
        &mut self,
        now: Time,
        sender: &Sender,
        letter: Letter<E::Message>,
    ) -> Option<Reaction> {
        let (from, to) = (letter.from, letter.to);
        let kind = letter.message.kind();
        let before = self.network.tally();
        let fate = self.network.fate_of(kind, now, &from, &to);
        let after = self.network.tally();
        self.hits.count(sender.situation, &fate, &before, &after);
        self.kept.note(&letter);
        if self.trace.counts() {
            self.record(now, &letter, &fate);
        }
        if let Fate::Arrives(arrivals) = fate {
            let mut next = None;
            for at in arrivals.iter() {
                self.last_arrival = self.last_arrival.max(at);
                self.under_way += usize::from(!letter.message.is_repeated());
                // The last copy takes the letter itself: nothing is cloned where nothing is doubled.
                if let Some(before) = next.replace(at) {
                    self.queue.push(before, Due::Letter(letter.clone()));
                }
            }
            if let Some(at) = next {
                self.queue.push(at, Due::Letter(letter));
            }
        }
        self.traps.springs(from, kind, sender.situation)
    }

    fn record(&mut self, now: Time, letter: &Letter<E::Message>, fate: &Fate) {
        let (directory, message) = (&self.directory, &letter.message);
        let Some(from) = directory.name(letter.from) else {
            return;
        };
        let Some(to) = directory.name(letter.to) else {
            return;
        };
        match fate {
            Fate::Lost(why) => self.trace.lost(now, from, to, message, why),
            Fate::Arrives(at) => self.trace.sent(now, from, to, message, at.iter()),
        }
    }
}
