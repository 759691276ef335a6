//! The peers of a node by what operators, decrees and leaders say.

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
fn a_peer_that_an_operator_removed_stays_away_until_a_list_names_another_voter_there() {
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
fn a_peer_that_is_removed_and_configured_again_has_the_rights_of_the_decrees_again() {
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
fn configured_rights_are_neither_lowered_nor_removed() {
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

fn want(
    book: &mut PeerBook,
    group: &str,
    contact: &VoterContact,
) -> Result<PeerChanges, ContactRefusal> {
    book.want(group, contact, |address| address != "plain:1")
}

fn observer(rights: Rights, name: &str) -> Rights {
    rights.grant("shop", name, MayBe::Observer)
}

#[test]
fn the_host_of_a_wanted_agent_is_a_peer_that_may_observe_until_the_next_list() {
    let mut book = PeerBook::default();
    let d = contact("d", "delta", Some("delta:1"));
    decree_as(&mut book, 3, &[]);
    let added = want(&mut book, "shop", &d).unwrap().add;
    let rights = observer(Rights::none(), "d");
    assert_eq!(
        added,
        [(node("delta"), (Some("delta:1".to_owned()), rights))].into()
    );
    assert_eq!(
        want(&mut book, "shop", &d),
        Ok(PeerChanges::default()),
        "asked once more"
    );
    assert_eq!(
        decree_as(&mut book, 3, &[]),
        PeerChanges::default(),
        "no later list"
    );

    let mut other = PeerBook {
        epochs: book.epochs.clone(),
        nodes: book.nodes.clone(),
    };
    assert_eq!(decree_as(&mut other, 4, &[]).remove, [node("delta")].into());
    let decreed = decree_as(&mut book, 4, &[d]);
    let rights = voter(Rights::none(), "d");
    let expected = PeerChanges {
        change: [(node("delta"), rights)].into(),
        ..PeerChanges::default()
    };
    assert_eq!(decreed, expected, "its link stays");
}

#[test]
fn one_agent_of_a_group_is_wanted_at_a_time() {
    let mut book = PeerBook::default();
    let [d, e] = ["d", "e"].map(|name| contact(name, name, None));
    want(&mut book, "shop", &d).unwrap();
    want(&mut book, "other", &d).unwrap();
    let changed = want(&mut book, "shop", &e).unwrap();
    let left = Rights::none().grant("other", "d", MayBe::Observer);
    assert_eq!(changed.change, [(node("d"), left)].into());
    assert!(changed.add.contains_key(&node("e")));
    assert_eq!(
        want(&mut book, "other", &e).unwrap().remove,
        [node("d")].into()
    );
}

#[test]
fn a_wanted_agent_takes_nothing_from_what_a_node_is_already() {
    let mut book = PeerBook::default();
    let own = Rights::none().grant("*", "*", MayBe::Leader);
    book.configure(&node("delta"), Some("delta:1".to_owned()), own.clone());
    let changed = want(&mut book, "shop", &contact("d", "delta", Some("plain:1")));
    let rights = observer(own, "d");
    assert_eq!(rights.of("shop", "d"), Some(MayBe::Leader));
    let expected = PeerChanges {
        change: [(node("delta"), rights)].into(),
        ..PeerChanges::default()
    };
    assert_eq!(
        changed,
        Ok(expected),
        "it is dialled where the operator said"
    );
}

#[test]
fn a_wanted_node_that_breaks_a_rule_of_this_node_does_not_become_a_peer() {
    let mut book = PeerBook::default();
    let plain = contact("p", "papa", Some("plain:1"));
    assert_eq!(
        want(&mut book, "shop", &plain),
        Err(ContactRefusal::Plaintext)
    );
    assert!(book.nodes.is_empty());

    let d = contact("d", "delta", None);
    want(&mut book, "shop", &d).unwrap();
    book.forget(&node("delta"));
    assert_eq!(want(&mut book, "shop", &d), Err(ContactRefusal::Removed));
}
