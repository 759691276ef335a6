//! The peers of a node that operators, decrees and leaders name.

use super::*;

fn node(name: &str) -> NodeId {
    NodeId::new(name).unwrap()
}

/// Parses a voter, its node, and its address: `d@delta delta:1`.
fn contact(text: &str) -> VoterContact {
    let (voter, at) = text.split_once('@').unwrap();
    let (at, address) = at
        .split_once(' ')
        .map_or((at, None), |(at, address)| (at, Some(address.to_owned())));
    VoterContact {
        voter: AgentId::new(voter).unwrap(),
        node: node(at),
        address,
    }
}

fn is_private(address: &str) -> bool {
    address != "plain:1"
}

/// Lists the roles that these rights give to agents in two groups.
fn roles(rights: &Rights) -> String {
    let all = ["shop", "other"].map(|group| ["d", "e", "f", "api-1"].map(|agent| (group, agent)));
    let granted = all.concat().into_iter().filter_map(|(group, agent)| {
        let role = rights.of(group, agent)?;
        Some(format!("{group}/{agent} {role:?}"))
    });
    granted.collect::<Vec<_>>().join(" ")
}

/// Shows changes of peers: `+` is a new peer, `~` a change of rights, `-` a removed peer, `!` a contact that was
/// refused.
fn shown(changes: &PeerChanges) -> String {
    let PeerChanges {
        add,
        change,
        remove,
        refused,
    } = changes;
    let added = add.iter().map(|(node, (address, rights))| {
        let at = address
            .as_ref()
            .map_or(String::new(), |at| format!(" at {at}"));
        format!("+{node}{at} ({})", roles(rights))
    });
    let regranted = change
        .iter()
        .map(|(node, rights)| format!("~{node} ({})", roles(rights)));
    let removed = remove.iter().map(|node| format!("-{node}"));
    let refused = refused
        .iter()
        .map(|(of, why)| format!("!{} {why:?}", of.voter));
    let all = added.chain(regranted).chain(removed).chain(refused);
    all.collect::<Vec<_>>().join(", ")
}

impl PeerBook {
    fn lists(&mut self, group: &str, epoch: u64, contacts: &[&str]) -> String {
        let contacts: Vec<_> = contacts.iter().map(|text| contact(text)).collect();
        shown(&self.decree(&node("me"), (group, epoch), &contacts, is_private))
    }

    fn wants(&mut self, group: &str, text: &str) -> String {
        match self.want(group, &contact(text), is_private) {
            Ok(changes) => shown(&changes),
            Err(why) => format!("{why:?}"),
        }
    }
}

/// Returns the rights that the operator grants in these tests.
fn own() -> Rights {
    Rights::none().grant("*", "api-*", MayBe::Observer)
}

const OWN: &str = "shop/api-1 Observer other/api-1 Observer";

#[test]
fn a_list_that_comes_after_a_later_one_changes_nothing() {
    let mut book = PeerBook::default();
    assert_eq!(book.lists("shop", 2, &["e@e"]), "+e (shop/e Leader)");
    assert_eq!(book.lists("shop", 1, &["d@d", "e@e"]), "");
    assert_eq!(book.lists("shop", 2, &["e@e"]), "");
    assert_eq!(book.lists("shop", 3, &[]), "-e");
}

/// The refused contact has the reason `Removed`, which a log or a diagnosis can show to a person.
#[test]
fn a_peer_that_an_operator_removed_stays_away_until_a_list_names_another_voter_there() {
    for is_configured in [true, false] {
        let mut book = PeerBook::default();
        let delta = node("delta");
        if is_configured {
            book.configure(&delta, None, Rights::all());
        }
        book.lists("shop", 0, &["d@delta"]);
        book.forget(&delta);
        let repeated = book.lists("shop", 1, &["d@delta", "e@echo"]);
        assert_eq!(repeated, "+echo (shop/e Leader), !d Removed");
        let other = book.lists("shop", 2, &["d@delta", "f@delta"]);
        assert_eq!(other, "+delta (shop/d Leader shop/f Leader), -echo");

        book.forget(&delta);
        book.lists("shop", 3, &[]);
        let anew = book.lists("shop", 4, &["d@delta"]);
        assert_eq!(anew, "+delta (shop/d Leader)", "it was gone in between");
    }
}

#[test]
fn a_peer_that_is_removed_and_configured_again_has_the_rights_of_the_decrees_again() {
    let mut book = PeerBook::default();
    let delta = node("delta");
    book.lists("shop", 0, &["d@delta delta:1"]);
    let both = Some(format!("shop/d Leader {OWN}"));
    let configure = |book: &mut PeerBook| {
        let rights = book.configure(&delta, None, own());
        rights.as_ref().map(roles)
    };
    assert_eq!(configure(&mut book), both, "decreed first");
    assert_eq!(configure(&mut book), None, "twice");
    book.forget(&delta);
    assert_eq!(configure(&mut book), both);
    assert_eq!(book.lists("shop", 1, &["d@delta delta:1"]), "");
}

