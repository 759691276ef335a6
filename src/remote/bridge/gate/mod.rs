//! Which connections may come in: how many connections that others made, in all, unknown yet, and of those from
//! one address.
//!
//! Decided here: which connection goes where slots are short. Of those that are not ready the oldest gives way
//! to the newest, one that has said nothing so far before all others, and the address that holds the
//! most of those before others: if the newest were refused, silent connections would keep every other
//! out by holding all slots. The addresses of configured peers have slots of their own, for which
//! connections from elsewhere do not compete. A connection that is ready never gives way. How often strangers are
//! worth the work of a TLS handshake: [`turns`].

mod turns;

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    pin::pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use actix::clock::{sleep, timeout};
use futures::future::{Either, select};
use tokio::sync::Notify;

use crate::remote::{
    Closed, Limits, NodeId,
    bridge::shared::{BridgeState, PeerState, lock},
};

use turns::Turns;

/// Counts the connections that others made.
#[derive(Debug)]
pub(crate) struct Gate {
    most: usize,
    most_unready: usize,
    most_per_address: usize,
    /// So long a connection may say nothing.
    first_byte: Duration,
    slots: Mutex<Slots>,
}

/// Tells the gate where connections of a peer come from, if that can be found out while it is
/// dialled.
pub(crate) async fn expect(shared: Arc<BridgeState>, peer: Arc<PeerState>) {
    let address = peer.address.as_deref().unwrap_or_default();
    let hosts = timeout(shared.limits.handshake(), shared.transport.hosts(address));
    // The peer may have been removed meanwhile.
    if let Ok(Ok(hosts)) = hosts.await
        && shared.peer(&peer.node).is_some()
    {
        shared.gate.expect(&peer.node, hosts);
    }
}

#[derive(Debug, Default)]
struct Slots {
    inside: usize,
    /// Those of them that are not ready, from addresses of no peer.
    strangers: usize,
    /// Numbers them: the smaller, the older.
    serial: u64,
    /// Addresses of peers, and those of connections that are not ready.
    addresses: BTreeMap<String, Address>,
    peers: BTreeMap<NodeId, Whereabouts>,
    turns: Turns,
}

#[derive(Debug, Default)]
struct Address {
    /// How many peers are there.
    peers: usize,
    unready: BTreeMap<u64, Unready>,
}

#[derive(Debug)]
struct Unready {
    is_heard: bool,
    /// Tells it to go.
    leave: Arc<Notify>,
}

/// Where connections of a peer come from.
#[derive(Debug, Default)]
struct Whereabouts {
    /// As its configured address says.
    named: BTreeSet<String>,
    /// As it last did.
    met: Option<String>,
}

/// Whether there is room for one more.
#[derive(Debug, PartialEq, Eq)]
enum Room {
    Free,
    /// In place of this one.
    InsteadOf(String, u64),
    None,
}

impl Gate {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            most: limits.inbound(),
            most_unready: limits.unready(),
            most_per_address: limits.unready_per_address(),
            first_byte: limits.first_byte().min(limits.handshake()),
            slots: Mutex::default(),
        }
    }

    /// Lets a connection in, if there is room for it, or another one has to make room.
    pub(crate) fn enter(self: &Arc<Self>, from: &str) -> Option<Pass> {
        let mut slots = lock(&self.slots);
        match self.room(&slots, from) {
            Room::Free => {}
            Room::InsteadOf(address, number) => {
                // The slot is free at once: the task that held it may take its time to end.
                if let Some(unready) = slots.remove(&address, number) {
                    unready.leave.notify_one();
                }
            }
            Room::None => return None,
        }
        let leave = Arc::new(Notify::new());
        let number = slots.add(from, Arc::clone(&leave));
        Some(Pass {
            gate: Arc::clone(self),
            from: from.to_owned(),
            number,
            is_ready: false,
            leave,
        })
    }

    /// A peer is expected from these addresses: they replace those that were named before.
    pub(crate) fn expect(&self, node: &NodeId, named: impl IntoIterator<Item = String>) {
        // Each has slots of its own, and the name server of the name says how many there are.
        let named = named.into_iter().take(MOST_NAMED).collect();
        lock(&self.slots).whereabouts(node, |whereabouts| whereabouts.named = named);
    }

    /// A peer came from there: it will again.
    pub(crate) fn met(&self, node: &NodeId, from: &str) {
        lock(&self.slots).whereabouts(node, |whereabouts| whereabouts.met = Some(from.to_owned()));
    }

    /// That node is no peer any more.
    pub(crate) fn forget(&self, node: &NodeId) {
        let mut slots = lock(&self.slots);
        slots.peers.remove(node);
        slots.settle();
    }

    fn room(&self, slots: &Slots, from: &str) -> Room {
        let here = slots.addresses.get(from);
        let peers = here.map_or(0, |address| address.peers);
        let most_here = self.most_per_address.saturating_mul(peers.max(1));
        let instead_of = |victim: Option<(&str, u64)>| {
            let (address, number) = victim?;
            Some(Room::InsteadOf(address.to_owned(), number))
        };
        // First of all: an address that is full pays for its newest itself. It could else push out
        // all others by connecting again and again.
        if here.is_some_and(|address| address.unready.len() >= most_here) {
            let number = here.and_then(Address::oldest);
            return instead_of(number.map(|number| (from, number))).unwrap_or(Room::None);
        }
        if peers == 0 && slots.strangers >= self.most_unready {
            return instead_of(slots.victim(Address::is_strange)).unwrap_or(Room::None);
        }
        if slots.inside < self.most {
            return Room::Free;
        }
        // A stranger takes no slot of a peer.
        let stranger = slots.victim(Address::is_strange);
        let peer = || slots.victim(|_| true).filter(|_| peers > 0);
        instead_of(stranger.or_else(peer)).unwrap_or(Room::None)
    }
}

