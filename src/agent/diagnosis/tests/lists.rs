//! Findings about lists of voters, and about changes of them.

use super::*;

#[test]
fn a_peer_of_a_later_epoch_is_found_and_one_of_other_rules_is_found_as_that() {
    let said = |epoch, mismatch| PeerReport {
        mismatch,
        epoch,
        ..peer("host-c")
    };
    let with = |peer| Facts {
        peers: vec![peer],
        ..listed(4, &["a", "b", "c"])
    };
    for epoch in [None, Some(3), Some(4)] {
        assert_eq!(found(&with(said(epoch, None))), [], "{epoch:?}");
    }
    let older = Finding::ListOlder {
        node: "host-c".to_owned(),
        theirs: 5,
        mine: 4,
    };
    assert_eq!(found(&with(said(Some(5), None))), [older]);
    let gone = PeerReport {
        unlinked_for: Some(MS(100)),
        ..said(Some(5), None)
    };
    assert!(matches!(
        &found(&with(gone))[..],
        [Finding::PeerUnlinked { .. }]
    ));
    let rules = ("theirs".to_owned(), "mine".to_owned());
    let differ = found(&with(said(Some(5), Some(rules))));
    assert!(matches!(&differ[..], [Finding::RulesDiffer { .. }]));
}

#[test]
fn a_peer_of_an_earlier_epoch_is_found_while_it_has_an_agent() {
    let with = |epoch, node: Option<&str>, is_reachable| {
        let mut facts = Facts {
            peers: vec![PeerReport {
                epoch: Some(epoch),
                ..peer("host-c")
            }],
            ..listed(4, &["a", "b", "c"])
        };
        let there = &mut facts.members[2];
        there.node = node.map(Into::into);
        there.is_reachable = is_reachable;
        found(&facts)
    };
    let other = Finding::OtherListOlder {
        node: "host-c".to_owned(),
        theirs: 3,
        mine: 4,
    };
    assert_eq!(with(3, Some("host-c"), true), [other]);
    assert_eq!(with(4, Some("host-c"), true), []);
    let is_other = |found: &Finding| matches!(found, Finding::OtherListOlder { .. });
    assert!(!with(3, Some("host-c"), false).iter().any(is_other));
    assert!(!with(3, Some("host-d"), true).iter().any(is_other));
    let later = with(5, Some("host-c"), false);
    assert!(matches!(&later[0], Finding::ListOlder { .. }), "{later:?}");
}

#[test]
fn agents_of_two_epochs_in_one_process_are_found_by_both_and_the_one_behind_goes_by_its_own() {
    // The group follows the latest list, which does not contain b.
    let in_epochs = |epochs: [u64; 3]| {
        let mut facts = listed(5, &["a", "c", "d"]);
        facts.configured = Some(["a", "b", "c"].map(id).into());
        for (known, epoch) in facts.members.iter_mut().zip(epochs) {
            known.epoch = Some(epoch);
        }
        facts
    };
    let apart = |facts: &Facts| {
        let found = found(facts);
        let tells_of_list = found.iter().any(|found| {
            matches!(
                found,
                Finding::Learner { .. } | Finding::ConfigurationOlder { .. }
            )
        });
        let is_apart = |found: &Finding| {
            matches!(
                found,
                Finding::ListOlder { .. } | Finding::OtherListOlder { .. }
            )
        };
        let apart: Vec<_> = found.into_iter().filter(is_apart).collect();
        (apart, tells_of_list)
    };
    let older = |node: &str| Finding::ListOlder {
        node: node.to_owned(),
        theirs: 5,
        mine: 4,
    };
    let other = |node: &str, theirs| Finding::OtherListOlder {
        node: node.to_owned(),
        theirs,
        mine: 5,
    };
    assert_eq!(apart(&in_epochs([5, 5, 5])), (vec![], true));
    assert_eq!(apart(&in_epochs([4, 4, 5])), (vec![older("c")], false));
    let behind = vec![other("a", 3), other("c", 4)];
    assert_eq!(apart(&in_epochs([3, 5, 4])), (behind, true));
    let mut gone = in_epochs([3, 5, 5]);
    gone.members[0].is_reachable = false;
    assert_eq!(apart(&gone), (vec![], true), "it has ended");
}

