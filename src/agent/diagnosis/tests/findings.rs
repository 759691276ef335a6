//! Each finding while there is no leader.

use super::*;
use crate::{
    agent::{saving::StoreFailure, work::WorkSigns},
    register::keeper::StoreState,
};

#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    assert_eq!(found(&vacant()), []);
    assert_eq!(found(&quorum()), []);
    assert_eq!(found(&with_peer(peer("host-c"))), []);
}

#[test]
fn an_agent_that_does_not_run() {
    let mut facts = vacant();
    facts.status.lifecycle = Lifecycle::Down;
    facts.signs.prospects.edit().cooldown_until = Some(Time::MAX);
    assert_eq!(found(&facts), [Finding::Down]);
    facts.status.lifecycle = Lifecycle::Ended;
    assert_eq!(found(&facts), [Finding::Ended]);
}

#[test]
fn an_agent_that_hangs_though_it_has_timers() {
    let patience = vacant().assumed.patience;
    let silent = |span: Duration| {
        let last = NOW.since(Time::ZERO).checked_sub(span).unwrap();
        Some(Time::ZERO.after(last))
    };
    let mut facts = Facts {
        last_step: silent(patience + MS(15_000)),
        ..vacant()
    };
    let silent_for = patience + MS(15_000);
    assert_eq!(found(&facts), [Finding::Hangs { silent_for }]);
    // A follower that would notice its leader's silence has timers too.
    facts.status.leader = Some(leader("c"));
    assert!(found(&facts).contains(&Finding::Hangs { silent_for }));
    facts.assumed.timings = Some(Timings::astra());
    assert!(!found(&facts).contains(&Finding::Hangs { silent_for }));
    let busy = Facts {
        last_step: silent(patience + MS(14_999)),
        ..vacant()
    };
    assert_eq!(found(&busy), []);
}

fn failed(since: u64, is_tried_again: bool) -> StoreFailure {
    StoreFailure {
        reason: "no space".to_owned(),
        since: Time::from_millis(since),
        is_tried_again,
    }
}

#[test]
fn a_store_that_fails_or_is_slow() {
    let mut facts = vacant();
    for is_tried_again in [false, true] {
        facts.signs.store_failure = Some(Box::new(failed(58_000, is_tried_again)));
        let expected = Finding::StoreFails {
            reason: "no space".to_owned(),
            since: MS(2_000),
            is_tried_again,
        };
        assert_eq!(found(&facts), [expected]);
    }
    facts.last_step = Some(Time::from_millis(1)); // it waits for the store, so it does not hang
    assert_eq!(found(&facts).len(), 1);
    let mut facts = vacant();
    facts.signs.saving_since = Some(Time::from_millis(40_000));
    facts.last_step = Some(Time::from_millis(40_000)); // it waits for the store, so it does not hang
    let since = MS(20_000);
    assert_eq!(found(&facts), [Finding::StoreIsSlow { since }]);
    facts.signs.saving_since = Some(NOW);
    assert!(!matches!(found(&facts)[..], [Finding::StoreIsSlow { .. }]));
}

#[test]
fn a_store_of_the_lease_that_does_not_list_who_is_there() {
    let mut facts = vacant();
    let lists = Some((MS(3_000), "more than 1000 entries".to_owned()));
    let state = StoreState {
        lists,
        ..StoreState::default()
    };
    facts.register = Some(("files /leases".to_owned(), state));
    let [lists_nobody] = &found(&facts)[..] else {
        panic!("{:?}", found(&facts));
    };
    assert_eq!(
        lists_nobody.to_string(),
        "files /leases has not listed the agents for 3.0 s: more than 1000 entries"
    );
}

#[test]
fn a_store_of_the_lease_that_fails_or_holds_something_else() {
    let mut facts = vacant();
    let store = "files /leases".to_owned();
    facts.register = Some((store.clone(), StoreState::default()));
    assert_eq!(found(&facts), []);
    let fails = |reason: &str| Some((MS(3_000), reason.to_owned()));
    let writes = fails("it is full");
    facts.register = Some((
        store.clone(),
        StoreState {
            writes: writes.clone(),
            ..StoreState::default()
        },
    ));
    let [takes_no_writes] = &found(&facts)[..] else {
        panic!("{:?}", found(&facts));
    };
    assert_eq!(
        takes_no_writes.to_string(),
        "files /leases has answered reads and taken no writes for 3.0 s: it is full"
    );
    let lists = fails("more than 1000 entries");
    let state = StoreState {
        reads: fails("locked"),
        writes,
        lists,
        marks: fails("full"),
        refused: Some("hello".to_owned()),
        other: None,
        has_another: None,
    };
    facts.register = Some((store.clone(), state));
    assert_eq!(
        found(&facts),
        [
            Finding::RegisterFails {
                store: store.clone(),
                reason: "locked".to_owned(),
                since: MS(3_000)
            },
            Finding::RegisterForeign {
                store,
                reason: "hello".to_owned()
            }
        ]
    );
}