impl Slots {
    fn add(&mut self, from: &str, leave: Arc<Notify>) -> u64 {
        let number = self.serial;
        self.serial = self.serial.saturating_add(1);
        self.inside = self.inside.saturating_add(1);
        let address = self.addresses.entry(from.to_owned()).or_default();
        let is_heard = false;
        address.unready.insert(number, Unready { is_heard, leave });
        if address.is_strange() {
            self.strangers = self.strangers.saturating_add(1);
        }
        number
    }

    /// Takes out a connection that is not ready, if it is still in.
    fn remove(&mut self, from: &str, number: u64) -> Option<Unready> {
        let unready = self.take(from, number)?;
        self.inside = self.inside.saturating_sub(1);
        Some(unready)
    }

    /// It stays inside, or is counted otherwise.
    fn take(&mut self, from: &str, number: u64) -> Option<Unready> {
        let address = self.addresses.get_mut(from)?;
        let unready = address.unready.remove(&number)?;
        if address.is_strange() {
            self.strangers = self.strangers.saturating_sub(1);
            // A stranger that finds the port must not leave an entry behind for each address that it has.
            if address.unready.is_empty() {
                self.addresses.remove(from);
            }
        }
        Some(unready)
    }

    /// The connection that gives way, among those of such addresses.
    fn victim(&self, may_go: impl Fn(&Address) -> bool) -> Option<(&str, u64)> {
        let candidates = self.addresses.iter().filter(|(_, a)| may_go(a));
        let named = candidates.filter_map(|(name, address)| {
            let oldest = address.oldest()?;
            let silent = address.unready.values().filter(|u| !u.is_heard).count();
            let weight = (silent, address.unready.len(), Reverse(oldest));
            Some((weight, (name.as_str(), oldest)))
        });
        named.max().map(|(_, victim)| victim)
    }

    fn whereabouts(&mut self, node: &NodeId, change: impl FnOnce(&mut Whereabouts)) {
        change(self.peers.entry(node.clone()).or_default());
        self.settle();
    }

    /// Counts anew which addresses are those of peers.
    fn settle(&mut self) {
        for address in self.addresses.values_mut() {
            address.peers = 0;
        }
        for Whereabouts { named, met } in self.peers.values() {
            // An address counts once for each peer there: it has slots for as many.
            let also = met.iter().filter(|met| !named.contains(*met));
            for name in named.iter().chain(also) {
                let address = self.addresses.entry(name.clone()).or_default();
                address.peers = address.peers.saturating_add(1);
            }
        }
        self.addresses
            .retain(|_, address| address.peers > 0 || !address.unready.is_empty());
        let strange = self.addresses.values().filter(|a| a.is_strange());
        self.strangers = strange.map(|address| address.unready.len()).sum();
    }
}

impl Address {
    fn is_strange(&self) -> bool {
        self.peers == 0
    }

    /// The oldest that has said nothing, or else the oldest.
    fn oldest(&self) -> Option<u64> {
        let mut silent = self.unready.iter().filter(|(_, u)| !u.is_heard);
        let first = silent.next().or_else(|| self.unready.iter().next());
        first.map(|(number, _)| *number)
    }
}

/// One connection's slot; dropped with it.
#[derive(Debug)]
pub(crate) struct Pass {
    gate: Arc<Gate>,
    from: String,
    number: u64,
    is_ready: bool,
    leave: Arc<Notify>,
}

impl Pass {
    /// Hears the other end's first byte, whatever it is.
    pub(crate) fn ear(&self) -> Ear {
        Ear {
            gate: Arc::clone(&self.gate),
            from: self.from.clone(),
            number: self.number,
        }
    }

    /// Waits until this slot is lost: to another connection, or because nothing was said.
    pub(crate) async fn lost(&self) -> Closed {
        let told = pin!(self.leave.notified());
        let late = pin!(sleep(self.gate.first_byte));
        match select(told, late).await {
            // One that spoke in time is held to the deadline of the whole handshake, elsewhere.
            Either::Right(((), told)) if !self.is_silent() => told.await,
            Either::Right(_) => return Closed::HandshakeTimeout,
            Either::Left(_) => {}
        }
        Closed::TooManyConnections
    }

    fn is_silent(&self) -> bool {
        let slots = lock(&self.gate.slots);
        let address = slots.addresses.get(&self.from);
        let unready = address.and_then(|address| address.unready.get(&self.number));
        unready.is_some_and(|unready| !unready.is_heard)
    }

    /// The other end is known. `false` if the slot is lost already.
    #[must_use]
    pub(crate) fn ready(&mut self) -> bool {
        let taken = lock(&self.gate.slots).take(&self.from, self.number);
        self.is_ready |= taken.is_some();
        self.is_ready
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let mut slots = lock(&self.gate.slots);
        if self.is_ready {
            slots.inside = slots.inside.saturating_sub(1);
        } else {
            slots.remove(&self.from, self.number);
        }
    }
}

/// Hears whether a connection says anything; see [`Pass::ear`].
#[derive(Debug)]
pub(crate) struct Ear {
    gate: Arc<Gate>,
    from: String,
    number: u64,
}

impl Ear {
    /// The other end has said something.
    pub(crate) fn heard(self) {
        let mut slots = lock(&self.gate.slots);
        let address = slots.addresses.get_mut(&self.from);
        if let Some(unready) = address.and_then(|a| a.unready.get_mut(&self.number)) {
            unready.is_heard = true;
        }
    }
}

/// So many addresses of one peer have slots of their own.
const MOST_NAMED: usize = 8;

#[cfg(test)]
mod tests;