/// The list also names this node, which must not become a peer of its own.
#[test]
fn a_voter_on_an_unknown_node_makes_a_peer_with_the_right_to_be_that_voter_and_no_other() {
    let mut book = PeerBook::default();
    let list = ["d@delta delta:1", "m@me me:1"];
    let added = book.lists("shop", 0, &list);
    assert_eq!(added, "+delta at delta:1 (shop/d Leader)");
    assert_eq!(book.lists("shop", 1, &list), "", "said again");
    assert_eq!(book.lists("shop", 2, &[]), "-delta");
}

/// The list has another address for the peer. The bridge still dials the address of the operator.
#[test]
fn configured_rights_are_neither_lowered_nor_removed() {
    let mut book = PeerBook::default();
    book.configure(&node("delta"), Some("delta:1".to_owned()), own());
    let changed = book.lists("shop", 0, &["d@delta evil:1"]);
    assert_eq!(changed, format!("~delta (shop/d Leader {OWN})"));
    assert_eq!(book.lists("shop", 1, &[]), format!("~delta ({OWN})"));
}

#[test]
fn a_peer_that_two_groups_decree_stays_until_neither_names_it() {
    let mut book = PeerBook::default();
    book.lists("shop", 0, &["d@delta"]);
    let both = book.lists("other", 0, &["d@delta"]);
    assert_eq!(both, "~delta (shop/d Leader other/d Leader)");
    assert_eq!(book.lists("shop", 1, &[]), "~delta (other/d Leader)");
    assert_eq!(book.lists("other", 1, &[]), "-delta");
}

#[test]
fn a_voter_that_moved_is_dialled_at_its_new_address() {
    let mut book = PeerBook::default();
    book.lists("shop", 0, &["d@delta old:1"]);
    let moved = book.lists("shop", 1, &["d@delta new:1"]);
    assert_eq!(moved, "+delta at new:1 (shop/d Leader), -delta");
}

#[test]
fn contacts_that_break_a_rule_of_this_node_are_left_out_and_told() {
    let mut book = PeerBook::default();
    let list = ["p@papa plain:1", "d@delta delta:1", "e@delta delta:2"];
    assert_eq!(
        book.lists("shop", 0, &list),
        "+delta at delta:1 (shop/d Leader), !p Plaintext, !e TwoAddresses"
    );
    let many: Vec<_> = (0..=MOST_DECREED).map(|n| format!("v{n}@n{n}")).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    let changes = book.lists("shop", 1, &many);
    assert_eq!(changes.matches('+').count(), MOST_DECREED);
    assert!(changes.ends_with(", -delta, !v100 TooMany"), "{changes}");
}

#[test]
fn the_host_of_a_wanted_agent_is_a_peer_that_may_observe_until_the_next_list() {
    let mut book = PeerBook::default();
    let d = "d@delta delta:1";
    book.lists("shop", 3, &[]);
    let added = book.wants("shop", d);
    assert_eq!(added, "+delta at delta:1 (shop/d Observer)");
    assert_eq!(book.wants("shop", d), "", "asked once more");
    assert_eq!(book.lists("shop", 3, &[]), "", "no later list");

    let mut other = PeerBook {
        epochs: book.epochs.clone(),
        nodes: book.nodes.clone(),
    };
    assert_eq!(other.lists("shop", 4, &[]), "-delta");
    let decreed = book.lists("shop", 4, &[d]);
    assert_eq!(decreed, "~delta (shop/d Leader)", "its link stays");
}

#[test]
fn one_agent_of_a_group_is_wanted_at_a_time() {
    let mut book = PeerBook::default();
    book.wants("shop", "d@d");
    book.wants("other", "d@d");
    let changed = book.wants("shop", "e@e");
    assert_eq!(changed, "+e (shop/e Observer), ~d (other/d Observer)");
    let both = "shop/e Observer other/e Observer";
    assert_eq!(book.wants("other", "e@e"), format!("~e ({both}), -d"));
}

/// The leader names another address for the node. The bridge still dials the address of the operator.
#[test]
fn a_wanted_agent_takes_nothing_from_what_a_node_is_already() {
    let mut book = PeerBook::default();
    book.configure(&node("delta"), Some("delta:1".to_owned()), Rights::all());
    let changed = book.wants("shop", "d@delta plain:1");
    assert!(changed.starts_with("~delta (shop/d Leader"), "{changed}");
    assert!(!changed.contains("Observer"), "{changed}");
}

#[test]
fn a_wanted_node_that_breaks_a_rule_of_this_node_does_not_become_a_peer() {
    let mut book = PeerBook::default();
    assert_eq!(book.wants("shop", "p@papa plain:1"), "Plaintext");
    assert!(book.nodes.is_empty());
    book.wants("shop", "d@delta");
    book.forget(&node("delta"));
    assert_eq!(book.wants("shop", "d@delta"), "Removed");
}
