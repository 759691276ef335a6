//! Peers by decree. A decree is a list of voters that the voters of a group have agreed on. It may contain the nodes of
//! the voters, and each bridge gets these nodes as peers.
//!
//! Decided here: the effect of a decree on the peers of this node. A decree only adds: a peer that an operator
//! configured keeps its address and all of its rights. A decree with voters of the peer also gives the peer the right
//! to send messages as these voters of the group. A peer that comes from decrees alone has only this right, and stops
//! being a peer when no decree contains it. The lists of a group are numbered, and a list that arrives after a later
//! list changes nothing.
//!
//! A leader can make an agent a voter only if it receives the agent's messages. So the agent's node may be wanted as a
//! peer before a decree contains it. Until the next list of the group, or until another agent is wanted at the node,
//! the agent may observe: this right is enough for the leader to receive the agent's messages.
//!
//! If an operator and a decree disagree about a peer, the later decision is used. A removal by an operator is
//! deliberate, so the next list, which repeats all voters, does not bring the peer back. Only a list with another voter
//! at the node brings the peer back, because a person asked for that list. If an operator configures a decreed peer,
//! that configuration decides from then on how the peer is dialled.
//!
//! Not here: who may decree, which the election decides, and how a peer is dialled.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use crate::{
    protocol::AgentId,
    remote::{MayBe, NodeId, Rights},
};

/// The contact of a voter, from a decree: its node, and the address to dial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VoterContact {
    pub(crate) voter: AgentId,
    pub(crate) node: NodeId,
    /// The address to dial, `host:port`; `None` if the node dials by itself.
    pub(crate) address: Option<String>,
}

/// All peers, with the sources of each peer.
#[derive(Debug, Default)]
pub(crate) struct PeerBook {
    nodes: BTreeMap<NodeId, PeerSources>,
    /// The number of the latest list of each group.
    epochs: BTreeMap<String, u64>,
}

/// The sources of a peer (an operator, decrees), and the rights that they gave to the peer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct PeerSources {
    /// The rights from an operator; `None` for a peer that comes from decrees alone.
    configured: Option<Rights>,
    /// The address to dial; `None` if the peer has to dial.
    address: Option<String>,
    /// The voters of each group for which the peer may send messages, from decrees.
    decreed: BTreeMap<String, BTreeSet<AgentId>>,
    /// The agent of each group at this node that a leader wants as a voter.
    wanted: BTreeMap<String, AgentId>,
    /// The decreed voters of the peer at the moment when an operator removed the peer. A list that only repeats these
    /// voters does not bring the peer back.
    removed: BTreeMap<String, BTreeSet<AgentId>>,
}

/// Changes among the peers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PeerChanges {
    /// New peers, with address and rights. A peer whose address changes is removed first.
    pub(crate) add: BTreeMap<NodeId, (Option<String>, Rights)>,
    /// Peers that stay, with new rights.
    pub(crate) change: BTreeMap<NodeId, Rights>,
    /// Nodes that are no longer peers.
    pub(crate) remove: BTreeSet<NodeId>,
    /// Contacts that were not used.
    pub(crate) refused: Vec<(VoterContact, ContactRefusal)>,
}

/// The reason why a contact of a decree is not used. The voter remains a voter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ContactRefusal {
    /// Messages would cross a network that others can read.
    #[error(
        "nothing is encrypted, and the voter's address may be on another host: give the bridge `.tls(..)`, in a configuration the section `tls`"
    )]
    Plaintext,
    /// The same decree contains two addresses for this node.
    #[error(
        "the list of voters has two addresses for one node: give its voters there the same address"
    )]
    TwoAddresses,
    /// An operator removed this peer while it was decreed.
    #[error(
        "an operator removed the voter's node from the peers: add it again by `add_peer(..)`, or remove the voter from the list"
    )]
    Removed,
    /// Too many peers already come from decrees.
    #[error(
        "{MOST_DECREED} peers, the most allowed, already come from lists of voters alone: configure the voter's node as a peer of this node"
    )]
    TooMany,
}

