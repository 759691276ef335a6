//! Peers by decree: a change of voters may name the nodes of the voters, and each bridge gets them as peers.
//!
//! Decided here: what follows for the peers of this node from the contacts of a group's voters. A decree only adds: a
//! peer that an operator configured keeps its address and all of its rights, whatever the decree says, and gets
//! the right to speak for that voter of that group beside them. A peer that only decrees name may do no more than
//! that, and is none any more when no decree names it.
//!
//! Not here: who may decree, which the election decides, and how a peer is dialled.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    protocol::AgentId,
    remote::{MayBe, NodeId, Rights},
};

/// Where a voter is found, as a decree says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VoterContact {
    /// The voter.
    pub(crate) voter: AgentId,
    /// The node on which it runs.
    pub(crate) node: NodeId,
    /// What is dialled, `host:port`; `None` for a node that dials.
    pub(crate) address: Option<String>,
}

/// What each peer was made of.
#[derive(Debug, Default)]
pub(crate) struct PeerBook {
    peers: BTreeMap<NodeId, PeerSources>,
    /// The epoch of the latest list of each group. Lists may arrive in any order: each agent tells of its own.
    epochs: BTreeMap<String, u64>,
}

/// Who named a peer, and as what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct PeerSources {
    /// What an operator allowed; `None` for a peer that decrees alone name.
    configured: Option<Rights>,
    /// What is dialled.
    address: Option<String>,
    /// The voters of each group for which decrees let it speak.
    decreed: BTreeMap<String, BTreeSet<AgentId>>,
}

/// What becomes of the peers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PeerChanges {
    /// New peers: address and rights. One whose address is another now is removed first.
    pub(crate) add: BTreeMap<NodeId, (Option<String>, Rights)>,
    /// Peers that stay, with other rights.
    pub(crate) change: BTreeMap<NodeId, Rights>,
    /// Peers that are none any more.
    pub(crate) remove: BTreeSet<NodeId>,
    /// Contacts that were not used.
    pub(crate) refused: Vec<(VoterContact, ContactRefusal)>,
}

/// Why a contact of a decree is not used. The voter is one all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]

pub(crate) enum ContactRefusal {
    /// Messages would cross a network that others can read.
    #[error("nothing is encrypted, and the address is not known to be of this host: use TLS")]
    Plaintext,
    /// The same decree names another address for that node.
    #[error("the decree names two addresses for one node: name one")]
    TwoAddresses,
    /// So many peers come from decrees already.
    #[error("decrees name {MOST_DECREED} peers already: configure the others")]
    TooMany,
}

/// So many peers may come from decrees alone: as many as a group may have voters.
const MOST_DECREED: usize = 100;

impl PeerSources {
    /// What was configured, and the voters beside.
    fn rights(&self) -> Rights {
        let configured = self.configured.clone().unwrap_or_default();
        let voters = self.decreed.iter();
        let voters = voters.flat_map(|(group, voters)| voters.iter().map(move |id| (group, id)));
        // A voter with a score may win, so it may lead.
        voters.fold(configured, |rights, (group, voter)| {
            rights.grant(group, voter.as_str(), MayBe::Leader)
        })
    }

    fn is_needed(&self) -> bool {
        self.configured.is_some() || !self.decreed.is_empty()
    }
}

impl PeerBook {
    /// An operator has configured that peer.
    pub(crate) fn configure(&mut self, node: &NodeId, address: Option<String>, rights: Rights) {
        let sources = PeerSources {
            configured: Some(rights),
            address,
            decreed: BTreeMap::new(),
        };
        self.peers.insert(node.clone(), sources);
    }

    /// An operator has removed that peer: it is none, until a later list names it.
    pub(crate) fn forget(&mut self, node: &NodeId) {
        self.peers.remove(node);
    }

    /// The epoch of the latest list of that group; 0 before there is one.
    #[cfg(any(test, feature = "testkit"))]
    pub(crate) fn epoch(&self, group: &str) -> u64 {
        self.epochs.get(group).copied().unwrap_or_default()
    }

