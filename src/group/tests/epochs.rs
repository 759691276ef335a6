//! Members of several epochs in one group, if their rules learn of epochs.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use super::*;
use crate::{
    group::JoinError,
    protocol::{Electorate, Epochs},
};

fn of(epochs: Epochs, epoch: u64, voters: &[&str]) -> Requirements {
    let names: Vec<_> = voters.iter().map(|name| id(name)).collect();
    Requirements {
        epoch,
        epochs,
        voters: Some(Electorate::new(&names, 2, 2)),
        names: Some(names.into()),
        ..Requirements::new(Rules::new("test"))
    }
}

const LEARNED: Epochs = Epochs::Learned { term_bits: 40 };

/// Returns a group with members of these names and requirements.
fn of_members(
    names: &[&str],
    requirements: &Requirements,
) -> (Group<AnyMessage>, Vec<Context<IdlePeer>>) {
    let group = Group::new("g").unwrap();
    let join = |name: &&str| {
        let incarnation = group.reserve(&id(name), requirements.clone()).unwrap();
        let peer = Context::<IdlePeer>::new();
        let (inbox, changes) = (peer.address().recipient(), peer.address().recipient());
        let member = Member::up(id(name), MemberKind::Voter, Some(1.into()), incarnation);
        assert!(group.join(member, inbox, changes));
        peer
    };
    let peers = names.iter().map(join).collect();
    (group, peers)
}

#[test]
fn a_group_goes_on_to_the_latest_epoch_of_its_members_and_says_so() {
    let (three, four) = (&["a", "b", "c"], &["a", "b", "c", "d"]);
    let (old, new) = (of(LEARNED, 0, three), of(LEARNED, 1, four));
    let (group, _peers) = of_members(&["a", "b"], &old);
    let told = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&told);
    let watch = group.watch(move || {
        counter.fetch_add(1, Relaxed);
    });
    watch.look();
    let voter = MemberKind::Voter;
    group.advance(&id("a"), FIRST, voter, new.clone()).unwrap();
    assert_eq!(group.requirements(), Some(new.clone()));
    let epochs: Vec<_> = group.reach().iter().map(|member| member.epoch).collect();
    assert_eq!(epochs, [Some(1), Some(0)]);
    assert_eq!(told.load(Relaxed), 1, "bridges announce it");
    watch.look();

    // The other member is still in the old epoch, and so is a member that starts with an old configuration.
    assert!(group.reserve(&id("c"), old.clone()).is_ok());
    group.advance(&id("b"), FIRST, voter, old.clone()).unwrap();
    assert_eq!(group.requirements(), Some(new.clone()));
    group.advance(&id("b"), FIRST, voter, new.clone()).unwrap();
    assert_eq!(told.load(Relaxed), 1, "nothing new for the peers");

    // A message of an ended incarnation has no effect.
    let later = of(LEARNED, 2, three);
    let former = Incarnation(FIRST.0 - 1);
    group
        .advance(&id("a"), former, voter, later.clone())
        .unwrap();
    assert_eq!(group.requirements(), Some(new));
    group
        .advance(&id("a"), FIRST, voter, later.clone())
        .unwrap();
    assert_eq!(group.requirements(), Some(later));

    // An agent with a still later list starts.
    let newest = of(LEARNED, 3, four);
    assert!(group.reserve(&id("d"), newest.clone()).is_ok());
    assert_eq!(group.requirements(), Some(newest));
}

#[test]
fn one_epoch_has_one_list_also_while_agents_run() {
    let three = &["a", "b", "c"];
    let (group, _peers) = of_members(&["a", "b"], &of(LEARNED, 0, three));
    let voter = MemberKind::Voter;
    let added = of(LEARNED, 1, &["a", "b", "c", "d"]);
    group
        .advance(&id("a"), FIRST, voter, added.clone())
        .unwrap();
    let other = of(LEARNED, 1, &["a", "b", "c", "e"]);
    for refused in [
        group.advance(&id("b"), FIRST, voter, other.clone()),
        group.reserve(&id("c"), other).map(drop),
    ] {
        let refused = refused.unwrap_err();
        assert!(
            matches!(refused, JoinError::Voters { epoch: 1, .. }),
            "{refused}"
        );
        assert!(
            refused.to_string().contains("only the group names d"),
            "{refused}"
        );
    }
    assert_eq!(group.requirements(), Some(added));
}

#[test]
fn rules_that_do_not_learn_of_epochs_keep_them_apart() {
    let three = &["a", "b", "c"];
    let (group, _peers) = of_members(&["a"], &of(Epochs::Apart, 0, three));
    let later = of(Epochs::Apart, 1, three);
    let refused = group.reserve(&id("b"), later.clone()).unwrap_err();
    assert!(
        matches!(
            refused,
            JoinError::Epoch {
                theirs: 0,
                mine: 1,
                ..
            }
        ),
        "{refused}"
    );
    let kind = MemberKind::Voter;
    assert!(group.advance(&id("a"), FIRST, kind, later).is_err());
}

#[test]
fn a_member_that_is_no_voter_any_more_has_no_rank() {
    let old = of(LEARNED, 0, &["a", "b"]);
    let (group, _peers) = of_members(&["a", "b"], &old);
    let ranked = || {
        let members = group.members();
        let names = members.by_rank().map(|member| member.id.to_string());
        names.collect::<String>()
    };
    assert_eq!(ranked(), "ba");
    let new = of(LEARNED, 1, &["a"]);
    group
        .advance(&id("b"), FIRST, MemberKind::Observer, new)
        .unwrap();
    assert_eq!(ranked(), "a");
    assert_eq!(group.members().voters().count(), 1);
}

#[test]
fn an_agent_that_lost_its_record_is_known_by_the_epoch_that_it_reached() {
    let (group, _peers) = of_members(&["a"], &of(LEARNED, 0, &["a", "b"]));
    group.note_record(&id("a"));
    let later = of(LEARNED, 1, &["a", "b", "c"]);
    group
        .advance(&id("a"), FIRST, MemberKind::Voter, later.clone())
        .unwrap();
    assert!(group.had_record(&id("a"), &later), "epoch 0 has others too");
}
