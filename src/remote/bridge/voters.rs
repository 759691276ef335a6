//! The peers of a bridge come from its operator and from the voters of its groups. This file carries out the decisions
//! of a [`PeerBook`] about the peers. The book stays locked until a decision is carried out, so decisions are carried
//! out one after the other.

use std::sync::{Arc, Weak};

use actix::{Addr, WeakAddr};
use tracing::info;

use crate::{
    group::PeerReporter,
    protocol::NewVoter,
    remote::{NodeId, Peer, RemoteBridge},
};

use super::{
    decreed::{PeerBook, PeerChanges, VoterContact},
    message::{AddPeer, RemovePeer},
    shared::{BridgeState, lock},
};

/// Returns the contact of a voter, if it has one, or the reason why the contact is not valid.
fn contact(voter: &NewVoter) -> Option<Result<VoterContact, String>> {
    let NewVoter { id, contact } = voter;
    let contact = contact.as_ref()?;
    let node = NodeId::new(&contact.node);
    let found = node.map(|node| VoterContact {
        voter: id.clone(),
        node,
        address: Some(contact.address.clone()).filter(|address| !address.is_empty()),
    });
    Some(found.map_err(|why| format!("{id} at {}: {why}", contact.node)))
}

impl BridgeState {
    /// Lets the groups report their voters from now on. The actor `actor` receives the new peers.
    pub(crate) fn follow_voters(self: &Arc<Self>, actor: WeakAddr<RemoteBridge>) {
        // Each state has one actor, whose address stays the same through all restarts.
        self.actor.set(actor).ok();
        let weak = Arc::downgrade(self);
        let reporter: Weak<dyn PeerReporter> = weak;
        for carried in &self.carried {
            carried.add_reporter(&reporter);
        }
    }

    /// Sets the voters of a group from this epoch on. Returns the reasons why the hosts of some voters are not peers.
    pub(crate) fn decree(&self, group: &str, epoch: u64, voters: &[NewVoter]) -> Vec<String> {
        let mut refused = Vec::new();
        let mut contacts = Vec::new();
        for contact in voters.iter().filter_map(contact) {
            match contact {
                Ok(contact) => contacts.push(contact),
                Err(why) => refused.push(why),
            }
        }
        let may_dial = |address: &str| self.may_dial(address);
        let mut book = lock(&self.book);
        if self.is_over() {
            return refused; // the bridge has ended, and has no peers any more
        }
        let mut changes = book.decree(&self.me.node, (group, epoch), &contacts, may_dial);
        let unused = std::mem::take(&mut changes.refused).into_iter();
        refused.extend(unused.map(|(contact, why)| format!("{contact}: {why}")));
        self.change_peers(&mut book, changes);
        refused
    }

    /// Notes that the agent `new` has to become a voter of a group, and that the leader, which is in this process, does
    /// not receive the agent's messages. Returns the reason if the agent's host cannot become a peer.
    pub(crate) fn want(&self, group: &str, new: &NewVoter) -> Option<String> {
        let contact = match contact(new)? {
            Ok(contact) => contact,
            Err(why) => return Some(why),
        };
        let may_dial = |address: &str| self.may_dial(address);
        let mut book = lock(&self.book);
        if self.is_over() || contact.node == self.me.node {
            return None;
        }
        match book.want(group, &contact, may_dial) {
            Ok(changes) => {
                let added = changes.add.get(&contact.node);
                if added.is_some_and(|(address, _)| address.is_some()) {
                    let (node, voter) = (&self.me.node, &contact);
                    info!(%node, group, %voter, "connects to the host of an agent that is to become a voter");
                }
                self.change_peers(&mut book, changes);
                None
            }
            Err(why) => Some(format!("{contact}: {why}")),
        }
    }

    /// Returns whether the bridge may dial this address: others cannot read the messages on the way, or unencrypted
    /// messages are allowed.
    fn may_dial(&self, address: &str) -> bool {
        self.is_dangerous || self.security.is_some() || self.transport.is_loopback(address)
    }

    /// Adds a peer for an operator. Returns whether no operator had added it before.
    pub(crate) fn configure(&self, node: &NodeId, peer: Peer) -> bool {
        let mut book = lock(&self.book);
        let sources = (peer.address.clone(), peer.rights.clone());
        let Some(rights) = book.configure(node, sources.0, sources.1) else {
            return false;
        };
        match self.peer(node) {
            // A list of voters added the peer before. If the address is the same, the existing link stays.
            Some(known) if known.address == peer.address => known.rights.set(rights),
            known => {
                if known.is_some() {
                    self.take_out(node);
                }
                self.put_in(node, peer.allow(rights));
            }
        }
        true
    }

    /// Removes a peer for an operator, whether the configuration, an operator or a list of voters added it. Returns
    /// whether the peer existed.
    pub(crate) fn forget(&self, node: &NodeId) -> bool {
        let mut book = lock(&self.book);
        let is_known = self.peer(node).is_some();
        book.forget(node);
        self.take_out(node);
        is_known
    }

    /// Carries out changes of peers. The caller holds the lock of the book, so that the peers, and the messages to the
    /// actor, change in the order of the decisions.
    fn change_peers(&self, _: &mut PeerBook, changes: PeerChanges) {
        for node in changes.remove {
            self.take_out(&node);
        }
        for (node, (address, rights)) in changes.add {
            let peer = match address {
                Some(address) => Peer::new(node.as_str(), &address),
                None => Peer::inbound(node.as_str()),
            };
            self.put_in(&node, peer.allow(rights));
        }
        for (node, rights) in changes.change {
            if let Some(peer) = self.peer(&node) {
                peer.rights.set(rights);
            }
        }
    }

    fn put_in(&self, node: &NodeId, peer: Peer) {
        // The actor may not run yet. It finds the existing peers when it starts.
        let is_new = self.add(node, peer);
        if let Some(actor) = self.actor().filter(|_| is_new) {
            // do_send: one for each change of the voters.
            actor.do_send(AddPeer(node.clone()));
        }
    }

    /// Removes a peer before the actor handles the removal: when this function returns, the peer's agents are no longer
    /// members.
    fn take_out(&self, node: &NodeId) {
        self.remove(node);
        if let Some(actor) = self.actor() {
            // do_send: one for each change of the voters.
            actor.do_send(RemovePeer(node.clone()));
        }
    }

    fn actor(&self) -> Option<Addr<RemoteBridge>> {
        self.actor.get().and_then(WeakAddr::upgrade)
    }
}
