//! The members that result from a node's rosters, and the link whose rosters count.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use crate::elections::AnyMessage;
use crate::{
    group::Group,
    protocol::{
        About, AgentId, Incarnation, Leader, Member, MemberKind, Members, Presence, Term, Time, To,
    },
    remote::{
        Limits, LinkId, NodeIncarnation, RosterChange,
        carry::{Carried, GroupCarrier, PeerAgents},
    },
};
use bully_core::elections::bully::Resign;

const LATER: Time = Time::from_millis(600_000);

/// A group of this side, and its knowledge about one node.
struct Host {
    group: Group<AnyMessage>,
    agents: PeerAgents,
}

impl Host {
    fn new() -> Self {
        Self::of(Group::new("g").unwrap(), "host-b")
    }

    fn of(group: Group<AnyMessage>, node: &str) -> Self {
        let limits = Limits::default();
        let carrier: Arc<dyn Carried> = Arc::new(GroupCarrier::new(group.clone(), &limits));
        let agents = PeerAgents::new(node, &[carrier], &limits, Time::ZERO, |_| {
            Box::new(|_, _| {})
        });
        Self { group, agents }
    }

    /// Returns a host whose node has named these agents over the link 1.
    fn with(incarnation: u64, members: &[Member]) -> Self {
        let mut host = Self::new();
        host.begin(incarnation, 1);
        host.say(1, opening(members));
        host.sweep(1);
        host
    }

    fn begin(&mut self, incarnation: u64, link: u8) {
        self.agents
            .begin(NodeIncarnation(incarnation), LinkId([link; 16]));
    }

    fn say(&mut self, link: u8, change: RosterChange) -> Vec<AgentId> {
        self.agents.apply(LinkId([link; 16]), change)
    }

    fn sweep(&mut self, link: u8) {
        self.agents.sweep(LinkId([link; 16]));
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
        self.agents.refusals().load(Relaxed)
    }
}

fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

fn up(name: &str, incarnation: u64) -> Member {
    Member::up(
        id(name),
        MemberKind::Voter,
        Some(1.into()),
        Incarnation(incarnation),
    )
}

fn down(name: &str, incarnation: u64) -> Member {
    Member {
        presence: Presence::Down,
        ended: Some(Incarnation(incarnation)),
        ..up(name, incarnation)
    }
}

fn change(members: &[Member]) -> RosterChange {
    RosterChange {
        group: 0,
        is_opening: false,
        left: Vec::new(),
        members: (0..).zip(members.iter().cloned()).collect(),
        leader: None,
    }
}

fn opening(members: &[Member]) -> RosterChange {
    RosterChange {
        is_opening: true,
        ..change(members)
    }
}

#[test]
fn changes_of_a_replaced_link_count_for_nothing() {
    let mut host = Host::with(1, &[up("x", 9)]);
    host.begin(1, 2);
    let before = host.members();
    let leader = Some(Leader {
        id: id("x"),
        incarnation: Incarnation(9),
        term: Term(7),
    });
    let left = vec![(0, id("x"))];
    for said in [
        change(&[down("x", 9), up("y", 9)]),
        RosterChange {
            left,
            ..change(&[])
        },
        RosterChange {
            leader,
            ..change(&[])
        },
        opening(&[]),
    ] {
        assert!(host.say(1, said).is_empty());
        host.sweep(1);
        assert_eq!(host.members(), before);
    }
    host.say(2, opening(&[up("y", 9)]));
    host.sweep(2);
    assert_eq!(host.names(), "y", "the newest link's count");
}

#[test]
fn an_agent_that_is_not_named_again_has_ended_in_the_same_incarnation_only() {
    for (incarnation, is_certain) in [(1, true), (2, false)] {
        let mut host = Host::with(1, &[up("x", 9), up("y", 9)]);
        assert_eq!(host.names(), "xy");
        host.begin(incarnation, 2);
        host.say(2, opening(&[up("y", 9)]));
        assert_eq!(host.names(), "xy", "more may follow");
        host.sweep(2);
        // The agent comes again before any member reads the change.
        host.say(2, change(&[up("y", 9), up("x", 10)]));
        let x = host.members().get(&id("x")).unwrap().clone();
        assert_eq!(x.has_ended(Incarnation(9)), is_certain);
        assert!(x.is_up() && x.is_stale(Incarnation(9)));
    }
}

#[cfg(feature = "sentinel")]
#[test]
fn a_sentinel_ends_the_agents_of_exactly_the_incarnation_that_it_names() {
    let mut host = Host::with(1, &[up("x", 9), up("y", 9)]);
    // The node is back, and has named one of the two agents so far.
    host.begin(2, 2);
    host.say(2, opening(&[up("y", 10)]));
    host.agents.told_ended(NodeIncarnation(1));
    let has_ended = |host: &Host, name: &str, incarnation| {
        let members = host.members();
        members
            .get(&id(name))
            .unwrap()
            .has_ended(Incarnation(incarnation))
    };
    assert!(has_ended(&host, "x", 9));
    assert!(!has_ended(&host, "y", 10), "named by the next one");
    assert_eq!(
        host.presence("y"),
        Some(Presence::Up),
        "named by the next one"
    );
    host.say(2, change(&[up("x", 10)]));
    assert_eq!(host.presence("x"), Some(Presence::Up), "it is back, too");
    host.agents.told_ended(NodeIncarnation(2));
    assert!(has_ended(&host, "y", 10));
    host.say(2, change(&[up("y", 11)]));
    assert_eq!(host.presence("y"), Some(Presence::Down), "a late roster");
}

