//! A known node that misbehaves over a ready link.

use actix_bully::{
    elections::{AnyMessage, bully::Elected},
    protocol::{About, Incarnation, MemberKind, Presence, Term, Time},
    remote::{
        BridgeEvent, MayBe, Peer, Rights,
        internals::wire::{LeaderHint, RosterContent, Targets},
    },
};
use bully_core::protocol::Member;

use super::kit::{INCARNATION, Raw, Scene, id, nack, node, patient, play, roster};

/// Returns a roster in which agent 0 leads in this term.
pub(crate) fn led_in(term: Term) -> RosterContent {
    let hint = LeaderHint {
        agent: 0,
        incarnation: INCARNATION,
        term,
    };
    RosterContent {
        leader: Some(hint),
        ..RosterContent::default()
    }
}

pub(crate) fn announcing(members: Vec<(u32, Member)>) -> RosterContent {
    RosterContent {
        members,
        ..RosterContent::default()
    }
}

/// Returns the node `x`. The names of its agents begin with `x`, and their highest role is `most`.
pub(crate) fn may_be(most: MayBe) -> Vec<Peer> {
    let rights = Rights::none().grant("*", "x*", most);
    vec![Peer::inbound("x").allow(rights)]
}

/// Returns a message that only a leader sends. A group that followed the leader would accept its term.
fn elected() -> AnyMessage {
    Elected {
        term: Term(50),
        score: 99.into(),
        sent_at: Some(Time::from_millis(1)),
        ..Elected::default()
    }
    .into()
}

/// The link of an agent that may not send a message is closed, and no member gets the message. `*/tests/messages.txt`
/// of each machine has the role that each message needs.
#[test]
fn a_peer_says_no_more_than_its_rights_allow() {
    for (most, message) in [(MayBe::Observer, nack(1)), (MayBe::Voter, elected())] {
        play(async {
            let mut scene = Scene::set(&patient(), may_be(most)).await;
            let before = scene.counts();
            let mut raw = Raw::dial(scene.at()).await.greet("x").await;
            raw.announce("x1").await;
            raw.message(Targets::All, &message).await;
            assert_eq!(raw.ends().await, None, "{message} by {most:?}");
            scene.counted(&before, &[("role", 1)]).await;
            scene.is_unhurt().await;
        });
    }
}

/// `breaches` tests the terms of messages.
#[test]
fn a_leader_of_a_term_that_cannot_be_is_not_believed() {
    play(async {
        let mut scene = Scene::set(&patient(), vec![Peer::inbound("x")]).await;
        let before = scene.counts();
        let mut raw = Raw::dial(scene.at()).await.greet("x").await;
        let member = Member::up(id("x1"), MemberKind::Voter, Some(0.into()), INCARNATION);
        let content = announcing(vec![(0, member)]);
        let opening = roster(raw.next(), 0, Some("g"), &content);
        raw.say(&opening).await;
        raw.message(Targets::All, &nack(1)).await;
        let hint = roster(raw.next(), 0, None, &led_in(Term(1 << 40)));
        raw.say(&hint).await;
        assert_eq!(raw.ends().await, None);
        scene.counted(&before, &[("term", 1)]).await;
        scene.is_unhurt().await;
    });
}

/// A few such messages may be a race at the start.
#[test]
fn a_message_to_an_unknown_agent_is_dropped_and_the_next_ends_the_link() {
    play(async {
        let limits = patient().unknown(1);
        let mut scene = Scene::set(&limits, may_be(MayBe::Voter)).await;
        let before = scene.counts();
        let mut raw = Raw::dial(scene.at()).await.greet("x").await;
        raw.announce("x1").await;
        for _ in 0..2 {
            raw.message(Targets::Some(&[77]), &nack(1)).await;
        }
        assert_eq!(raw.ends().await, None);
        let moved = [("unknown_targets", 1), ("unknown_agent", 1)];
        scene.counted(&before, &moved).await;
        scene.is_unhurt().await;
    });
}

/// The refused name is the name of the victim's own agent, which leads.
#[test]
fn a_refused_name_may_not_speak_nor_be_spoken_for() {
    play(async {
        let mut scene = Scene::set(&patient(), vec![Peer::inbound("x")]).await;
        let before = scene.counts();
        let mut raw = Raw::dial(scene.at()).await.greet("x").await;
        let member = Member {
            about: About::new("http://x").ok(),
            ..Member::up(id("a1"), MemberKind::Voter, Some(99.into()), INCARNATION)
        };
        let known = scene.group().members().get(&id("a1")).cloned();
        let content = announcing(vec![(0, member.clone())]);
        let opening = roster(raw.next(), 0, Some("g"), &content);
        raw.say(&opening).await;
        raw.message(Targets::All, &elected()).await;
        scene.counted(&before, &[("refused_name", 1)]).await;
        // The peer claims that the agent leads, then that it has ended with another score and text, and then that it
        // has left.
        let later = Incarnation(u64::MAX);
        let ended = Member {
            presence: Presence::Down,
            incarnation: Some(later),
            ends: [later].into_iter().collect(),
            ..member
        };
        let gone = RosterContent {
            left: vec![0],
            ..RosterContent::default()
        };
        for content in [led_in(Term(50)), announcing(vec![(0, ended)]), gone] {
            let said = roster(raw.next(), 0, None, &content);
            raw.say(&said).await;
        }
        raw.has_been_read().await;
        assert_eq!(scene.group().members().get(&id("a1")).cloned(), known);
        let is_told = |event: &BridgeEvent| matches!(event, BridgeEvent::NameTaken { node: by, agent, .. } if *by == node("x") && *agent == id("a1"));
        assert!(scene.told().iter().any(is_told));
        scene.is_unhurt().await;
    });
}
