//! The peers of a bridge, those that an operator names and those of the voters of its groups: carries out what a
//! [`PeerBook`] decides. The book is locked until that is done: two decisions at once are carried out one after the other.

use std::sync::{Arc, Weak};

use actix::{Addr, WeakAddr};

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

/// Where a voter is found, if that is said; or why it cannot be.
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
    /// From now on the groups say who their voters are: that actor is told of new peers.
    pub(crate) fn follow_voters(self: &Arc<Self>, actor: WeakAddr<RemoteBridge>) {
        // There is one actor for each state; its address is the same through all its restarts.
        self.actor.set(actor).ok();
        let weak = Arc::downgrade(self);
        let reporter: Weak<dyn PeerReporter> = weak;
        for carried in &self.carried {
            carried.add_reporter(&reporter);
        }
    }

    /// These are the voters of a group from that epoch on. Says why the hosts of some are no peers.
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
            return refused; // its peers are gone for good
        }
        let mut changes = book.decree(&self.me.node, (group, epoch), &contacts, may_dial);
        let unused = std::mem::take(&mut changes.refused).into_iter();
        refused.extend(unused.map(|(contact, why)| format!("{contact}: {why}")));
        self.change_peers(&mut book, changes);
        refused
    }

    /// That agent shall become a voter of a group, and its leader, who is here, has not heard it. Says why its host is
    /// no peer.
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
                self.change_peers(&mut book, changes);
                None
            }
            Err(why) => Some(format!("{contact}: {why}")),
        }
    }

    /// Whether nobody else could read what is said to that address.
    fn may_dial(&self, address: &str) -> bool {
        self.is_dangerous || self.security.is_some() || self.transport.is_loopback(address)
    }

    /// An operator names a peer: says whether none had named it before.
    pub(crate) fn configure(&self, node: &NodeId, peer: Peer) -> bool {
        let mut book = lock(&self.book);
        let sources = (peer.address.clone(), peer.rights.clone());
        let Some(rights) = book.configure(node, sources.0, sources.1) else {
            return false;
        };
        match self.peer(node) {
            // A decree named it before; a link that is there stays.
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

    /// An operator removes a peer, whoever named it: says whether there was one.
    pub(crate) fn forget(&self, node: &NodeId) -> bool {
        let mut book = lock(&self.book);
        let is_known = self.peer(node).is_some();
        book.forget(node);
        self.take_out(node);
        is_known
    }

    /// The caller holds the book: the peers, and what the actor is told of them, change in the order in which it does.
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
        // Before the actor is there: it finds the peers when it starts.
        let is_new = self.add(node, peer);
        if let Some(actor) = self.actor().filter(|_| is_new) {
            // do_send: one for each change of the voters.
            actor.do_send(AddPeer(node.clone()));
        }
    }

    /// Here, before the actor comes to it: its agents are no members any more when this returns.
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
