//! What is made of a node's rosters, and of which link's.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use crate::{
    elections::message::{BullyMessage, Resign},
    group::Group,
    protocol::{
        AgentId, Incarnation, Leader, Member, MemberKind, Members, Presence, Term, Time, To,
    },
    remote::{
        Limits, LinkId, News, NodeIncarnation,
        carry::{Books, Carried, Carrier, Line, Receivers},
    },
};

const LATER: Time = Time::from_millis(600_000);

/// A group of this side, and what it knows of one node.
struct Desk {
    group: Group<BullyMessage>,
    books: Books,
}

impl Desk {
    fn new() -> Self {
        Self::of(Group::new("g").unwrap(), "host-b")
    }

    fn of(group: Group<BullyMessage>, node: &str) -> Self {
        let limits = Limits::default();
        let carrier: Arc<dyn Carried> = Arc::new(Carrier::new(group.clone(), &limits));
        let books = Books::new(node, &[carrier], &limits, |_| Box::new(|_, _| {}));
        Self { group, books }
    }

    fn begin(&mut self, life: u64, link: u8) {
        self.books.begin(NodeIncarnation(life), LinkId([link; 16]));
    }

    fn say(&mut self, link: u8, news: News) -> Vec<AgentId> {
        self.books.apply(LinkId([link; 16]), news)
    }

    fn sweep(&mut self, link: u8) {
        self.books.sweep(LinkId([link; 16]));
    }

    fn members(&self) -> Arc<Members> {
        self.group.members()
    }

    fn names(&self) -> String {
        self.members().iter().map(|m| m.id.to_string()).collect()
    }

    fn presence(&self, name: &str) -> Option<Presence> {
        self.members().get(&id(name)).map(|m| m.presence)
    }

    fn has_refused(&self) -> bool {
        self.books.refusals().load(Relaxed)
    }

    /// Whom a message to all names on this node.
    fn named(&self) -> Vec<Receivers> {
        let (term, successor) = (Term(1), None);
        let message = Resign { term, successor }.into();
        self.group
            .deliver(&id("a"), Incarnation(1), &To::All, message);
        let outbox = &self.books.outbox;
        let waiting = outbox.take(LinkId([1; 16]), Line::default()).unwrap();
        let to = waiting.iter().map(|(letter, _)| letter.to.clone());
        to.collect()
    }
}

fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

fn up(name: &str, life: u64) -> Member {
    Member::up(
        id(name),
        MemberKind::Voter,
        Some(1.into()),
        Incarnation(life),
    )
}

fn down(name: &str, life: u64) -> Member {
    Member {
        presence: Presence::Down,
        ended: Some(Incarnation(life)),
        ..up(name, life)
    }
}

fn news(members: &[Member]) -> News {
    News {
        group: 0,
        is_opening: false,
        left: Vec::new(),
        members: (0..).zip(members.iter().cloned()).collect(),
        leader: None,
    }
}

fn opening(members: &[Member]) -> News {
    News {
        is_opening: true,
        ..news(members)
    }
}

#[test]
fn news_of_a_replaced_link_change_nothing() {
    let mut desk = Desk::new();
    desk.begin(1, 1);
    desk.say(1, opening(&[up("x", 9)]));
    desk.sweep(1);
    desk.begin(1, 2);
    let before = desk.members();
    let leader = Some(Leader {
        id: id("x"),
        incarnation: Incarnation(9),
        term: Term(7),
    });
    let left = vec![(0, id("x"))];
    for said in [
        news(&[down("x", 9), up("y", 9)]),
        News { left, ..news(&[]) },
        News {
            leader,
            ..news(&[])
        },
        opening(&[]),
    ] {
        assert!(desk.say(1, said).is_empty());
        desk.sweep(1);
        assert_eq!(desk.members(), before);
    }
    desk.say(2, opening(&[up("y", 9)]));
    desk.sweep(2);
    assert_eq!(desk.names(), "y", "the newest link's count");
}