#[test]
fn a_clock_that_is_slow() {
    let mut facts = vacant();
    facts.signs.is_clock_slow = true;
    assert_eq!(found(&facts), [Finding::ClockIsSlow]);
}

type Say = fn(&mut PeerReport);

#[test]
#[expect(clippy::too_many_lines, reason = "a row for each word of a peer")]
fn a_report_of_a_peer_is_found_by_the_name_of_its_node() {
    let text = str::to_owned;
    let node = || text("host-c");
    let error = || text("it does not answer");
    let rows: [(Say, Finding); 7] = [
        (
            |said| said.mismatch = Some(("epoch 2".to_owned(), "epoch 1".to_owned())),
            Finding::RulesDiffer {
                node: node(),
                theirs: text("epoch 2"),
                mine: text("epoch 1"),
            },
        ),
        (
            |said| said.unlinked_for = Some(MS(3_000)),
            Finding::PeerUnlinked {
                node: node(),
                address: Some(text("10.0.0.2:7400")),
                error: Some(error()),
                advice: Some("start it"),
                since: MS(3_000),
            },
        ),
        (
            |said| {
                said.unlinked_for = Some(MS(3_000));
                said.is_name_disputed = true;
            },
            Finding::NodeNameTwice {
                node: node(),
                error: error(),
            },
        ),
        (
            |said| {
                said.unlinked_for = Some(MS(3_000));
                said.is_contested = true;
            },
            Finding::PeerNameTwice { node: node() },
        ),
        (
            |said| said.is_contested = true,
            Finding::PeerNameTwice { node: node() },
        ),
        (
            |said| said.refused = vec![id("b")],
            Finding::AgentNameTwice {
                node: node(),
                agent: id("b"),
            },
        ),
        (
            |said| said.is_clock_ahead = true,
            Finding::ClockAhead { node: node() },
        ),
    ];
    for (say, expected) in rows {
        let mut said = PeerReport {
            last_error: Some(error()),
            advice: Some("start it"),
            ..peer("host-c")
        };
        say(&mut said);
        assert_eq!(found(&with_peer(said)), [expected]);
    }
}

#[test]
fn an_earlier_process_of_the_same_name_is_found_before_all_else_of_the_peer() {
    let earlier = PeerReport {
        has_twin: true,
        lacks_group: true,
        is_clock_ahead: true,
        ..peer("host-c")
    };
    let all = found(&with_peer(earlier));
    let is_first = matches!(all[0], Finding::NodeNameTwice { .. });
    assert!(is_first && all.len() == 3, "{all:?}");
}

#[test]
fn a_peer_without_an_agent_of_the_group_is_told_when_that_matters() {
    let other = |shares_no_group| PeerReport {
        lacks_group: true,
        shares_no_group,
        other_groups: vec!["job".to_owned()],
        ..peer("host-c")
    };
    let lacks = Finding::PeerLacksGroup {
        node: "host-c".to_owned(),
        others: vec!["job".to_owned()],
    };
    let facts = with_peer(other(false));
    assert_eq!(facts.status.leader, None);
    assert!(found(&facts).contains(&lacks), "there is no leader");
    // The peer may belong to another group of this node.
    let led = Facts {
        peers: vec![other(false)],
        ..led_by("c")
    };
    assert!(!found(&led).contains(&lacks));
    let led = Facts {
        peers: vec![other(true)],
        ..led
    };
    assert!(found(&led).contains(&lacks));
}

#[test]
fn a_leader_whose_work_does_not_run_is_told() {
    let mut facts = led_by("b");
    facts.status.leading = Some(Term(7));
    let mut work = WorkSigns::default();
    work.given();
    facts.signs.work = Some(Box::new(work));
    let nothing = Finding::NothingRuns { has_run: false };
    assert!(found(&facts).contains(&nothing));
    facts.status.draining = true;
    assert!(!found(&facts).contains(&nothing), "it hands over");
}

