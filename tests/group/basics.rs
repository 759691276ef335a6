//! The group: which members are notified of a change, what it costs, and where messages go.
#![expect(
    clippy::unwrap_used,
    reason = "a scene that cannot be set fails the test"
)]

use crate::common;

use std::{
    future::Future,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use actix::{Actor, Addr, Context, Handler, clock};
use actix_bully::{
    Group,
    elections::AnyMessage,
    group::{Envelope, Holder, JoinError, MembersChanged, Remote, RemoteLink, Update},
    protocol::{AgentId, Incarnation, Leader, MemberKind, Presence, Score, Term},
};
use bully_core::{
    elections::bully::{Heartbeat, Resign},
    protocol::{Electorate, Member, NotifyOrder, Requirements, Rules, To},
};

/// Writes down the hints of changes and the messages that it gets; looks at the group when it is told to.
#[derive(Clone, Default)]
struct Peer {
    name: String,
    group: Option<Group>,
    order: Arc<Mutex<Vec<String>>>,
    messages: Arc<AtomicUsize>,
}

impl Actor for Peer {
    type Context = Context<Self>;
}

impl Handler<MembersChanged> for Peer {
    type Result = ();
    fn handle(&mut self, _: MembersChanged, _: &mut Context<Self>) {
        self.order.lock().unwrap().push(self.name.clone());
        if let Some(group) = &self.group {
            drop(group.snapshot(&id(&self.name)));
        }
    }
}

impl Handler<Envelope<AnyMessage>> for Peer {
    type Result = ();
    fn handle(&mut self, _: Envelope<AnyMessage>, _: &mut Context<Self>) {
        self.messages.fetch_add(1, Relaxed);
        self.order.lock().unwrap().push(format!("({})", self.name));
    }
}

struct Scene {
    group: Group,
    requirements: Requirements,
    order: Arc<Mutex<Vec<String>>>,
    peers: Vec<(String, Addr<Peer>, Arc<AtomicUsize>)>,
}

impl Scene {
    fn new() -> Self {
        Self {
            group: Group::new("g").unwrap(),
            requirements: requirements(),
            order: Arc::default(),
            peers: Vec::new(),
        }
    }

    /// A member that looks again whenever it is told of a change.
    fn join(&mut self, name: &str, score: Option<i32>) -> Incarnation {
        let peer = Peer {
            name: name.to_owned(),
            group: Some(self.group.clone()),
            order: Arc::clone(&self.order),
            messages: Arc::default(),
        };
        let messages = Arc::clone(&peer.messages);
        let addr = peer.start();
        let incarnation = self
            .group
            .reserve(&id(name), self.requirements.clone())
            .unwrap();
        let (inbox, changes) = (addr.clone().recipient(), addr.clone().recipient());
        let score = score.map(Score::from);
        let kind = MemberKind::Voter;
        let member = Member::up(id(name), kind, score, incarnation);
        assert!(self.group.join(member, inbox, changes));
        self.peers.push((name.to_owned(), addr, messages));
        incarnation
    }

    fn look(&self, names: &[&str]) {
        for name in names {
            drop(self.group.snapshot(&id(name)));
        }
    }

    /// The members that were notified since the last call, in order.
    async fn told(&self) -> String {
        let mut heard = self.heard().await;
        heard.retain(|entry| !entry.starts_with('('));
        heard.concat()
    }

    /// The same, and in brackets the members that were sent a message.
    async fn heard(&self) -> Vec<String> {
        clock::sleep(Duration::from_millis(1)).await;
        std::mem::take(&mut *self.order.lock().unwrap())
    }

    async fn messages(&self) -> String {
        clock::sleep(Duration::from_millis(1)).await;
        let line = |(name, _, messages): &(String, Addr<Peer>, Arc<AtomicUsize>)| {
            format!("{name}{} ", messages.swap(0, Relaxed))
        };
        self.peers.iter().map(line).collect()
    }
}

fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

fn play(test: impl Future<Output = ()>) {
    common::virtual_system().block_on(test);
}

fn resign() -> AnyMessage {
    let (term, successor) = (Term(1), None);
    Resign {
        term,
        successor,
        given: None,
    }
    .into()
}

const FIRST: Incarnation = Incarnation(1);

/// As a bully's, so that the highest in rank is told first.
fn requirements() -> Requirements {
    Requirements {
        notify: NotifyOrder::HighestRankFirst,
        ..Requirements::new(Rules::new("test"))
    }
}

#[test]
fn only_members_that_looked_are_notified_the_highest_in_rank_first_and_once() {
    play(async {
        let mut scene = Scene::new();
        for (name, score) in [("a", Some(1)), ("b", Some(3)), ("c", None), ("d", Some(2))] {
            scene.join(name, score);
        }
        assert_eq!(scene.told().await, "", "no member has looked yet");
        scene.look(&["c", "a", "d", "b", "b"]);
        scene.group.down(&id("d"), FIRST);
        scene.group.up(&id("d"), FIRST.next());
        scene.group.down(&id("d"), FIRST.next());
        assert_eq!(scene.told().await, "bdac", "three changes, told once");
        scene.join("e", Some(9));
        assert_eq!(scene.told().await, "bdac", "they had looked again");
        assert!(!scene.group.down(&id("d"), FIRST), "no change");
        assert_eq!(scene.told().await, "");
    });
}

/// What the highest in rank says to the others when a member has ended comes before the hint of that
/// end, or after it.
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

/// However many have ended before: the newest of many changes may wait to be merged.
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
        let mut scene = Scene::new();
        scene.join("a", Some(1));
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
        let taken = |name| {
            let (id, group, holder) = (id(name), id("g"), Holder::Here);
            Err(JoinError::Taken { id, group, holder })
        };
        assert_eq!(scene.join("a", None), FIRST);
        assert_eq!(group.reserve(&id("a"), requirements()), taken("a"));
        assert!(!group.leave(&id("a"), FIRST.next()), "not that incarnation");
        assert!(group.leave(&id("a"), FIRST));
        assert_eq!(scene.join("a", None), Incarnation(2));

        group.down(&id("a"), Incarnation(2));
        group.retire(&id("a"), Incarnation(2));
        assert_eq!(
            group.members().get(&id("a")).unwrap().presence,
            Presence::Down
        );
        assert_eq!(scene.join("a", None), Incarnation(3));
        let member = group.members().get(&id("a")).unwrap().clone();
        assert!(member.is_up() && member.has_ended(Incarnation(2)));
        group.retire(&id("a"), Incarnation(2));
        assert_eq!(
            group.reserve(&id("a"), requirements()),
            taken("a"),
            "a former holder frees nothing"
        );

        group.raise_incarnations(Incarnation(100));
        assert_eq!(
            group.restart(&id("a"), Incarnation(3), None),
            Some(Incarnation(101))
        );
        assert_eq!(group.restart(&id("a"), Incarnation(3), None), None);
        assert_eq!(scene.join("b", None), Incarnation(101));
    });
}

