//! Peers by decree: a change of voters may name the nodes of the voters, and each bridge gets them as peers.
//!
//! Decided here: what follows for the peers of this node from the contacts of a group's voters. A decree only adds: a
//! peer that an operator configured keeps its address and all of its rights, whatever the decree says, and gets
//! the right to speak for that voter of that group beside them. A peer that only decrees name may do no more than
//! that, and is none any more when no decree names it. The lists of a group are numbered, and one that comes after a
//! later one changes nothing.
//!
//! Where an operator and a decree disagree about a peer, the later word counts. Who removes a peer means it, so the
//! next list, which repeats all voters, does not bring it back; only a list that names another voter there does, since
//! a person asked for that one. Who configures a peer that is decreed says how it is dialled from then on.
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
    nodes: BTreeMap<NodeId, PeerSources>,
    /// The number of the latest list of each group.
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
    /// What decrees let it speak for when an operator removed it: to say that again does not bring it back.
    removed: BTreeMap<String, BTreeSet<AgentId>>,
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
    /// An operator removed that peer while it was decreed.
    #[error("an operator removed that peer here: add it again, or remove the voter")]
    Removed,
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

    fn is_peer(&self) -> bool {
        self.configured.is_some() || !self.decreed.is_empty()
    }

    fn is_needed(&self) -> bool {
        self.is_peer() || !self.removed.is_empty()
    }
}

impl PeerBook {
    /// An operator configures that peer. Says what it is made of, or nothing if an operator did so before.
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

    /// An operator has removed that peer.
    pub(crate) fn forget(&mut self, node: &NodeId) {
        if let Some(sources) = self.nodes.get_mut(node) {
            let decreed = std::mem::take(&mut sources.decreed);
            sources.removed.extend(decreed);
            sources.configured = None;
            sources.address = None;
        }
        self.nodes.retain(|_, sources| sources.is_needed());
    }

    /// These are the contacts of all voters of a group from now on, as this node sees them: `me` needs none of
    /// itself. `may_dial` says whether an address may be dialled without encryption that others could read.
    /// A list of an earlier epoch than the latest one changes nothing.
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
        *known = epoch;
        let before = self.nodes.clone();
        for (node, sources) in &mut self.nodes {
            sources.decreed.remove(group);
            let there = contacts.iter().filter(|contact| contact.node == *node);
            let there: BTreeSet<_> = there.map(|contact| contact.voter.clone()).collect();
            // Nobody is named there any more, or somebody else is: a later word than the operator's.
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

    fn name(
        &mut self,
        group: &str,
        contact: &VoterContact,
        may_dial: impl Fn(&str) -> bool,
    ) -> Result<(), ContactRefusal> {
        let sources = self.nodes.get(&contact.node);
        if sources.is_some_and(|sources| sources.removed.contains_key(group)) {
            return Err(ContactRefusal::Removed);
        }
        let is_configured = sources.is_some_and(|sources| sources.configured.is_some());
        if !is_configured {
            if !contact.address.as_deref().is_none_or(may_dial) {
                return Err(ContactRefusal::Plaintext);
            }
            let is_decreed = |(node, sources): &(&NodeId, &PeerSources)| {
                let is_named = sources.configured.is_none() && !sources.decreed.is_empty();
                is_named && **node != contact.node
            };
            if self.nodes.iter().filter(is_decreed).count() >= MOST_DECREED {
                return Err(ContactRefusal::TooMany);
            }
        }
        let sources = self.nodes.entry(contact.node.clone()).or_default();
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
    let is_peer = |(_, sources): &(_, &PeerSources)| sources.is_peer();
    let was = |node| before.get(node).filter(|sources| sources.is_peer());
    for (node, now) in after.iter().filter(is_peer) {
        match was(node) {
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
    let is_kept = |node| after.get(node).is_some_and(PeerSources::is_peer);
    let gone = before.iter().filter(is_peer).map(|(node, _)| node);
    let gone = gone.filter(|node| !is_kept(node));
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
        let next = book
            .epochs
            .get("shop")
            .map_or(0, |epoch| epoch.saturating_add(1));
        decree_as(book, next, contacts)
    }

    fn decree_as(book: &mut PeerBook, epoch: u64, contacts: &[VoterContact]) -> PeerChanges {
        book.decree(&node("me"), ("shop", epoch), contacts, |address| {
            address != "plain:1"
        })
    }

    #[test]
    fn a_list_that_comes_after_a_later_one_changes_nothing() {
        let mut book = PeerBook::default();
        let [d, e] = ["d", "e"].map(|name| contact(name, name, None));
        let added = decree_as(&mut book, 2, std::slice::from_ref(&e)).add;
        assert_eq!(added.into_keys().collect::<Vec<_>>(), [node("e")]);
        let late = decree_as(&mut book, 1, &[d, e.clone()]);
        assert_eq!(late, PeerChanges::default());
        assert_eq!(decree_as(&mut book, 2, &[e]), PeerChanges::default());
        assert_eq!(decree_as(&mut book, 3, &[]).remove, [node("e")].into());
    }

    #[test]
    fn who_is_removed_by_an_operator_stays_away_until_a_list_names_another_voter_there() {
        for is_configured in [true, false] {
            let mut book = PeerBook::default();
            let delta = node("delta");
            if is_configured {
                book.configure(&delta, None, Rights::all());
            }
            let d = contact("d", "delta", None);
            decree(&mut book, std::slice::from_ref(&d));
            book.forget(&delta);
            let repeated = decree(&mut book, &[d.clone(), contact("e", "echo", None)]);
            assert!(!repeated.add.contains_key(&delta));
            assert_eq!(
                repeated.refused,
                [(d.clone(), ContactRefusal::Removed)],
                "and a person is told why"
            );
            let other = decree(&mut book, &[d.clone(), contact("f", "delta", None)]);
            assert_eq!(other.refused, []);
            let both = Rights::none().grant("shop", "d", MayBe::Leader);
            let both = both.grant("shop", "f", MayBe::Leader);
            assert_eq!(other.add.get(&delta), Some(&(None, both)));

            book.forget(&delta);
            decree(&mut book, &[]);
            let anew = decree(&mut book, &[d]);
            assert!(anew.add.contains_key(&delta), "it was gone in between");
        }
    }

    #[test]
    fn a_peer_that_is_removed_and_configured_again_may_speak_for_what_decrees_say_as_before() {
        let mut book = PeerBook::default();
        let delta = node("delta");
        let d = contact("d", "delta", Some("delta:1"));
        decree(&mut book, std::slice::from_ref(&d));
        let own = Rights::none().grant("*", "api-*", MayBe::Observer);
        let both = Some(voter(own.clone(), "d"));
        assert_eq!(
            book.configure(&delta, None, own.clone()),
            both,
            "decreed first"
        );
        assert_eq!(book.configure(&delta, None, own.clone()), None, "twice");
        book.forget(&delta);
        assert_eq!(book.configure(&delta, None, own), both);
        assert_eq!(decree(&mut book, &[d]), PeerChanges::default());
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
        let other = book.decree(&me, ("other", 0), &d, |_| true);
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