/// Largest number of peers that may come from decrees alone: as many as a group may have voters.
const MOST_DECREED: usize = 100;

impl PeerSources {
    /// Returns the configured rights together with the rights for the decreed voters.
    fn rights(&self) -> Rights {
        let configured = self.configured.clone().unwrap_or_default();
        let voters = self.decreed.iter();
        let voters = voters.flat_map(|(group, voters)| voters.iter().map(move |id| (group, id)));
        // A voter may win an election, so it gets the right to lead.
        let rights = voters.fold(configured, |rights, (group, voter)| {
            rights.grant(group, voter.as_str(), MayBe::Leader)
        });
        let wanted = self.wanted.iter();
        wanted.fold(rights, |rights, (group, agent)| {
            rights.grant(group, agent.as_str(), MayBe::Observer)
        })
    }

    fn is_peer(&self) -> bool {
        self.configured.is_some() || !self.decreed.is_empty() || !self.wanted.is_empty()
    }

    fn is_needed(&self) -> bool {
        self.is_peer() || !self.removed.is_empty()
    }
}

impl PeerBook {
    /// Notes that an operator configures this peer. Returns the peer's rights, or `None` if an operator has already
    /// configured the peer.
    pub(crate) fn configure(
        &mut self,
        node: &NodeId,
        address: Option<String>,
        rights: Rights,
    ) -> Option<Rights> {
        let sources = self.nodes.entry(node.clone()).or_default();
        if sources.configured.is_some() {
            return None;
        }
        let removed = std::mem::take(&mut sources.removed);
        sources.decreed.extend(removed);
        sources.configured = Some(rights);
        sources.address = address;
        Some(sources.rights())
    }

    /// Notes that an operator has removed this peer.
    pub(crate) fn forget(&mut self, node: &NodeId) {
        if let Some(sources) = self.nodes.get_mut(node) {
            let decreed = std::mem::take(&mut sources.decreed);
            sources.removed.extend(decreed);
            let wanted = std::mem::take(&mut sources.wanted);
            for (group, agent) in wanted {
                sources.removed.entry(group).or_default().insert(agent);
            }
            sources.configured = None;
            sources.address = None;
        }
        self.nodes.retain(|_, sources| sources.is_needed());
    }

    /// Sets the contacts of all voters of a group. `me`, this node, needs no contact of its own. `may_dial` returns
    /// whether an address may be dialled, although the bytes may be unencrypted. A list of an earlier epoch than the
    /// latest list changes nothing.
    pub(crate) fn decree(
        &mut self,
        me: &NodeId,
        (group, epoch): (&str, u64),
        contacts: &[VoterContact],
        may_dial: impl Fn(&str) -> bool,
    ) -> PeerChanges {
        let known = self.epochs.entry(group.to_owned()).or_insert(epoch);
        if epoch < *known {
            return PeerChanges::default();
        }
        let is_next = epoch > *known;
        *known = epoch;
        let before = self.nodes.clone();
        for (node, sources) in &mut self.nodes {
            sources.decreed.remove(group);
            if is_next {
                sources.wanted.remove(group);
            }
            let there = contacts.iter().filter(|contact| contact.node == *node);
            let there: BTreeSet<_> = there.map(|contact| contact.voter.clone()).collect();
            // If the list has another voter at the removed node, or no voter, it was made after the removal. Then the
            // removal no longer counts.
            let is_repeated = |removed: &BTreeSet<_>| !there.is_empty() && there.is_subset(removed);
            sources
                .removed
                .retain(|name, removed| name != group || is_repeated(removed));
        }
        let mut named: BTreeMap<&NodeId, &Option<String>> = BTreeMap::new();
        let mut refused = Vec::new();
        for contact in contacts.iter().filter(|contact| contact.node != *me) {
            let address = *named.entry(&contact.node).or_insert(&contact.address);
            let used = if *address == contact.address {
                self.name(group, contact, &may_dial)
            } else {
                Err(ContactRefusal::TwoAddresses)
            };
            refused.extend(used.err().map(|why| (contact.clone(), why)));
        }
        self.nodes.retain(|_, sources| sources.is_needed());
        PeerChanges {
            refused,
            ..changes(&before, &self.nodes)
        }
    }

