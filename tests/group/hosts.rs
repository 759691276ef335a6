//! Members on other hosts: the reports that a host may send, the owner of a name, and the end of one incarnation.

use actix_bully::{
    group::{Holder, JoinError, Update},
    protocol::{Incarnation, Leader, Score, Term},
};
use bully_core::protocol::{Member, To};

use crate::kit::{FIRST, Scene, ended, ended_in, id, play, requirements, resign, up, up_in};

#[test]
fn members_on_another_host_look_the_same_and_a_message_to_several_crosses_once() {
    play(async {
        let scene = Scene::of([("a", Some(1))]);
        let ((beside, here), (yonder, there)) = (scene.host("h"), scene.host("t"));
        for (name, host) in [("x", &yonder), ("b", &beside), ("c", &yonder)] {
            assert_eq!(host.apply(up(name, 77)), []);
        }
        let refused = beside.apply(up("a", 77));
        assert_eq!(refused, [up_in("a", 77)], "a member here has the name");
        scene.group.set_closed(false);
        let members = scene.group.members();
        assert_eq!((members.len(), members.is_closed()), (4, false));

        scene.group.deliver(&id("a"), FIRST, &To::All, resign());
        let ended = Member {
            ended: Some(Incarnation(77)),
            ..up_in("c", 77)
        };
        yonder.apply([Update::Known(ended)]);
        scene.group.deliver(&id("a"), FIRST, &To::All, resign());
        let carried = ["a to [c, x]: resign term 1", "a to [x]: resign term 1"];
        assert_eq!(there.take(), carried);
        assert_eq!(here.take().len(), 2);
        yonder.apply(["x", "a", "b"].map(|name| Update::Left(id(name), None)));
        let left: Vec<_> = scene.group.members().iter().map(|m| m.id.clone()).collect();
        assert_eq!(left, ["a", "b", "c"].map(id), "a and b live elsewhere");
    });
}

#[test]
fn a_report_counts_only_for_the_route_it_names() {
    play(async {
        let mut scene = Scene::new();
        let incarnation = scene.join("a", Some(1));
        let group = &scene.group;
        let ((b, _), (c, _)) = (scene.host("host-b"), scene.host("host-c"));
        assert_eq!(b.apply(up("x", 7)), []);
        let before = group.members();
        let (x, seventh) = (id("x"), Incarnation(7));
        let led = |id, incarnation| Leader {
            id,
            incarnation,
            term: Term(50),
        };

        // Reports about the agent of this host from another host, and about an agent of another host from a third host
        // and from this host.
        assert_eq!(b.apply(ended("a", 9)), [ended_in("a", 9)]);
        assert_eq!(c.apply(ended("x", 7)), [ended_in("x", 7)]);
        for (route, name, incarnation) in [(&b, "a", incarnation), (&c, "x", seventh)] {
            route.apply([Update::Suspect(id(name), incarnation)]);
            route.apply([Update::Left(id(name), Some(incarnation))]);
            route.note_leader(led(id(name), incarnation));
            route.apply([Update::Disowns(id(name), true)]);
        }
        assert!(!group.down(&x, seventh));
        assert!(!group.suspect(&x, seventh));
        assert!(!group.up(&x, seventh.next()));
        group.set_score(&x, seventh, Some(Score::from(9)));
        group.note_leader(led(x.clone(), seventh));
        assert_eq!(group.members(), before);

        b.note_leader(led(x.clone(), seventh));
        assert_eq!(group.members().leader(), Some(&led(x, seventh)));
    });
}

#[test]
fn a_name_is_taken_while_the_route_that_holds_it_is_up() {
    play(async {
        let mut scene = Scene::new();
        let ((b, lost), (c, _)) = (scene.host("host-b"), scene.host("host-c"));
        b.apply(up("x", 7_000));
        let taken = JoinError::Taken {
            id: id("x"),
            group: id("g"),
            holder: Holder::Node("host-b".into()),
        };
        assert!(taken.to_string().contains("node host-b"), "{taken}");
        let refused = scene.group.reserve(&id("x"), requirements());
        assert_eq!(refused, Err(taken));
        assert_eq!(c.apply(up("x", 9_000)), [up_in("x", 9_000)]);
        assert_eq!(lost.take(), ["is it there?"; 2]);

        b.set_up(false);
        assert_eq!(scene.join("x", Some(1)), FIRST);
        assert_eq!(lost.take(), ["x lost to this process"]);
        let member = scene.known("x");
        assert_eq!((member.incarnation, member.is_up()), (Some(FIRST), true));

        // The former host of `x` is up again, and still has a member of that name.
        b.set_up(true);
        assert_eq!(b.apply(up("x", 7_001)), [up_in("x", 7_001)]);
        assert_eq!(scene.known("x"), member);
    });
}