/// A link may be lost before the node has named the agents of all groups again. So the agents' incarnation decides to
/// which process they belong, and not the link.
#[cfg(feature = "sentinel")]
#[test]
fn a_late_notice_touches_no_agent_that_the_next_incarnation_named_over_a_link_now_lost() {
    let mut host = Host::with(1, &[up("x", 9)]);
    host.begin(2, 2);
    host.say(2, opening(&[up("x", 10)]));
    host.begin(2, 3);
    host.agents.told_ended(NodeIncarnation(1));
    assert_eq!(host.presence("x"), Some(Presence::Up));
}

#[test]
fn a_text_of_a_former_incarnation_is_not_shown() {
    let said = |incarnation, about: Option<&str>| Member {
        about: about.map(|text| About::new(text).unwrap()),
        ..up("x", incarnation)
    };
    let suspect = |incarnation| Member {
        presence: Presence::Suspect,
        ..said(incarnation, Some("former"))
    };
    let mut host = Host::with(1, &[said(9, Some("now"))]);
    // Each step has the announced member, and the incarnation and the text that the group must show afterwards.
    for (step, (member, incarnation, about)) in [
        (said(8, Some("former")), 9, Some("now")),
        (suspect(8), 9, Some("now")),
        (said(10, None), 10, None),
        (said(9, Some("now")), 10, None),
        (suspect(9), 10, None),
        (said(10, Some("next")), 10, Some("next")),
    ]
    .into_iter()
    .enumerate()
    {
        host.say(1, change(&[member]));
        let x = host.members().get(&id("x")).unwrap().clone();
        let shown = (x.incarnation, x.about.map(|text| text.to_string()));
        let due = (Some(Incarnation(incarnation)), about.map(str::to_owned));
        assert_eq!(shown, due, "step {step}");
    }
}

#[test]
fn messages_that_wait_for_a_node_are_lost_with_its_incarnation_and_not_before() {
    let mut host = Host::with(1, &[up("x", 9)]);
    let message = Resign::default().into();
    host.group
        .deliver(&id("a"), Incarnation(1), &To::All, message);
    host.begin(1, 2);
    assert_eq!(host.agents.outbox.lost(), 0, "the same one is there again");
    host.begin(2, 3);
    assert_eq!(
        host.agents.outbox.lost(),
        1,
        "the later one must not hear it"
    );
}

#[test]
fn a_group_that_begins_anew_and_names_no_agent_is_empty_again() {
    let mut host = Host::with(1, &[up("x", 9)]);
    host.say(1, opening(&[]));
    host.sweep(1);
    assert_eq!(
        (host.names(), host.agents.count_members()),
        (String::new(), 0)
    );
}

#[test]
fn a_number_is_forgotten_a_while_after_the_last_link() {
    let mut host = Host::new();
    let forget = Duration::from_secs(60);
    let seen = Some(NodeIncarnation(9));
    assert_eq!(host.agents.latest_at(LATER, forget), None);
    host.begin(9, 1);
    assert_eq!(host.agents.latest_at(LATER, forget), seen, "it is linked");
    assert!(host.agents.unlink(Time::from_millis(1_000)));
    assert!(!host.agents.unlink(LATER), "once");
    let at = |millis| host.agents.latest_at(Time::from_millis(millis), forget);
    assert_eq!((at(60_999), at(61_000)), (seen, None));
}

/// A forgotten node also begins its agents' incarnations with low numbers, so the knowledge about the former agents
/// must not count.
#[test]
fn a_node_that_was_forgotten_begins_anew() {
    let mut host = Host::with(9, &[up("x", 900)]);
    assert_eq!(host.names(), "x");
    host.agents.unlink(LATER);
    host.begin(3, 2);
    host.say(2, opening(&[up("x", 300)]));
    host.sweep(2);
    let x = host.members().get(&id("x")).unwrap().clone();
    assert_eq!((x.incarnation, x.is_up()), (Some(Incarnation(300)), true));
    assert!(!x.is_stale(Incarnation(300)) && x.is_stale(Incarnation(900)));
    assert!(!x.has_ended(Incarnation(900)));
}

#[test]
fn agents_of_a_lost_node_are_suspected() {
    let host = Host::with(1, &[up("x", 9), down("y", 9)]);
    host.agents.suspect();
    assert_eq!(host.presence("x"), Some(Presence::Suspect));
    assert_eq!(host.presence("y"), Some(Presence::Down), "that was certain");
}

/// Without this flag, every roster would take the lock of every other peer.
#[test]
fn a_refusal_shows_until_the_name_is_free() {
    let mut host = Host::new();
    let mut other = Host::of(host.group.clone(), "host-c");
    host.begin(1, 1);
    host.say(1, opening(&[up("x", 9)]));
    other.begin(1, 2);
    assert!(!other.has_refused());
    assert_eq!(other.say(2, opening(&[up("x", 5)])), [id("x")]);
    assert!(other.has_refused() && !host.has_refused());
    host.agents.remove(0);
    other.agents.retry(0);
    assert!(!other.has_refused());
    assert_eq!(other.presence("x"), Some(Presence::Up));
}
