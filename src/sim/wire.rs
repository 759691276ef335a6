//! Between the agents: what is under way, and what is still to come.
//!
//! Decided here: when a sent message arrives, and whether a trap springs on it.

use std::collections::BTreeMap;

use super::{
    node::Place,
    queue::Queue,
    trap::{Reaction, Traps},
    world::Due,
};
use crate::{
    faults::{Fate, Network},
    protocol::{AgentId, Election, Incarnation, PeerMessage, Time},
    trace::Trace,
};

/// The names of the agents, and where each stands.
#[derive(Debug, Default)]
pub(super) struct Directory {
    names: Vec<AgentId>,
    places: BTreeMap<AgentId, Place>,
}

impl Directory {
    /// The place of this name; a new one at the end if it is new.
    pub(super) fn enter(&mut self, id: &AgentId) -> Place {
        if let Some(known) = self.find(id.as_str()) {
            return known;
        }
        let place = Place(self.names.len());
        self.names.push(id.clone());
        self.places.insert(id.clone(), place);
        place
    }

    pub(super) fn find(&self, name: &str) -> Option<Place> {
        self.places.get(name).copied()
    }

    pub(super) fn name(&self, place: Place) -> Option<&AgentId> {
        self.names.get(place.0)
    }
}

/// A message under way.
#[derive(Clone, Debug)]
pub(super) struct Letter<M> {
    pub(super) from: Place,
    pub(super) to: Place,
    pub(super) incarnation: Incarnation,
    pub(super) message: M,
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
}

impl<E: Election> Wire<E> {
    /// Sends one message; says what the sender suffers for it.
    pub(super) fn send(&mut self, now: Time, letter: Letter<E::Message>) -> Option<Reaction> {
        let (from, to) = (letter.from, letter.to);
        let kind = letter.message.kind();
        let fate = self.network.fate_of(kind, now, &from, &to);
        if let Some((from, to)) = self.directory.name(from).zip(self.directory.name(to)) {
            match &fate {
                Fate::Lost(why) => self.trace.lost(now, from, to, &letter.message, why),
                Fate::Arrives(at) => self.trace.sent(now, from, to, &letter.message, at.iter()),
            }
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
        self.traps.springs(from, kind)
    }
}
