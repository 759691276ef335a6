//! A known node that misbehaves over a ready link.

use actix_bully::{
    elections::{
        AnyMessage,
        bully::{Elect, Elected},
    },
    protocol::{About, Incarnation, MemberKind, Presence, Round, Score, Term, Time},
    remote::{
        BridgeEvent, MayBe, Peer, Rights,
        internals::wire::{LeaderHint, RosterContent, Targets},
    },
};
use bully_core::{
    elections::{
        bully::{self, Heartbeat},
        quorum::{ClaimReply, Takeover},
    },
    protocol::Member,
};

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

/// Returns all messages of bully agents, each with the lowest role that may send it.
fn all_that_is_said() -> Vec<(MayBe, AnyMessage)> {
    let (term, score) = (Term(50), Score::from(99));
    let round = Round {
        incarnation: INCARNATION,
        counter: 1,
    };
    let (seen, refusal) = (term, None);
    let ok = bully::Ok {
        round,
        seen,
        refusal,
    };
    let elect = Elect {
        round,
        score,
        seen,
        ..Elect::default()
    };
    let granted = ClaimReply {
        term,
        seen,
        granted: true,
        incarnation: INCARNATION,
        ..ClaimReply::default()
    };
    let heartbeat = Heartbeat {
        term,
        score,
        ..Heartbeat::default()
    };
    vec![
        (MayBe::Voter, ok.into()),
        (MayBe::Voter, nack(1)),
        (MayBe::Voter, granted.into()),
        (MayBe::Leader, elect.into()),
        (MayBe::Leader, Takeover { term }.into()),
        (MayBe::Leader, heartbeat.into()),
        (MayBe::Leader, elected()),
    ]
}

/// Each message is sent over a link of its own. If the agent may not send the message, its link is closed, and no
/// member gets the message.
#[test]
fn a_peer_says_no_more_than_its_rights_allow() {
    play(async {
        for most in [MayBe::Observer, MayBe::Voter] {
            let mut scene = Scene::set(&patient(), may_be(most)).await;
            for (needs, message) in all_that_is_said() {
                if needs <= most {
                    continue;
                }
                let before = scene.counts();
                let mut raw = Raw::dial(scene.at()).await.greet("x").await;
                raw.announce("x1").await;
                raw.message(Targets::All, &message).await;
                assert_eq!(raw.ends().await, None, "{message} by {most:?}");
                scene.counted(&before, &[("role", 1)]).await;
            }
            scene.is_unhurt().await;
        }
    });
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

/// A hundred such messages may be a race at the start. One message more counts as a breach.
#[test]
fn a_hundred_messages_to_unknown_agents_are_dropped_and_the_next_ends_the_link() {
    play(async {
        let mut scene = Scene::set(&patient(), may_be(MayBe::Voter)).await;
        let before = scene.counts();
        let mut raw = Raw::dial(scene.at()).await.greet("x").await;
        raw.announce("x1").await;
        let to_unknown = Targets::Some(&[77]);
        for _ in 0..100 {
            raw.message(to_unknown, &nack(1)).await;
        }
        scene.counted(&before, &[("unknown_agent", 100)]).await;
        raw.message(to_unknown, &nack(1)).await;
        assert_eq!(raw.ends().await, None);
        let moved = [("unknown_targets", 1), ("unknown_agent", 100)];
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