#[test]
fn a_configuration_that_names_other_voters_than_the_list_is_found_whatever_its_order() {
    let with = |names: &[&str]| Facts {
        configured: Some(names.iter().map(|name| id(name)).collect()),
        ..listed(4, &["a", "b", "c"])
    };
    assert_eq!(found(&with(&["c", "a", "b"])), []);
    let older = Finding::ConfigurationOlder {
        epoch: 4,
        voters: ["a", "b", "c"].map(id).into(),
    };
    for names in [&["a", "b", "d"][..], &["a", "b"], &["a", "b", "c", "d"]] {
        assert_eq!(
            found(&with(names)),
            std::slice::from_ref(&older),
            "{names:?}"
        );
    }
}

/// A voter that was removed while its links were refused still has the old list.
#[test]
fn an_agent_that_reaches_too_few_voters_is_not_told_to_write_its_list_down() {
    let mut facts = Facts {
        configured: Some(["a", "b"].map(id).into()),
        ..listed(3, &["a", "b", "c"])
    };
    let is_list = |found: &Finding| matches!(found, Finding::ConfigurationOlder { .. });
    facts.members[0].is_reachable = false;
    assert!(found(&facts).iter().any(is_list), "two are reachable");
    facts.members[2].is_reachable = false;
    let found = found(&facts);
    assert!(!found.iter().any(is_list), "{found:?}");
    assert!(matches!(&found[0], Finding::FewVoters { reachable: 1, .. }));
}

#[test]
fn a_change_of_the_voters_is_found_from_its_first_sign_on() {
    let at = |millis| Time::from_millis(millis);
    let with = |changing, asked_since: Option<Time>| {
        let mut facts = listed(4, &["a", "b", "c"]);
        let seen: Option<(u64, Time)> = changing;
        facts.signs.prospects.edit().next_epoch = seen.map(|(epoch, _)| epoch);
        facts.signs.changing_since = seen.map(|(_, since)| Box::new(since));
        facts.signs.asked = asked_since.map(|since| {
            let (callers, refused) = (1, None);
            Box::new(AskedSigns {
                since,
                callers,
                refused,
            })
        });
        found(&facts)
    };
    let change = |epoch, is_asked_here, since| Finding::VotersChange {
        epoch,
        is_asked_here,
        since: MS(since),
        refused: None,
    };
    let seen = Some((5, at(59_700)));
    assert_eq!(with(None, None), []);
    assert_eq!(with(seen, None), [change(Some(5), false, 300)]);
    assert_eq!(with(None, Some(at(59_500))), [change(None, true, 500)]);
    let both = with(seen, Some(at(59_500)));
    assert_eq!(both, [change(Some(5), true, 500)]);
}

#[test]
fn a_leader_that_refuses_a_change_has_answered() {
    let refused = |refused| {
        Finding::VotersChange {
            epoch: None,
            is_asked_here: true,
            since: MS(10_000),
            refused,
        }
        .to_string()
    };
    let why = ChangeError::NotSeen { id: id("d") };
    assert!(refused(None).contains("the leader has not answered"));
    let text = refused(Some(why));
    assert!(
        text.contains("the leader answers: the leader has not heard d as a learner"),
        "{text}"
    );
}

#[test]
fn an_agent_that_has_ended_is_no_voter_that_others_have_to_reach() {
    let mut facts = quorum();
    facts.status.leader = Some(leader("c"));
    facts.status.lifecycle = Lifecycle::Ended;
    let b = facts
        .members
        .iter_mut()
        .find(|one| one.member.id == facts.id);
    b.unwrap().is_reachable = false;
    let is_of_voters = |found: &Finding| {
        matches!(
            found,
            Finding::VotersAway { .. } | Finding::FewVoters { .. }
        )
    };
    assert!(!found(&facts).iter().any(is_of_voters));
    facts.members.retain(|one| one.member.id != id("a"));
    let [away] = ["a"].map(id);
    let is_away = |found: &Finding| {
        matches!(
            found,
            Finding::VotersAway { missing } | Finding::FewVoters { missing, .. } if *missing == [away.clone()]
        )
    };
    assert!(found(&facts).iter().any(is_away));
}

#[test]
fn an_older_list_is_told_with_both_epochs_and_what_to_do() {
    let of = |node: &str, theirs, mine| (node.to_owned(), theirs, mine);
    let (node, theirs, mine) = of("host-c", 3, 2);
    let older = Finding::ListOlder { node, theirs, mine }.to_string();
    assert!(older.starts_with("host-c has epoch 3 of the voters"));
    let (node, theirs, mine) = of("host-d", 1, 2);
    assert_eq!(
        Finding::OtherListOlder { node, theirs, mine }.to_string(),
        "host-d has epoch 1 of the voters, which is over, and this agent has epoch 2: if this lasts, no voter decided epoch 2, so stop host-d, give it the voters and the epoch of this agent, and start it again"
    );
}
