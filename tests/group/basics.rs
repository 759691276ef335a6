//! The group: the members that learn of a change, the cost of a change, and the receivers of messages.

use std::sync::Arc;

use actix_bully::{
    Group,
    group::{Holder, JoinError, Update},
    protocol::{Incarnation, Leader, Presence, Score, Term},
};
use bully_core::protocol::{Electorate, NotifyOrder, Requirements, To};

use crate::kit::{FIRST, Scene, id, play, requirements, resign, up};

#[test]
fn only_members_that_looked_are_notified_the_highest_in_rank_first_and_once() {
    play(async {
        let mut scene = Scene::of([("a", Some(1)), ("b", Some(3)), ("c", None), ("d", Some(2))]);
        assert_eq!(scene.told().await, "", "no member has looked yet");
        scene.look(&["c", "a", "d", "b", "b"]);
        scene.group.down(&id("d"), FIRST);
        scene.group.up(&id("d"), FIRST.next());
        scene.group.down(&id("d"), FIRST.next());
        assert_eq!(scene.told().await, "bdac", "one hint for three changes");
        scene.join("e", Some(9));
        assert_eq!(scene.told().await, "bdac", "all members had looked again");
        assert!(!scene.group.down(&id("d"), FIRST), "no change");
        assert_eq!(scene.told().await, "");
    });
}

/// A message of the highest in rank after an end arrives before the hint of that end, or after it.
#[test]
fn members_are_notified_in_the_order_that_their_election_asks_for() {
    for (notify, expected) in [
        (NotifyOrder::HighestRankFirst, "(a)a"),
        (NotifyOrder::AllAtOnce, "a(a)"),
    ] {
        play(async {
            let mut scene = Scene::new();
            scene.requirements.notify = notify;
            for (name, score) in [("a", 1), ("b", 3), ("d", 2)] {
                scene.join(name, Some(score));
            }
            scene.look(&["a", "b", "d"]);
            scene.group.down(&id("d"), FIRST);
            scene.group.deliver(&id("b"), FIRST, &To::All, resign());
            let mut heard = scene.heard().await;
            heard.retain(|entry| entry.contains('a'));
            assert_eq!(heard.concat(), expected, "{notify:?}");
        });
    }
}

/// The order holds after any number of ends, although the newest of many changes may wait to be merged.
#[test]
fn the_next_in_rank_is_notified_a_turn_before_the_others_after_each_of_many_ends() {
    play(async {
        let mut scene = Scene::new();
        let names: Vec<_> = (10..50).map(|n| format!("n{n}")).collect();
        let mut names: Vec<_> = names.iter().map(String::as_str).collect();
        for (name, score) in names.iter().zip(0..) {
            scene.join(name, Some(score));
        }
        drop(scene.heard().await); // all have begun to run
        while let [lowest, .., next, leader] = names[..] {
            scene.look(&names);
            scene.group.down(&id(leader), FIRST);
            scene.group.deliver(&id(next), FIRST, &To::All, resign());
            let mut heard = scene.heard().await;
            heard.retain(|entry| entry.contains(lowest) || entry == next);
            let expected = [next.to_owned(), format!("({lowest})"), lowest.to_owned()];
            assert_eq!(heard, expected, "{leader}");
            names.pop();
        }
    });
}

#[test]
fn members_that_join_together_are_merged_once() {
    play(async {
        let mut scene = Scene::of([("a", Some(1))]);
        scene.look(&["a"]);
        for n in 0..1_000 {
            scene.join(&format!("n{n}"), Some(n));
        }
        let before = scene.group.snapshot(&id("a"));
        assert_eq!(before.members().len(), 1_001);
        let again = scene.group.snapshot(&id("n7"));
        assert!(Arc::ptr_eq(&before, &again), "all share one");
        assert_eq!(scene.told().await, "a", "one hint for a thousand joins");
    });
}

#[test]
fn a_name_is_refused_at_once_and_free_when_its_holder_left_or_ended() {
    play(async {
        let mut scene = Scene::new();
        let group = scene.group.clone();
        let (a, second, third) = (id("a"), Incarnation(2), Incarnation(3));
        let taken = || {
            let (id, group, holder) = (id("a"), id("g"), Holder::Here);
            Err(JoinError::Taken { id, group, holder })
        };
        assert_eq!(scene.join("a", None), FIRST);
        assert_eq!(group.reserve(&a, requirements()), taken());
        assert!(!group.leave(&a, second), "not that incarnation");
        assert!(group.leave(&a, FIRST));
        assert_eq!(scene.join("a", None), second);

        group.down(&a, second);
        group.retire(&a, second);
        assert_eq!(scene.known("a").presence, Presence::Down);
        assert_eq!(scene.join("a", None), third);
        let member = scene.known("a");
        assert!(member.is_up() && member.has_ended(second));
        group.retire(&a, second);
        let again = group.reserve(&a, requirements());
        assert_eq!(again, taken(), "a former holder does not free the name");

        let raised = Incarnation(101);
        group.begin_after(Incarnation(100));
        assert_eq!(group.restart(&a, third, None), Some(raised));
        assert_eq!(group.restart(&a, third, None), None);
        assert_eq!(scene.join("b", None), raised);
    });
}