#[test]
fn many_can_leave_at_once_and_the_others_keep_their_routes() {
    play(async {
        let mut scene = Scene::new();
        for n in 0..20 {
            scene.join(&format!("n{n:02}"), Some(n));
        }
        let group = scene.group.clone();
        assert_eq!(group.members().len(), 20);
        for n in (0..20).filter(|n| n % 3 != 0) {
            assert!(group.leave(&id(&format!("n{n:02}")), FIRST));
        }
        group.deliver(&id("n00"), FIRST, &To::All, resign());
        let heard: String = scene.messages().await;
        let expected = |n: i32| i32::from(n != 0 && n % 3 == 0);
        let line = |n: i32| format!("n{n:02}{} ", expected(n));
        assert_eq!(heard, (0..20).map(line).collect::<String>());
        let ranks: Vec<_> = group
            .members()
            .by_rank()
            .map(|m| m.id.to_string())
            .collect();
        assert_eq!(ranks, ["n18", "n15", "n12", "n09", "n06", "n03", "n00"]);
    });
}

#[test]
fn a_message_goes_to_its_receivers_but_not_to_the_sender_nor_to_a_member_that_is_down() {
    play(async {
        let mut scene = Scene::new();
        for name in ["a", "b", "c", "d"] {
            scene.join(name, Some(1));
        }
        let group = scene.group.clone();
        let send = |to: &To| group.deliver(&id("a"), FIRST, to, resign());
        send(&To::All);
        assert_eq!(scene.messages().await, "a0 b1 c1 d1 ");
        send(&To::One(id("c")));
        send(&To::One(id("a")));
        send(&To::One(id("stranger")));
        assert_eq!(scene.messages().await, "a0 b0 c1 d0 ");
        send(&To::Set([id("d"), id("a"), id("b"), id("stranger")].into()));
        assert_eq!(scene.messages().await, "a0 b1 c0 d1 ");
        group.suspect(&id("b"), FIRST);
        group.down(&id("c"), FIRST);
        send(&To::All);
        assert_eq!(scene.messages().await, "a0 b1 c0 d1 ", "a suspect may live");
        assert_eq!(group.counters().sent, 8);
    });
}

