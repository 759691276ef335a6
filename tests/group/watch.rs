//! What a bridge asks of a group: to be opened in time, to be watched, and to deliver here alone.
#![expect(
    clippy::unwrap_used,
    reason = "a scene that cannot be set fails the test"
)]

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use actix::{Actor, Addr, Context, Handler, clock};
use actix_bully::{
    Group,
    elections::AnyMessage,
    group::{Envelope, MembersChanged, OpenError, RemoteLink, Update},
    protocol::{AgentId, Incarnation, MemberKind, Score, Term},
};
use bully_core::{
    elections::bully::Resign,
    protocol::{Leaders, Member, Requirements, Rules, Storage},
};

use crate::common;

#[derive(Clone, Debug, Default)]
struct Counter(Arc<AtomicUsize>);

impl Counter {
    fn take(&self) -> usize {
        self.0.swap(0, Relaxed)
    }
}

struct Peer(Counter);

impl Actor for Peer {
    type Context = Context<Self>;
}

impl Handler<MembersChanged> for Peer {
    type Result = ();
    fn handle(&mut self, _: MembersChanged, _: &mut Context<Self>) {}
}

impl Handler<Envelope<AnyMessage>> for Peer {
    type Result = ();
    fn handle(&mut self, _: Envelope<AnyMessage>, _: &mut Context<Self>) {
        self.0.0.fetch_add(1, Relaxed);
    }
}

impl RemoteLink<AnyMessage> for Counter {
    fn carry(&self, _: &[AgentId], _: Envelope<AnyMessage>) {
        self.0.fetch_add(1, Relaxed);
    }
}

fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

fn group() -> Group {
    Group::new("g").unwrap()
}

fn join(group: &Group, name: &str, messages: &Counter) -> (Incarnation, Addr<Peer>) {
    let peer = Peer(messages.clone()).start();
    let incarnation = group
        .reserve(&id(name), Requirements::new(Rules::new("bully")))
        .unwrap();
    let (inbox, changes) = (peer.clone().recipient(), peer.clone().recipient());
    let score = Some(Score::from(1));
    let member = Member::up(id(name), MemberKind::Voter, score, incarnation);
    assert!(group.join(member, inbox, changes));
    (incarnation, peer)
}

fn play(test: impl Future<Output = ()>) {
    common::virtual_system().block_on(test);
}

#[test]
fn a_watcher_is_told_once_until_it_looks() {
    play(async {
        let group = group();
        let signals = Counter::default();
        let counter = signals.clone();
        let watch = group.watch(move || {
            counter.0.fetch_add(1, Relaxed);
        });
        let messages = Counter::default();
        let (incarnation, _a) = join(&group, "a", &messages);
        let (second, _b) = join(&group, "b", &messages);
        assert_eq!(signals.take(), 1);
        let elsewhere = Member::up(id("x"), MemberKind::Voter, None, Incarnation(1));
        let route = group.remote("host-b", Arc::new(Counter::default()));
        assert_eq!(route.apply([Update::Known(elsewhere)]), []);
        assert_eq!(signals.take(), 0, "it has not looked yet");
        let here: Vec<_> = watch.look().here().map(|m| m.id.to_string()).collect();
        assert_eq!(here, ["a", "b"]);
        group.down(&id("a"), incarnation);
        group.set_score(&id("b"), second, None);
        assert_eq!(signals.take(), 1);
        let _seen = watch.look();
        drop(watch);
        group.leave(&id("a"), incarnation);
        assert_eq!(signals.take(), 0, "the watch is gone");
    });
}

#[test]
fn a_message_from_another_host_stays_in_this_process() {
    play(async {
        let group = group();
        let (first, second, link) = (Counter::default(), Counter::default(), Counter::default());
        let _a = join(&group, "a", &first);
        let (incarnation, _b) = join(&group, "b", &second);
        let route = group.remote("host-b", Arc::new(link.clone()));
        route.apply(["x", "y"].map(|name| {
            Update::Known(Member::up(
                id(name),
                MemberKind::Voter,
                None,
                Incarnation(1),
            ))
        }));
        let envelope = Envelope {
            from: id("x"),
            incarnation: Incarnation(1),
            message: Resign {
                term: Term(1),
                successor: None,
                given: None,
            }
            .into(),
        };
        let counts = async || {
            clock::sleep(std::time::Duration::from_millis(1)).await;
            [first.take(), second.take(), link.take()]
        };
        group.deliver_here(&envelope, None);
        assert_eq!(counts().await, [1, 1, 0]);
        assert_eq!(group.counters().sent, 2);
        group.deliver_here(&envelope, Some(&[id("b"), id("y"), id("stranger")]));
        assert_eq!(counts().await, [0, 1, 0]);
        assert_eq!(
            group.counters().sent,
            3,
            "a message without a receiver is not counted"
        );
        group.down(&id("b"), incarnation);
        group.deliver_here(&envelope, None);
        assert_eq!(
            counts().await,
            [1, 0, 0],
            "a member that is down hears nothing"
        );
    });
}

#[test]
fn a_group_is_opened_before_its_agents_and_numbers_their_incarnations() {
    play(async {
        let group = group();
        let messages = Counter::default();
        let (incarnation, _a) = join(&group, "a", &messages);
        let floor = Incarnation(500);
        assert_eq!(
            group.open("host-a", floor),
            Err(OpenError::TooLate { id: id("a") })
        );
        assert!(group.members().is_closed(), "nothing was changed");
        assert!(group.leave(&id("a"), incarnation));
        assert_eq!(group.open("host-a", floor), Ok(()));
        assert!(!group.members().is_closed());
        let (incarnation, _a) = join(&group, "a", &messages);
        assert!(incarnation > floor);
        group.set_closed(true);
        assert_eq!(
            group.open("host-a", Incarnation(400)),
            Ok(()),
            "these incarnations are told apart"
        );
        assert!(join(&group, "b", &messages).0 > floor);
    });
}

#[test]
fn an_agent_that_has_ended_for_good_keeps_no_group_closed() {
    play(async {
        let group = group();
        let (incarnation, _a) = join(&group, "a", &Counter::default());
        assert!(group.note_volatile(&id("a")));
        group.retire(&id("a"), incarnation);
        assert_eq!(group.open("host-a", Incarnation(1)), Ok(()));
    });
}

#[test]
fn what_is_forgotten_with_the_process_keeps_a_group_closed() {
    let group = group();
    let quorum = Requirements {
        leaders: Leaders::PerTerm,
        storage: Storage::Record,
        epoch: 3,
        ..Requirements::new(Rules::new("quorum"))
    };
    assert_eq!(group.requirements(), None);
    let incarnation = group.reserve(&id("a"), quorum.clone()).unwrap();
    assert_eq!(group.requirements(), Some(quorum));
    assert!(group.note_volatile(&id("a")));
    let volatile = OpenError::Volatile { id: id("a") };
    assert_eq!(group.open("host-a", Incarnation(1)), Err(volatile));
    group.leave(&id("a"), incarnation);
    assert_eq!(group.open("host-a", Incarnation(1)), Ok(()));
    assert!(
        !group.note_volatile(&id("a")),
        "it is open: this must not be"
    );
}