    /// These are the contacts of all voters of a group in that epoch, as this node sees them: `me` needs none of
    /// itself. A list of an earlier epoch than the latest changes nothing. `may_dial` says whether an address may
    /// be dialled without encryption that others could read.
    pub(crate) fn decree(
        &mut self,
        me: &NodeId,
        (group, epoch): (&str, u64),
        contacts: &[VoterContact],
        may_dial: impl Fn(&str) -> bool,
    ) -> PeerChanges {
        if self.epochs.get(group).is_some_and(|latest| *latest > epoch) {
            return PeerChanges::default();
        }
        self.epochs.insert(group.to_owned(), epoch);
        let before = self.peers.clone();
        for sources in self.peers.values_mut() {
            sources.decreed.remove(group);
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
        self.peers.retain(|_, sources| sources.is_needed());
        PeerChanges {
            refused,
            ..changes(&before, &self.peers)
        }
    }

    fn name(
        &mut self,
        group: &str,
        contact: &VoterContact,
        may_dial: impl Fn(&str) -> bool,
    ) -> Result<(), ContactRefusal> {
        let sources = self.peers.get(&contact.node);
        let is_configured = sources.is_some_and(|sources| sources.configured.is_some());
        if !is_configured {
            if !contact.address.as_deref().is_none_or(may_dial) {
                return Err(ContactRefusal::Plaintext);
            }
            let is_decreed = |(node, sources): &(&NodeId, &PeerSources)| {
                let is_named = sources.configured.is_none() && !sources.decreed.is_empty();
                is_named && **node != contact.node
            };
            if self.peers.iter().filter(is_decreed).count() >= MOST_DECREED {
                return Err(ContactRefusal::TooMany);
            }
        }
        let sources = self.peers.entry(contact.node.clone()).or_default();
        if !is_configured {
            sources.address.clone_from(&contact.address);
        }
        let voters = sources.decreed.entry(group.to_owned()).or_default();
        voters.insert(contact.voter.clone());
        Ok(())
    }
}

fn changes(
    before: &BTreeMap<NodeId, PeerSources>,
    after: &BTreeMap<NodeId, PeerSources>,
) -> PeerChanges {
    let mut changes = PeerChanges::default();
    for (node, now) in after {
        match before.get(node) {
            Some(was) if was.address == now.address => {
                if was.decreed != now.decreed {
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
    let gone = before.keys().filter(|node| !after.contains_key(*node));
    changes.remove.extend(gone.cloned());
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str) -> NodeId {
        NodeId::new(name).unwrap()
    }

    fn contact(voter: &str, at: &str, address: Option<&str>) -> VoterContact {
        VoterContact {
            voter: AgentId::new(voter).unwrap(),
            node: node(at),
            address: address.map(str::to_owned),
        }
    }

    fn voter(rights: Rights, name: &str) -> Rights {
        rights.grant("shop", name, MayBe::Leader)
    }

    fn decree(book: &mut PeerBook, contacts: &[VoterContact]) -> PeerChanges {
        book.decree(&node("me"), ("shop", 1), contacts, |address| {
            address != "plain:1"
        })
    }

    #[test]
    fn a_voter_on_an_unknown_node_makes_a_peer_with_the_right_to_be_that_voter_and_no_other() {
        let mut book = PeerBook::default();
        let d = contact("d", "delta", Some("delta:1"));
        let changes = decree(&mut book, &[d.clone(), contact("m", "me", Some("me:1"))]);
        let rights = voter(Rights::none(), "d");
        assert_eq!(rights.of("shop", "d"), Some(MayBe::Leader));
        assert_eq!(
            (rights.of("shop", "e"), rights.of("other", "d")),
            (None, None)
        );
        let added = (Some("delta:1".to_owned()), rights);
        let expected = PeerChanges {
            add: [(node("delta"), added)].into(),
            ..PeerChanges::default()
        };
        assert_eq!(changes, expected, "and this node is no peer of its own");
        assert_eq!(
            decree(&mut book, &[d]),
            PeerChanges::default(),
            "said again"
        );
        let removed = decree(&mut book, &[]);
        assert_eq!(removed.remove, [node("delta")].into());
    }

    #[test]
    fn what_an_operator_configured_is_neither_lowered_nor_taken_away() {
        let mut book = PeerBook::default();
        let configured = Rights::none().grant("*", "api-*", MayBe::Observer);
        book.configure(
            &node("delta"),
            Some("delta:1".to_owned()),
            configured.clone(),
        );
        let changes = decree(&mut book, &[contact("d", "delta", Some("evil:1"))]);
        let both = voter(configured.clone(), "d");
        let expected = PeerChanges {
            change: [(node("delta"), both)].into(),
            ..PeerChanges::default()
        };
        assert_eq!(changes, expected, "it is dialled where the operator said");
        let expected = PeerChanges {
            change: [(node("delta"), configured)].into(),
            ..PeerChanges::default()
        };
        assert_eq!(decree(&mut book, &[]), expected);
    }

    #[test]
    fn a_peer_that_two_groups_decree_stays_until_neither_names_it() {
        let mut book = PeerBook::default();
        let d = [contact("d", "delta", None)];
        decree(&mut book, &d);
        let me = node("me");
        let other = book.decree(&me, ("other", 1), &d, |_| true);
        let both = voter(Rights::none().grant("other", "d", MayBe::Leader), "d");
        assert_eq!(other.change, [(node("delta"), both)].into());
        let left = decree(&mut book, &[]);
        let one = Rights::none().grant("other", "d", MayBe::Leader);
        assert_eq!(
            (left.change, left.remove),
            ([(node("delta"), one)].into(), [].into())
        );
        assert_eq!(
            book.decree(&me, ("other", 1), &[], |_| true).remove,
            [node("delta")].into()
        );
    }

    #[test]
    fn an_earlier_list_that_arrives_late_changes_nothing() {
        let mut book = PeerBook::default();
        let me = node("me");
        let d = [contact("d", "delta", None)];
        let mut told = |epoch, contacts: &[VoterContact]| {
            book.decree(&me, ("shop", epoch), contacts, |_| true)
        };
        assert_eq!(told(3, &d).add.len(), 1);
        assert_eq!(told(2, &[]), PeerChanges::default());
        assert_eq!(told(4, &[]).remove, [node("delta")].into());
        assert_eq!(told(3, &d), PeerChanges::default());
        assert_eq!((book.epoch("shop"), book.epoch("other")), (4, 0));
    }

    #[test]
    fn a_voter_that_moved_is_dialled_at_its_new_address() {
        let mut book = PeerBook::default();
        decree(&mut book, &[contact("d", "delta", Some("old:1"))]);
        let moved = decree(&mut book, &[contact("d", "delta", Some("new:1"))]);
        assert_eq!(moved.remove, [node("delta")].into());
        let (address, _) = &moved.add[&node("delta")];
        assert_eq!(address.as_deref(), Some("new:1"));
    }

    #[test]
    fn contacts_that_break_a_rule_of_this_node_are_left_out_and_told() {
        let mut book = PeerBook::default();
        let plain = contact("p", "papa", Some("plain:1"));
        let one = contact("d", "delta", Some("delta:1"));
        let two = contact("e", "delta", Some("delta:2"));
        let changes = decree(&mut book, &[plain.clone(), one, two.clone()]);
        let refused = [
            (plain, ContactRefusal::Plaintext),
            (two, ContactRefusal::TwoAddresses),
        ];
        assert_eq!(changes.refused, refused);
        assert_eq!(changes.add.into_keys().collect::<Vec<_>>(), [node("delta")]);

        let many: Vec<_> = (0..=MOST_DECREED)
            .map(|n| contact(&format!("v{n}"), &format!("n{n}"), None))
            .collect();
        let changes = decree(&mut book, &many);
        assert_eq!(changes.add.len(), MOST_DECREED);
        let last = (many[MOST_DECREED].clone(), ContactRefusal::TooMany);
        assert_eq!(changes.refused, [last]);
        assert_eq!(changes.remove, [node("delta")].into());
    }
}