#[test]
fn a_message_to_a_closed_mailbox_is_counted() {
    play(async {
        let mut scene = Scene::new();
        scene.join("a", None);
        let stopped = Peer::default();
        let addr = Peer::create(|ctx| {
            actix::ActorContext::stop(ctx);
            stopped
        });
        group_in(&scene.group, "b", &addr);
        clock::sleep(Duration::from_millis(1)).await;
        assert!(!addr.connected());
        let (term, score) = (Term(1), Score::from(1));
        for message in [
            resign(),
            Heartbeat {
                term,
                score,
                sent_at: None,
            }
            .into(),
        ] {
            scene.group.deliver(&id("a"), FIRST, &To::All, message);
        }
        assert_eq!(scene.group.counters().closed, 2);
    });
}

fn group_in(group: &Group, name: &str, addr: &Addr<Peer>) {
    let incarnation = group.reserve(&id(name), requirements()).unwrap();
    let (inbox, changes) = (addr.clone().recipient(), addr.clone().recipient());
    let member = Member::up(id(name), MemberKind::Voter, None, incarnation);
    assert!(group.join(member, inbox, changes));
}

/// Writes down what it carries.
#[derive(Debug, Default)]
struct Cable(Mutex<Vec<String>>);

impl RemoteLink<AnyMessage> for Cable {
    fn carry(&self, to: &[AgentId], envelope: Envelope<AnyMessage>) {
        let line = format!("{} to {to:?}: {}", envelope.from, envelope.message);
        self.0.lock().unwrap().push(line);
    }

    fn lost(&self, id: &AgentId, to: &Holder) {
        self.0.lock().unwrap().push(format!("{id} lost to {to}"));
    }
}

#[test]
fn members_on_another_host_look_the_same_and_a_message_to_several_crosses_once() {
    play(async {
        let mut scene = Scene::new();
        scene.join("a", Some(1));
        let (here, there) = (Arc::new(Cable::default()), Arc::new(Cable::default()));
        let route = |name, cable: &Arc<Cable>| scene.group.remote(name, Arc::<Cable>::clone(cable));
        let (beside, yonder) = (route("h", &here), route("t", &there));
        let far = |name| Member::up(id(name), MemberKind::Voter, None, Incarnation(77));
        for (name, cable) in [("x", &yonder), ("b", &beside), ("c", &yonder)] {
            let refused = cable.apply([Update::Known(far(name))]);
            assert_eq!(refused, []);
        }
        let refused = beside.apply([Update::Known(far("a"))]);
        assert_eq!(refused, [far("a")], "a member here has the name");
        scene.group.set_closed(false);
        let members = scene.group.members();
        assert_eq!((members.len(), members.is_closed()), (4, false));

        scene.group.deliver(&id("a"), FIRST, &To::All, resign());
        let ended = Member {
            ended: Some(Incarnation(77)),
            ..far("c")
        };
        yonder.apply([Update::Known(ended)]);
        scene.group.deliver(&id("a"), FIRST, &To::All, resign());
        let carried = std::mem::take(&mut *there.0.lock().unwrap());
        assert_eq!(
            carried,
            ["a to [c, x]: resign term 1", "a to [x]: resign term 1"]
        );
        assert_eq!(here.0.lock().unwrap().len(), 2);
        yonder.apply(["x", "a", "b"].map(|name| Update::Left(id(name), None)));
        let left: Vec<_> = scene.group.members().iter().map(|m| m.id.clone()).collect();
        assert_eq!(left, [id("a"), id("b"), id("c")], "a and b live elsewhere");
    });
}

