//! The admission of inbound connections: limits for all connections, for unready connections, and for each address.
//!
//! Decided here: which connection is closed if no slot is free. A new connection gets the slot of a connection that is
//! not ready. Silent connections lose their slots first: the oldest of them from the address with the most silent
//! connections. If the new connection were refused instead, silent connections could hold all slots and exclude all
//! others. The addresses of configured peers have slots of their own, for which connections from other addresses do not
//! compete. A connection that is ready is never closed for another connection. Not here: how often strangers
//! (connections from addresses of no peer) may cause a TLS handshake ([`turns`]).

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

/// Admits inbound connections, and counts them.
#[derive(Debug)]
pub(crate) struct Gate {
    most: usize,
    most_unready: usize,
    most_per_address: usize,
    /// Longest time until the first byte of a connection.
    first_byte: Duration,
    slots: Mutex<Slots>,
}

/// Sets the addresses of a dialled peer at the gate, if they can be found.
pub(crate) async fn expect(shared: Arc<BridgeState>, peer: Arc<PeerState>) {
    let address = peer.address.as_deref().unwrap_or_default();
    let hosts = timeout(shared.limits.handshake(), shared.transport.hosts(address));
    // An operator may have removed the peer meanwhile.
    if let Ok(Ok(hosts)) = hosts.await
        && shared.peer(&peer.node).is_some()
    {
        shared.gate.expect(&peer.node, hosts);
    }
}

#[derive(Debug, Default)]
struct Slots {
    inside: usize,
    /// Number of connections that are not ready and come from addresses of no peer.
    strangers: usize,
    /// The number of the next connection. A connection with a smaller number is older.
    serial: u64,
    /// Addresses of peers, and addresses of connections that are not ready.
    addresses: BTreeMap<String, Address>,
    peers: BTreeMap<NodeId, Whereabouts>,
    turns: Turns,
}

#[derive(Debug, Default)]
struct Address {
    /// Number of peers at the address.
    peers: usize,
    unready: BTreeMap<u64, Unready>,
}

#[derive(Debug)]
struct Unready {
    is_heard: bool,
    /// Orders the connection to end.
    leave: Arc<Notify>,
}

/// The addresses from which connections of a peer come.
#[derive(Debug, Default)]
struct Whereabouts {
    /// The addresses that a name server gave for the peer's configured host name.
    named: BTreeSet<String>,
    /// The address of the peer's last connection; `None` before the first connection.
    met: Option<String>,
}

/// Whether there is room for one more connection.
#[derive(Debug, PartialEq, Eq)]
enum Room {
    Free,
    /// A slot becomes free if the connection of this number, from this address, is closed.
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

    /// Admits a connection if there is a slot, or if another connection can be closed for it.
    pub(crate) fn enter(self: &Arc<Self>, from: &str) -> Option<Pass> {
        let mut slots = lock(&self.slots);
        match self.room(&slots, from) {
            Room::Free => {}
            Room::InsteadOf(address, number) => {
                // The slot is free at once, although the task of the closed connection may need time to end.
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

    /// Sets the addresses from which a peer's connections are expected. They replace the addresses that were set
    /// before.
    pub(crate) fn expect(&self, node: &NodeId, named: impl IntoIterator<Item = String>) {
        // Each address has slots of its own, and a name server decides how many addresses there are, so their number is
        // limited.
        let named = named.into_iter().take(MOST_NAMED).collect();
        lock(&self.slots).whereabouts(node, |whereabouts| whereabouts.named = named);
    }

    /// Notes that a peer came from this address. The peer will probably come from this address again.
    pub(crate) fn met(&self, node: &NodeId, from: &str) {
        lock(&self.slots).whereabouts(node, |whereabouts| whereabouts.met = Some(from.to_owned()));
    }

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
        // This check comes first: an address whose slots are full loses one of its own connections. Otherwise it could
        // displace the connections of all other addresses by connecting again and again.
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
        // Connections of strangers lose their slots first. Only a connection from a peer's address may take the slot of
        // another connection from a peer's address.
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

    /// Removes a connection that is not ready, if it is still counted.
    fn remove(&mut self, from: &str, number: u64) -> Option<Unready> {
        let unready = self.take(from, number)?;
        self.inside = self.inside.saturating_sub(1);
        Some(unready)
    }

    /// Removes a connection from the list of unready connections. The number of all connections does not change.
    fn take(&mut self, from: &str, number: u64) -> Option<Unready> {
        let address = self.addresses.get_mut(from)?;
        let unready = address.unready.remove(&number)?;
        if address.is_strange() {
            self.strangers = self.strangers.saturating_sub(1);
            // If a stranger connects from many addresses, no entry may remain for each address.
            if address.unready.is_empty() {
                self.addresses.remove(from);
            }
        }
        Some(unready)
    }

    /// Returns the connection to close, among connections from the addresses for which `may_go` is true.
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

    /// Computes anew which addresses belong to peers.
    fn settle(&mut self) {
        for address in self.addresses.values_mut() {
            address.peers = 0;
        }
        for Whereabouts { named, met } in self.peers.values() {
            // If several peers have one address, the address has connection slots for each of them.
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

    /// Returns the oldest silent connection or, without a silent connection, the oldest connection.
    fn oldest(&self) -> Option<u64> {
        let mut silent = self.unready.iter().filter(|(_, u)| !u.is_heard);
        let first = silent.next().or_else(|| self.unready.iter().next());
        first.map(|(number, _)| *number)
    }
}

/// The slot of one connection. It is dropped together with the connection.
#[derive(Debug)]
pub(crate) struct Pass {
    gate: Arc<Gate>,
    from: String,
    number: u64,
    is_ready: bool,
    leave: Arc<Notify>,
}

impl Pass {
    /// Notes that the other end has sent a byte.
    pub(crate) fn heard(&self) {
        let mut slots = lock(&self.gate.slots);
        let address = slots.addresses.get_mut(&self.from);
        if let Some(unready) = address.and_then(|a| a.unready.get_mut(&self.number)) {
            unready.is_heard = true;
        }
    }

    /// Waits until this slot is lost: to another connection, or because the first byte did not arrive in time.
    pub(crate) async fn lost(&self) -> Closed {
        let told = pin!(self.leave.notified());
        let late = pin!(sleep(self.gate.first_byte));
        match select(told, late).await {
            // A connection that has sent a byte in time only has to meet the deadline of the whole handshake, which is
            // checked elsewhere.
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

    /// Notes that the handshake is done. Returns `false` if the slot is already lost.
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

/// Largest number of addresses of one peer that have slots of their own.
const MOST_NAMED: usize = 8;

#[cfg(test)]
mod tests;
