//! The peers of a bridge that come from the voters of its groups: carries out what a [`PeerBook`] decides.
//!
//! [`PeerBook`]: super::decreed::PeerBook

use std::sync::{Arc, Weak};

use actix::WeakAddr;

use crate::{
    group::PeerReporter,
    protocol::NewVoter,
    remote::{NodeId, Peer, RemoteBridge},
};

use super::{
    decreed::{PeerChanges, VoterContact},
    message::{AddPeer, RemovePeer},
    shared::{BridgeState, lock},
};

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

    /// These are the voters of a group in that epoch. Says why the hosts of some are no peers.
    pub(crate) fn decree(&self, group: &str, epoch: u64, voters: &[NewVoter]) -> Vec<String> {
        let mut refused = Vec::new();
        let mut contacts = Vec::new();
        for NewVoter { id, contact } in voters {
            let Some(contact) = contact else { continue };
            match NodeId::new(&contact.node) {
                Ok(node) => contacts.push(VoterContact {
                    voter: id.clone(),
                    node,
                    address: Some(contact.address.clone()).filter(|address| !address.is_empty()),
                }),
                Err(why) => refused.push(format!("{id} at {}: {why}", contact.node)),
            }
        }
        let is_safe = self.is_dangerous || self.security.is_some();
        let may_dial = |address: &str| is_safe || self.transport.is_loopback(address);
        // Held until it is done: what another group's list decides begins with what this one's has made.
        let mut book = lock(&self.book);
        let changes = book.decree(&self.me.node, (group, epoch), &contacts, may_dial);
        let unused = changes.refused.iter();
        refused.extend(
            unused.map(|(contact, why)| format!("{} at {}: {why}", contact.voter, contact.node)),
        );
        self.change_peers(changes);
        drop(book);
        refused
    }

    fn change_peers(&self, changes: PeerChanges) {
        let actor = self.actor.get().and_then(WeakAddr::upgrade);
        for node in changes.remove {
            self.remove(&node);
            if let Some(actor) = &actor {
                actor.do_send(RemovePeer(node));
            }
        }
        for (node, (address, rights)) in changes.add {
            let peer = match address {
                Some(address) => Peer::new(node.as_str(), &address),
                None => Peer::inbound(node.as_str()),
            };
            let is_new = self.add(&node, peer.allow(rights));
            if let Some(actor) = actor.as_ref().filter(|_| is_new) {
                actor.do_send(AddPeer(node));
            }
        }
        for (node, rights) in changes.change {
            if let Some(peer) = self.peer(&node) {
                peer.rights.set(rights);
            }
        }
    }
}