#[test]
fn a_score_is_told_and_changes_the_order() {
    play(async {
        let mut scene = Scene::new();
        for (name, score) in [("a", Some(1)), ("b", Some(2)), ("c", Some(3))] {
            scene.join(name, score);
        }
        scene.look(&["a", "b", "c"]);
        assert_eq!(scene.told().await, "");
        scene.group.set_score(&id("a"), FIRST, Some(Score::from(9)));
        assert_eq!(scene.told().await, "cba", "by the order as it was");
        scene.group.set_score(&id("a"), FIRST, Some(Score::from(9)));
        assert_eq!(scene.told().await, "", "no change");
        scene.group.down(&id("c"), FIRST);
        assert_eq!(scene.told().await, "acb");
        scene.group.set_score(&id("b"), FIRST, None);
        assert_eq!(scene.told().await, "acb");
        let ranks: Vec<_> = scene
            .group
            .members()
            .by_rank()
            .map(|m| m.id.to_string())
            .collect();
        assert_eq!(ranks, ["a", "c"]);
        assert!(
            scene
                .group
                .members()
                .get(&id("c"))
                .unwrap()
                .has_ended(FIRST),
            "kept"
        );
    });
}

/// A member up in that incarnation, as its host knows it.
fn up_in(name: &str, incarnation: u64) -> Member {
    Member::up(id(name), MemberKind::Voter, None, Incarnation(incarnation))
}

fn elsewhere(group: &Group, node: &str) -> (Remote<AnyMessage>, Arc<Cable>) {
    let cable = Arc::new(Cable::default());
    let remote = group.remote(node, Arc::<Cable>::clone(&cable));
    remote.set_up(true);
    (remote, cable)
}

#[test]
fn a_report_counts_only_for_the_route_it_names() {
    play(async {
        let mut scene = Scene::new();
        let incarnation = scene.join("a", Some(1));
        let group = scene.group.clone();
        let (b, _) = elsewhere(&group, "host-b");
        let (c, _) = elsewhere(&group, "host-c");
        assert_eq!(b.apply([Update::Known(up_in("x", 7))]), []);
        let before = group.members();

        let ended = |name, incarnation: u64| Member {
            presence: Presence::Down,
            ended: Some(Incarnation(incarnation)),
            ..up_in(name, incarnation)
        };
        // Of the agent here, by another host; of an agent there, by a third one and from here.
        assert_eq!(b.apply([Update::Known(ended("a", 9))]), [ended("a", 9)]);
        assert_eq!(c.apply([Update::Known(ended("x", 7))]), [ended("x", 7)]);
        for (route, name, incarnation) in [(&b, "a", incarnation), (&c, "x", Incarnation(7))] {
            route.apply([Update::Suspect(id(name), incarnation)]);
            route.apply([Update::Left(id(name), Some(incarnation))]);
            route.note_leader(Leader {
                id: id(name),
                incarnation,
                term: Term(50),
            });
        }
        assert!(!group.down(&id("x"), Incarnation(7)));
        assert!(!group.suspect(&id("x"), Incarnation(7)));
        assert!(!group.up(&id("x"), Incarnation(8)));
        group.set_score(&id("x"), Incarnation(7), Some(Score::from(9)));
        let led = Leader {
            id: id("x"),
            incarnation: Incarnation(7),
            term: Term(50),
        };
        group.note_leader(led.clone());
        assert_eq!(group.members(), before);

        b.note_leader(led.clone());
        assert_eq!(group.members().leader(), Some(&led));
    });
}