#[test]
fn who_is_not_named_again_is_gone_for_certain_in_the_same_life_only() {
    for (life, is_certain) in [(1, true), (2, false)] {
        let mut desk = Desk::new();
        desk.begin(1, 1);
        desk.say(1, opening(&[up("x", 9), up("y", 9)]));
        desk.sweep(1);
        assert_eq!(desk.names(), "xy");
        desk.begin(life, 2);
        desk.say(2, opening(&[up("y", 9)]));
        assert_eq!(desk.names(), "xy", "more may follow");
        desk.sweep(2);
        // Before anybody looks, it comes again.
        desk.say(2, news(&[up("y", 9), up("x", 10)]));
        let x = desk.members().get(&id("x")).unwrap().clone();
        assert_eq!(x.has_ended(Incarnation(9)), is_certain);
        assert!(x.is_up() && x.is_stale(Incarnation(9)));
    }
}

#[test]
fn a_group_that_begins_anew_and_names_nobody_is_empty_again() {
    let mut desk = Desk::new();
    desk.begin(1, 1);
    desk.say(1, opening(&[up("x", 9)]));
    desk.sweep(1);
    desk.say(1, opening(&[]));
    desk.sweep(1);
    assert_eq!((desk.names(), desk.books.agents()), (String::new(), 0));
}

#[test]
fn a_number_is_forgotten_a_while_after_the_last_link() {
    let mut desk = Desk::new();
    let forget = Duration::from_secs(60);
    let seen = Some(NodeIncarnation(9));
    assert_eq!(desk.books.latest_at(LATER, forget), None);
    desk.begin(9, 1);
    assert_eq!(desk.books.latest_at(LATER, forget), seen, "it is linked");
    assert!(desk.books.unlink(Time::from_millis(1_000)));
    assert!(!desk.books.unlink(LATER), "once");
    let at = |millis| desk.books.latest_at(Time::from_millis(millis), forget);
    assert_eq!((at(60_999), at(61_000)), (seen, None));
}

/// Its agents are numbered from below as well: what was known of the former ones is of no use.
#[test]
fn a_node_that_was_forgotten_begins_anew() {
    let mut desk = Desk::new();
    desk.begin(9, 1);
    desk.say(1, opening(&[up("x", 900)]));
    desk.sweep(1);
    assert_eq!(desk.names(), "x");
    desk.books.unlink(LATER);
    desk.begin(3, 2);
    desk.say(2, opening(&[up("x", 300)]));
    desk.sweep(2);
    let x = desk.members().get(&id("x")).unwrap().clone();
    assert_eq!((x.incarnation, x.is_up()), (Some(Incarnation(300)), true));
    assert!(!x.is_stale(Incarnation(300)) && x.is_stale(Incarnation(900)));
    assert!(!x.has_ended(Incarnation(900)));
}

#[test]
fn agents_of_a_lost_node_are_suspected() {
    let mut desk = Desk::new();
    desk.begin(1, 1);
    desk.say(1, opening(&[up("x", 9), down("y", 9)]));
    desk.sweep(1);
    desk.books.suspect();
    assert_eq!(desk.presence("x"), Some(Presence::Suspect));
    assert_eq!(desk.presence("y"), Some(Presence::Down), "that was certain");
}

/// Every roster would else take the lock of every other peer.
#[test]
fn a_refusal_shows_until_the_name_is_free() {
    let mut desk = Desk::new();
    let mut other = Desk::of(desk.group.clone(), "host-c");
    desk.begin(1, 1);
    desk.say(1, opening(&[up("x", 9)]));
    other.begin(1, 2);
    assert!(!other.has_refused());
    assert_eq!(other.say(2, opening(&[up("x", 5)])), [id("x")]);
    assert!(other.has_refused() && !desk.has_refused());
    desk.books.remove(0);
    other.books.retry(0);
    assert!(!other.has_refused());
    assert_eq!(other.presence("x"), Some(Presence::Up));
}

#[test]
fn a_message_to_all_names_nobody_whoever_comes_or_ends() {
    let mut desk = Desk::new();
    desk.books.outbox.link(LinkId([1; 16]));
    desk.begin(1, 1);
    desk.say(
        1,
        opening(&[up("v", 9), up("w", 9), up("x", 9), down("y", 9)]),
    );
    desk.sweep(1);
    assert_eq!(desk.named(), [Receivers::All]);
    let left = vec![(3, id("y"))];
    let ended = down("x", 9);
    for said in [
        news(&[ended]),
        news(&[up("x", 10)]),
        News { left, ..news(&[]) },
    ] {
        desk.say(1, said);
        assert_eq!(desk.named(), [Receivers::All], "{:?}", desk.members());
    }
}