#[test]
fn many_can_leave_at_once_and_the_others_keep_their_routes() {
    play(async {
        let mut scene = Scene::new();
        for n in 0..20 {
            scene.join(&format!("n{n:02}"), Some(n));
        }
        assert_eq!(scene.group.members().len(), 20);
        for n in (0..20).filter(|n| n % 3 != 0) {
            assert!(scene.group.leave(&id(&format!("n{n:02}")), FIRST));
        }
        scene.group.deliver(&id("n00"), FIRST, &To::All, resign());
        let expected = |n: i32| i32::from(n != 0 && n % 3 == 0);
        let line = |n: i32| format!("n{n:02}{} ", expected(n));
        assert_eq!(
            scene.messages().await,
            (0..20).map(line).collect::<String>()
        );
        let ranks = ["n18", "n15", "n12", "n09", "n06", "n03", "n00"];
        assert_eq!(scene.ranks(), ranks);
    });
}

#[test]
fn when_many_leave_at_once_the_leader_its_term_and_what_other_hosts_say_stay_known() {
    for leader in ["z", "a"] {
        play(async {
            let scene = Scene::of(["a", "b", "c", "d", "e", "z"].map(|name| (name, None)));
            let (host, _) = scene.host("host-b");
            for name in ["x", "y"] {
                host.apply(up(name, 7));
                host.apply([Update::Disowns(id(name), true)]);
            }
            scene.group.note_leader(Leader {
                id: id(leader),
                incarnation: FIRST,
                term: Term(50),
            });
            let before = scene.group.members();
            assert_eq!(before.leader().unwrap().id, leader);
            for name in ["a", "b", "c", "d", "e"] {
                scene.group.forget_leader(&id(name), FIRST);
                assert!(scene.group.leave(&id(name), FIRST));
            }
            let after = scene.group.members();
            assert_eq!((after.len(), after.term()), (3, Term(50)));
            let known = after.leader().map(|leader| leader.id.as_str());
            assert_eq!(known, Some(leader).filter(|leader| *leader == "z"));
            assert!(after.is_disowned(&id("z")));
        });
    }
}

#[test]
fn a_message_goes_to_its_receivers_but_not_to_the_sender_nor_to_a_member_that_is_down() {
    play(async {
        let scene = Scene::of(["a", "b", "c", "d"].map(|name| (name, Some(1))));
        let group = &scene.group;
        let send = |to: &To| group.deliver(&id("a"), FIRST, to, resign());
        send(&To::All);
        assert_eq!(scene.messages().await, "a0 b1 c1 d1 ");
        for name in ["c", "a", "stranger"] {
            send(&To::One(id(name)));
        }
        assert_eq!(scene.messages().await, "a0 b0 c1 d0 ");
        send(&To::Set(["d", "a", "b", "stranger"].map(id).into()));
        assert_eq!(scene.messages().await, "a0 b1 c0 d1 ");
        group.suspect(&id("b"), FIRST);
        group.down(&id("c"), FIRST);
        send(&To::All);
        assert_eq!(scene.messages().await, "a0 b1 c0 d1 ", "a suspect may live");
        assert_eq!(group.counters().sent, 8);
    });
}

#[test]
fn a_score_is_told_and_changes_the_order() {
    play(async {
        let scene = Scene::of([("a", Some(1)), ("b", Some(2)), ("c", Some(3))]);
        scene.look(&["a", "b", "c"]);
        assert_eq!(scene.told().await, "");
        let set = |name, score: Option<i32>| {
            scene
                .group
                .set_score(&id(name), FIRST, score.map(Score::from));
        };
        set("a", Some(9));
        assert_eq!(scene.told().await, "cba", "the former order counts");
        set("a", Some(9));
        assert_eq!(scene.told().await, "", "no change");
        scene.group.down(&id("c"), FIRST);
        assert_eq!(scene.told().await, "acb");
        set("b", None);
        assert_eq!(scene.told().await, "acb");
        assert_eq!(scene.ranks(), ["a", "c"]);
        assert!(scene.known("c").has_ended(FIRST), "kept");
    });
}

#[test]
fn other_voters_or_quorums_in_one_epoch_are_refused() {
    let group: Group = Group::new("g").unwrap();
    let of = |names: &[&str], votes| {
        let names: Vec<_> = names.iter().map(|name| id(name)).collect();
        Requirements {
            epoch: 4,
            voters: Some(Electorate::new(&names, votes, 3)),
            names: Some(names.into()),
            ..requirements()
        }
    };
    let five = ["a", "b", "c", "d", "e"];
    let first = group.reserve(&id("a"), of(&five, 3)).unwrap();
    let other_order = of(&["e", "d", "c", "b", "a"], 3);
    group.reserve(&id("b"), other_order).unwrap();
    for (other, differ) in [
        (of(&five, 4), ""),
        (of(&five[..4], 3), "only the group names e: "),
        (
            of(&["a", "b", "c", "d", "f"], 3),
            "only the group names e; only the newcomer names f: ",
        ),
    ] {
        let refused = group.reserve(&id("c"), other.clone()).unwrap_err();
        let text = refused.to_string();
        assert!(text.contains(differ), "{text}");
        let JoinError::Voters { unshared, .. } = refused.clone() else {
            panic!("{text}");
        };
        assert_eq!(unshared.is_empty(), differ.is_empty());
        for asked in [of(&five, 3), other.clone()] {
            let voters = asked.voters.unwrap().to_string();
            assert!(text.contains(&voters), "{text}");
        }
        let expected = JoinError::Voters {
            id: id("c"),
            group: id("g"),
            epoch: 4,
            theirs: of(&five, 3).voters.map(Box::new),
            mine: other.voters.map(Box::new),
            unshared,
        };
        assert_eq!(refused, expected);
    }
    // When all agents have left, the next agent may choose the requirements.
    group.leave(&id("b"), first);
    group.leave(&id("a"), first);
    assert!(group.reserve(&id("c"), of(&five, 4)).is_ok());
}