#[test]
fn a_member_whose_end_is_confirmed_keeps_no_name() {
    play(async {
        let mut scene = Scene::new();
        let ((b, _), (c, lost)) = (scene.host("host-b"), scene.host("host-c"));
        // `x` has ended for ever on this host, and runs on another host.
        let incarnation = scene.join("x", Some(1));
        scene.group.down(&id("x"), incarnation);
        assert_eq!(b.apply(up("x", 7)), [up_in("x", 7)], "it may be restarted");
        scene.group.retire(&id("x"), incarnation);
        assert_eq!(c.apply(up("x", 7)), []);
        // `x` has ended there, and runs on this host in a later incarnation than before.
        c.apply(ended("x", 7));
        assert_eq!(scene.join("x", Some(1)), incarnation.next());
        assert_eq!(lost.take(), ["x lost to this process"]);
    });
}

#[test]
fn reports_of_a_former_host_do_not_count_for_the_present_host() {
    play(async {
        let scene = Scene::new();
        for (first, second) in [(7_000, 5_000), (5_000, 7_000)] {
            let ((b, _), (c, _)) = (scene.host("host-b"), scene.host("host-c"));
            b.apply(up("x", first));
            b.set_up(false);
            c.apply(up("x", second));
            let (old, new) = (Incarnation(first), Incarnation(second));
            let known = scene.known("x");
            assert!(known.is_stale(old) && known.is_gone(old));
            assert!(!known.has_ended(old), "no report says that it has");
            assert!(!known.is_stale(new) && !known.is_gone(new));

            c.apply([Update::Suspect(id("x"), new)]);
            let known = scene.known("x");
            assert!(known.is_gone(new) && !known.has_ended(new));
            let later = Member {
                ended: Some(new),
                ..up_in("x", second + 1)
            };
            c.apply([Update::Known(later)]);
            let known = scene.known("x");
            assert!(!known.is_stale(new.next()) && known.is_stale(new));
            assert!(!known.has_ended(old), "the end is of another incarnation");
            c.apply([Update::Left(id("x"), None)]);
            assert!(scene.group.members().is_empty());
        }
    });
}

/// A host may have two processes with one name, one after the other or at once. So the end of the later process is not
/// the end of the earlier one. A process of this host replaces the former one, so there it is.
#[test]
fn an_end_that_a_host_tells_is_that_of_one_incarnation_alone() {
    play(async {
        let mut scene = Scene::new();
        let (b, _) = scene.host("host-b");
        let has_ended =
            |scene: &Scene, name, number| scene.known(name).has_ended(Incarnation(number));
        b.apply(up("x", 5));
        b.apply(ended("x", 7));
        let x_ended = |number| has_ended(&scene, "x", number);
        assert!(x_ended(7) && !x_ended(5) && !x_ended(6));
        b.apply(up("x", 9));
        #[cfg(feature = "sentinel")]
        b.apply([Update::Ended(id("x"), Incarnation(8))]);
        #[cfg(feature = "sentinel")]
        assert!(x_ended(8) && !x_ended(9));
        assert!(x_ended(7) && !x_ended(6));

        let first = scene.join("a", Some(1));
        scene.group.down(&id("a"), first);
        let second = scene.group.restart(&id("a"), first, None).unwrap();
        scene.group.down(&id("a"), second);
        assert!(has_ended(&scene, "a", first.0) && has_ended(&scene, "a", second.0));
    });
}

#[test]
fn a_member_that_comes_again_before_any_look_has_ended_once() {
    play(async {
        let scene = Scene::new();
        let (b, _) = scene.host("host-b");
        b.apply(up("x", 7));
        assert_eq!(scene.group.members().len(), 1);
        let left = Update::Left(id("x"), Some(Incarnation(7)));
        b.apply([left, Update::Known(up_in("x", 8))]);
        let member = scene.known("x");
        assert!(member.is_up() && member.has_ended(Incarnation(7)));

        // `x` runs on another host, which has its own numbers of incarnations, and begins again there.
        b.set_up(false);
        let (c, _) = scene.host("host-c");
        c.apply(up("x", 2));
        assert!(scene.known("x").is_stale(Incarnation(8)));
        let left = Update::Left(id("x"), Some(Incarnation(2)));
        c.apply([left, Update::Known(up_in("x", 3))]);
        assert!(scene.known("x").is_stale(Incarnation(8)));
    });
}

#[test]
fn all_that_a_host_says_at_once_is_told_once_and_merged_once() {
    play(async {
        let scene = Scene::of([("a", Some(1))]);
        let (b, _) = scene.host("host-b");
        let name = |k: i32| format!("x{k:03}");
        let scored = |k: i32, member| Member {
            score: Some(Score::from(k)),
            ..member
        };
        b.apply((0..500).map(|k| Update::Known(up_in(&name(k), 7))));
        scene.look(&["a"]);
        b.apply((0..500).map(|k| Update::Known(scored(k, up_in(&name(k), 7)))));
        assert_eq!(scene.told().await, "a", "one hint for five hundred changes");
        b.apply((1..500).map(|k| Update::Known(scored(k, ended_in(&name(k), 7)))));
        assert_eq!(scene.told().await, "a");
        let members = scene.group.members();
        assert_eq!(members.by_rank().count(), 501);
        assert_eq!(scene.ranks().first().unwrap(), "x499");
        assert!(scene.known("x499").has_ended(Incarnation(7)));
        let eligible: Vec<_> = members.eligible().map(|m| m.id.to_string()).collect();
        assert_eq!(eligible, ["a", "x000"]);
    });
}