#[test]
fn a_name_is_taken_while_the_route_that_holds_it_is_up() {
    play(async {
        let mut scene = Scene::new();
        let group = scene.group.clone();
        let (b, lost) = elsewhere(&group, "host-b");
        let (c, _) = elsewhere(&group, "host-c");
        b.apply([Update::Known(up_in("x", 7_000))]);
        let holder = Holder::Node("host-b".into());
        let (at, name) = (id("g"), id("x"));
        let taken = JoinError::Taken {
            id: name,
            group: at,
            holder,
        };
        assert!(taken.to_string().contains("node host-b"), "{taken}");
        assert_eq!(group.reserve(&id("x"), requirements()), Err(taken.clone()));
        assert_eq!(
            c.apply([Update::Known(up_in("x", 9_000))]),
            [up_in("x", 9_000)]
        );

        b.set_up(false);
        assert_eq!(scene.join("x", Some(1)), FIRST);
        assert_eq!(*lost.0.lock().unwrap(), ["x lost to this process"]);
        let member = group.members().get(&id("x")).unwrap().clone();
        assert_eq!((member.incarnation, member.is_up()), (Some(FIRST), true));

        // Its former host is back, and still has one.
        b.set_up(true);
        assert_eq!(
            b.apply([Update::Known(up_in("x", 7_001))]),
            [up_in("x", 7_001)]
        );
        assert_eq!(group.members().get(&id("x")), Some(&member));
    });
}

#[test]
fn a_member_whose_end_is_confirmed_keeps_no_name() {
    play(async {
        let mut scene = Scene::new();
        let group = scene.group.clone();
        let (b, _) = elsewhere(&group, "host-b");
        let (c, lost) = elsewhere(&group, "host-c");
        // Here it has ended for good, and goes on at another host.
        let incarnation = scene.join("x", Some(1));
        group.down(&id("x"), incarnation);
        assert_eq!(
            b.apply([Update::Known(up_in("x", 7))]),
            [up_in("x", 7)],
            "it may be restarted"
        );
        group.retire(&id("x"), incarnation);
        assert_eq!(c.apply([Update::Known(up_in("x", 7))]), []);
        // There it has ended, and goes on here, in a later incarnation than before.
        let ended = Member {
            presence: Presence::Down,
            ended: Some(Incarnation(7)),
            ..up_in("x", 7)
        };
        c.apply([Update::Known(ended)]);
        assert_eq!(scene.join("x", Some(1)), incarnation.next());
        assert_eq!(*lost.0.lock().unwrap(), ["x lost to this process"]);
    });
}

#[test]
fn what_is_known_of_a_former_host_says_nothing_about_the_present_one() {
    play(async {
        let scene = Scene::new();
        let group = scene.group.clone();
        let known = || group.members().get(&id("x")).unwrap().clone();
        for (first, second) in [(7_000, 5_000), (5_000, 7_000)] {
            let (b, _) = elsewhere(&group, "host-b");
            let (c, _) = elsewhere(&group, "host-c");
            b.apply([Update::Known(up_in("x", first))]);
            b.set_up(false);
            c.apply([Update::Known(up_in("x", second))]);
            let (old, new) = (Incarnation(first), Incarnation(second));
            assert!(known().is_stale(old) && known().is_gone(old));
            assert!(!known().has_ended(old), "no report says that it has");
            assert!(!known().is_stale(new) && !known().is_gone(new));

            c.apply([Update::Suspect(id("x"), new)]);
            assert!(known().is_gone(new) && !known().has_ended(new));
            let later = Member {
                ended: Some(new),
                ..up_in("x", second + 1)
            };
            c.apply([Update::Known(later)]);
            assert!(!known().is_stale(new.next()) && known().is_stale(new));
            assert!(!known().has_ended(old), "the end of another one");
            c.apply([Update::Left(id("x"), None)]);
            assert!(group.members().is_empty());
        }
    });
}