    /// Notes that a leader on this node needs the messages of an agent, to make the agent a voter; see
    /// [`decree`](Self::decree).
    pub(crate) fn want(
        &mut self,
        group: &str,
        contact: &VoterContact,
        may_dial: impl Fn(&str) -> bool,
    ) -> Result<PeerChanges, ContactRefusal> {
        let before = self.nodes.clone();
        let sources = self.admit(group, contact, may_dial)?;
        sources
            .wanted
            .insert(group.to_owned(), contact.voter.clone());
        for (node, sources) in &mut self.nodes {
            if *node != contact.node {
                sources.wanted.remove(group);
            }
        }
        self.nodes.retain(|_, sources| sources.is_needed());
        Ok(changes(&before, &self.nodes))
    }

    fn name(
        &mut self,
        group: &str,
        contact: &VoterContact,
        may_dial: impl Fn(&str) -> bool,
    ) -> Result<(), ContactRefusal> {
        let sources = self.admit(group, contact, may_dial)?;
        let voters = sources.decreed.entry(group.to_owned()).or_default();
        voters.insert(contact.voter.clone());
        Ok(())
    }

    /// Returns the entry of a node that may become a peer, and sets its address.
    fn admit(
        &mut self,
        group: &str,
        contact: &VoterContact,
        may_dial: impl Fn(&str) -> bool,
    ) -> Result<&mut PeerSources, ContactRefusal> {
        let sources = self.nodes.get(&contact.node);
        if sources.is_some_and(|sources| sources.removed.contains_key(group)) {
            return Err(ContactRefusal::Removed);
        }
        let is_configured = sources.is_some_and(|sources| sources.configured.is_some());
        if !is_configured {
            if !contact.address.as_deref().is_none_or(may_dial) {
                return Err(ContactRefusal::Plaintext);
            }
            let is_other = |(node, sources): &(&NodeId, &PeerSources)| {
                sources.configured.is_none() && sources.is_peer() && **node != contact.node
            };
            if self.nodes.iter().filter(is_other).count() >= MOST_DECREED {
                return Err(ContactRefusal::TooMany);
            }
        }
        let sources = self.nodes.entry(contact.node.clone()).or_default();
        if !is_configured {
            sources.address.clone_from(&contact.address);
        }
        Ok(sources)
    }
}

impl fmt::Display for VoterContact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.voter, self.node)
    }
}

fn changes(
    before: &BTreeMap<NodeId, PeerSources>,
    after: &BTreeMap<NodeId, PeerSources>,
) -> PeerChanges {
    let mut changes = PeerChanges::default();
    let is_peer = |(_, sources): &(_, &PeerSources)| sources.is_peer();
    let was = |node| before.get(node).filter(|sources| sources.is_peer());
    for (node, now) in after.iter().filter(is_peer) {
        match was(node) {
            Some(was) if was.address == now.address => {
                if (&was.decreed, &was.wanted) != (&now.decreed, &now.wanted) {
                    changes.change.insert(node.clone(), now.rights());
                }
            }
            was => {
                if was.is_some() {
                    changes.remove.insert(node.clone());
                }
                let peer = (now.address.clone(), now.rights());
                changes.add.insert(node.clone(), peer);
            }
        }
    }
    let is_kept = |node| after.get(node).is_some_and(PeerSources::is_peer);
    let gone = before.iter().filter(is_peer).map(|(node, _)| node);
    let gone = gone.filter(|node| !is_kept(node));
    changes.remove.extend(gone.cloned());
    changes
}

#[cfg(test)]
mod tests;