#[test]
fn too_few_voters() {
    let mut facts = quorum();
    facts.members[0].is_reachable = false;
    let missing = vec![id("a")];
    assert_eq!(found(&facts), [Finding::VotersAway { missing }]);
    // No message of c was ever heard.
    facts.members.pop();
    assert_eq!(
        found(&facts),
        [Finding::FewVoters {
            reachable: 1,
            all: 3,
            needed: 2,
            missing: vec![id("a"), id("c")],
        }]
    );
    let mut alone = facts.clone();
    alone
        .members
        .iter_mut()
        .for_each(|known| known.is_reachable = false);
    assert!(
        !found(&alone).contains(&Finding::NoneEligible),
        "no voter is heard"
    );
    // A member that is not in the list of voters does not count for the majority.
    facts.members.push(member("d", Some(9)));
    let voters = facts.voters().unwrap();
    assert_eq!((voters.reachable, voters.all, voters.needed), (1, 3, 2));
}

#[test]
fn an_even_number_of_voters_and_an_agent_that_they_do_not_name() {
    let of = |names: &[&str]| listed(4, names);
    assert_eq!(found(&of(&["a", "b", "c"])), []);
    assert_eq!(
        found(&of(&["a", "c", "x"])),
        [
            Finding::VotersAway {
                missing: vec![id("x")]
            },
            Finding::Learner { epoch: 4 },
        ]
    );
    assert_eq!(found(&of(&["b", "c"])), [Finding::EvenVoters { all: 2 }]);
}

#[test]
fn one_voter_is_enough_where_each_side_elects_its_own() {
    let mut facts = vacant();
    facts.members[0].is_reachable = false;
    facts.members[2].is_reachable = false;
    let voters = facts.voters().unwrap();
    assert_eq!((voters.reachable, voters.all, voters.needed), (1, 3, 1));
    let missing = vec![id("a"), id("c")];
    assert_eq!(found(&facts), [Finding::VotersAway { missing }]);
}

#[test]
fn members_that_are_not_eligible() {
    let mut facts = vacant();
    for known in &mut facts.members {
        known.member.score = None;
    }
    facts.score = None;
    assert_eq!(found(&facts), [Finding::NoneEligible, Finding::NoScore]);
    facts.status.tie_broken = true;
    assert_eq!(found(&facts), [Finding::NoneEligible, Finding::TieBroken]);
    let mut facts = vacant();
    facts.assumed.kind = MemberKind::Observer;
    facts.score = None;
    assert_eq!(found(&facts), [Finding::Observer]);
}

#[test]
fn an_agent_that_waits() {
    let mut facts = vacant();
    facts.signs.prospects.edit().waits_until = Some(NOW.after(MS(300)));
    assert_eq!(found(&facts), [Finding::Waits { left: MS(300) }]);
    // The cool-down delays its slot.
    facts.signs.prospects.edit().cooldown_until = Some(NOW.after(MS(900)));
    assert_eq!(found(&facts), [Finding::CoolsDown { left: MS(900) }]);
    facts.signs.prospects.edit().cooldown_until = Some(NOW);
    facts.signs.prospects.edit().waits_until = Some(NOW);
    assert_eq!(found(&facts), [], "both are over");
}

#[test]
fn an_election_that_has_not_ended_or_not_begun() {
    let mut facts = vacant();
    for role in [Role::Candidate, Role::Waiting] {
        facts.status.role = role;
        assert_eq!(found(&facts), [Finding::ElectionUnderWay { role }]);
    }
    facts.status.role = Role::Follower;
    facts.last_step = None;
    assert_eq!(found(&facts), [Finding::Starting]);
    let astra = Facts {
        assumed: Assumptions::new(MemberKind::Voter, Some(&Timings::astra()), None),
        ..vacant()
    };
    assert_eq!(found(&astra), [Finding::NotAsked]);
}

#[test]
fn the_worst_comes_first() {
    let mut facts = quorum();
    facts.members[0].is_reachable = false;
    facts.members[2].is_reachable = false;
    facts.status.role = Role::Candidate;
    facts.score = None;
    facts.signs.store_failure = Some(Box::new(failed(60_000, false)));
    facts.peers = vec![PeerReport {
        unlinked_for: Some(MS(5)),
        ..peer("host-c")
    }];
    let kinds: Vec<_> = found(&facts).iter().map(Finding::order).collect();
    assert!(kinds.is_sorted() && kinds.len() == 5, "{kinds:?}");
    assert!(matches!(found(&facts)[0], Finding::StoreFails { .. }));
}