/// Two processes may have the name of a host, one after the other or at once: the end of the later one is not that of
/// the earlier one. For the agents of this process it is.
#[test]
fn an_end_that_a_host_tells_is_that_of_one_incarnation_alone() {
    play(async {
        let mut scene = Scene::new();
        let group = scene.group.clone();
        let (b, _) = elsewhere(&group, "host-b");
        let ended = |name, number| {
            let members = group.members();
            members
                .get(&id(name))
                .unwrap()
                .has_ended(Incarnation(number))
        };
        b.apply([Update::Known(up_in("x", 5))]);
        let twin = Member {
            presence: Presence::Down,
            ended: Some(Incarnation(7)),
            ..up_in("x", 7)
        };
        b.apply([Update::Known(twin)]);
        assert!(ended("x", 7) && !ended("x", 5) && !ended("x", 6));
        b.apply([Update::Known(up_in("x", 9))]);
        #[cfg(feature = "sentinel")]
        b.apply([Update::Ended(id("x"), Incarnation(8))]);
        #[cfg(feature = "sentinel")]
        assert!(ended("x", 8) && !ended("x", 9));
        assert!(ended("x", 7) && !ended("x", 6));

        let first = scene.join("a", Some(1));
        group.down(&id("a"), first);
        let second = group.restart(&id("a"), first, None).unwrap();
        group.down(&id("a"), second);
        assert!(ended("a", first.0) && ended("a", second.0));
    });
}

#[test]
fn a_member_that_comes_again_before_any_look_has_ended_once() {
    play(async {
        let scene = Scene::new();
        let (b, _) = elsewhere(&scene.group, "host-b");
        b.apply([Update::Known(up_in("x", 7))]);
        assert_eq!(scene.group.members().len(), 1);
        b.apply([
            Update::Left(id("x"), Some(Incarnation(7))),
            Update::Known(up_in("x", 8)),
        ]);
        let member = scene.group.members().get(&id("x")).unwrap().clone();
        assert!(member.is_up() && member.has_ended(Incarnation(7)));
    });
}

#[test]
fn all_that_a_host_says_at_once_is_told_once_and_merged_once() {
    play(async {
        let mut scene = Scene::new();
        scene.join("a", Some(1));
        let group = scene.group.clone();
        let (b, _) = elsewhere(&group, "host-b");
        let name = |k: i32| format!("x{k:03}");
        b.apply((0..500).map(|k| Update::Known(up_in(&name(k), 7))));
        scene.look(&["a"]);
        let scored = |k: i32| Member {
            score: Some(Score::from(k)),
            ..up_in(&name(k), 7)
        };
        b.apply((0..500).map(|k| Update::Known(scored(k))));
        assert_eq!(scene.told().await, "a", "five hundred changes");
        let ended = |k: i32| Member {
            ended: Some(Incarnation(7)),
            presence: Presence::Down,
            ..scored(k)
        };
        b.apply((1..500).map(|k| Update::Known(ended(k))));
        assert_eq!(scene.told().await, "a");
        let members = group.members();
        assert_eq!(members.by_rank().count(), 501);
        let first = members.by_rank().next().unwrap();
        assert_eq!(
            (first.id.as_str(), first.has_ended(Incarnation(7))),
            ("x499", true)
        );
        let eligible: Vec<_> = members.eligible().map(|m| m.id.to_string()).collect();
        assert_eq!(eligible, ["a", "x000"]);
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
    group
        .reserve(&id("b"), of(&["e", "d", "c", "b", "a"], 3))
        .unwrap();
    for (other, differ) in [
        (of(&five, 4), ""),
        (of(&five[..4], 3), "only the group names e: "),
        (
            of(&["a", "b", "c", "d", "f"], 3),
            "only the group names e; only the newcomer names f: ",
        ),
    ] {
        let refused = group.reserve(&id("c"), other.clone()).unwrap_err();
        assert!(refused.to_string().contains(differ), "{refused}");
        let JoinError::Voters { unshared, .. } = refused.clone() else {
            panic!("{refused}");
        };
        assert_eq!(unshared.to_string().is_empty(), differ.is_empty());
        let expected = JoinError::Voters {
            id: id("c"),
            group: id("g"),
            epoch: 4,
            theirs: of(&five, 3).voters.map(Box::new),
            mine: other.voters.map(Box::new),
            unshared,
        };
        assert_eq!(refused, expected);
        for voters in [of(&five, 3), other].map(|asked| asked.voters.unwrap()) {
            assert!(
                refused.to_string().contains(&voters.to_string()),
                "{refused}"
            );
        }
    }
    // When all have ended for good, the next may choose.
    group.leave(&id("b"), first);
    group.leave(&id("a"), first);
    assert!(group.reserve(&id("c"), of(&five, 4)).is_ok());
}
