//! A node of the table that misbehaves over a ready link.

use actix_bully::{
    Group,
    agent::BullyAgent,
    elections::{
        AnyMessage,
        bully::{Elect, Elected},
    },
    protocol::{Incarnation, MemberKind, Presence, Round, Score, Term, Time, Timings},
    remote::{
        BridgeBuilder, MayBe, NodeIncarnation, Peer, RemoteBridge, Rights,
        internals::wire::{LeaderHint, Opening, RosterContent, RosterFrame, Targets, encode_ping},
    },
    store::{FileStore, StoreIdentity},
};
use bully_core::{
    elections::{
        bully::{self, Heartbeat},
        quorum::{Candidate, ClaimReply, Takeover},
    },
    protocol::{Electorate, Member},
};

use super::kit::{
    INCARNATION, Raw, Scene, framed, id, message_frame, nack, patient, play, roster, until,
};

/// Agent 0 leads in that term.
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

/// The node `x`, whose agents have names that begin with `x` and may be no more than that.
pub(crate) fn may_be(most: MayBe) -> Vec<Peer> {
    let rights = Rights::none().grant("*", "x*", most);
    vec![Peer::inbound("x").allow(rights)]
}

/// What only a leader says, of a term that a group in which it was followed would take.
fn elected() -> AnyMessage {
    Elected {
        term: Term(50),
        score: 99.into(),
        sent_at: Some(Time::from_millis(1)),
        ..Elected::default()
    }
    .into()
}

/// All that a bully's agents say, with what they have to be allowed to be.
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
    let heartbeat = Heartbeat {
        term,
        score,
        ..Heartbeat::default()
    };
    vec![
        (MayBe::Voter, ok.into()),
        (MayBe::Voter, nack(1)),
        (MayBe::Leader, elect.into()),
        (MayBe::Leader, Takeover { term }.into()),
        (MayBe::Leader, heartbeat.into()),
        (MayBe::Leader, elected()),
    ]
}

/// Each over a link of its own: an agent that may not say it has its link closed, and no member has heard it.
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

#[test]
fn a_peer_that_may_vote_and_not_lead_is_not_followed() {
    play(async {
        let mut scene = Scene::set(&patient(), may_be(MayBe::Voter)).await;
        let before = scene.counts();
        let mut raw = Raw::dial(scene.at()).await.greet("x").await;
        let witness = Member::up(id("x1"), MemberKind::Voter, None, INCARNATION);
        let opening = roster(raw.next(), 0, Some("g"), &announcing(vec![(0, witness)]));
        raw.say(&opening).await;
        until("x1 is a member", || {
            scene.group().members().get(&id("x1")).is_some()
        })
        .await;
        raw.message(Targets::All, &nack(1)).await; // that it may say
        raw.message(Targets::All, &elected()).await;
        scene.counted(&before, &[("role", 1)]).await;
        assert_eq!(raw.ends().await, None);
        scene.is_unhurt().await;
    });
}

/// Its name is on the list of voters; that does not make it one here.
#[test]
fn an_observer_by_its_rights_neither_leads_nor_votes_in_a_quorum() {
    play(async {
        let folder = tempfile::tempdir().unwrap();
        let group = Group::new("g").unwrap();
        let bridge = RemoteBridge::builder("a")
            .incarnation(NodeIncarnation(1_000))
            .limits(patient().build().unwrap())
            .listen("127.0.0.1:0");
        let peers = may_be(MayBe::Observer).into_iter();
        let bridge = peers.fold(bridge, BridgeBuilder::peer);
        let bridge = bridge.carry(&group).start().unwrap();
        let identity = StoreIdentity {
            cluster: id("c"),
            group: id("g"),
            node: id("a1"),
        };
        let store = FileStore::create(folder.path().join("a1"), identity).unwrap();
        let agent = BullyAgent::builder("a1")
            .score(9)
            .timings(Timings::wan())
            .quorum(["a1", "b1", "x1"])
            .store(store)
            .join(&group)
            .start()
            .unwrap();
        let granted = |term| ClaimReply {
            term,
            seen: term,
            granted: true,
            incarnation: INCARNATION,
            candidate: Candidate {
                id: id("a1"),
                incarnation: INCARNATION,
            },
            ..ClaimReply::default()
        };
        for (count, message) in (1..).zip([elected(), granted(Term(1)).into()]) {
            let at = bridge.local_addr().unwrap();
            let mut raw = Raw::dial(at).await.greet("x").await;
            let member = Member::up(id("x1"), MemberKind::Observer, None, INCARNATION);
            let seq = raw.next();
            let opening = Opening {
                name: "g",
                rules: "quorum",
                epoch: 0,
                voters: Some(Electorate::new(&["a1", "b1", "x1"].map(id), 2, 2)),
                pace: None,
            };
            let content = announcing(vec![(0, member)]);
            let opening = framed(|out| RosterFrame::encode(seq, 0, Some(opening), &content, out));
            raw.say(&opening).await;
            raw.message(Targets::All, &message).await;
            assert_eq!(raw.ends().await, None);
            let closed = || bridge.counters().get("role").unwrap();
            until("refused", || closed() == count).await;
            assert_eq!((agent.leader(), agent.is_leader()), (None, false));
        }
    });
}

#[test]
fn a_leader_of_a_term_that_cannot_be_is_not_believed() {
    play(async {
        let mut scene = Scene::set(&patient(), vec![Peer::inbound("x")]).await;
        let before = scene.counts();
        for term in [Term(u64::MAX - 1), Term(1 << 40)] {
            let mut raw = Raw::dial(scene.at()).await.greet("x").await;
            let member = Member::up(id("x1"), MemberKind::Voter, Some(0.into()), INCARNATION);
            let content = announcing(vec![(0, member)]);
            let opening = roster(raw.next(), 0, Some("g"), &content);
            raw.say(&opening).await;
            raw.message(Targets::All, &nack(1)).await;
            let hint = roster(raw.next(), 0, None, &led_in(term));
            raw.say(&hint).await;
            assert_eq!(raw.ends().await, None);
        }
        scene.counted(&before, &[("term", 2)]).await;
        scene.is_unhurt().await;
    });
}

/// A hundred of them may be a race at the start; one more is none.
async fn forgiven(scene: &mut Scene, once: fn(&mut Raw) -> Vec<u8>, dropped: &str) {
    let before = scene.counts();
    let mut raw = Raw::dial(scene.at()).await.greet("x").await;
    raw.announce("x1").await;
    for _ in 0..100 {
        let bytes = once(&mut raw);
        assert!(raw.say(&bytes).await);
    }
    scene.counted(&before, &[(dropped, 100)]).await;
    let bytes = once(&mut raw);
    raw.say(&bytes).await;
    assert_eq!(raw.ends().await, None);
    scene
        .counted(&before, &[("unknown_targets", 1), (dropped, 100)])
        .await;
    scene.is_unhurt().await;
}

#[test]
fn a_hundred_messages_to_unknown_agents_are_dropped_and_the_next_ends_the_link() {
    play(async {
        let mut scene = Scene::set(&patient(), may_be(MayBe::Voter)).await;
        let messages: fn(&mut Raw) -> Vec<u8> =
            |raw| message_frame(raw.next(), 5, 0, Targets::All, &nack(1));
        forgiven(&mut scene, messages, "unknown_group").await;
        let rosters: fn(&mut Raw) -> Vec<u8> =
            |raw| roster(raw.next(), 5, None, &RosterContent::default());
        forgiven(&mut scene, rosters, "unknown_group").await;
        let to_unknown: fn(&mut Raw) -> Vec<u8> =
            |raw| message_frame(raw.next(), 0, 0, Targets::Some(&[77]), &nack(1));
        forgiven(&mut scene, to_unknown, "unknown_agent").await;
    });
}

#[test]
fn a_message_that_is_only_out_of_date_is_dropped_and_the_link_stays() {
    play(async {
        let mut scene = Scene::set(&patient(), may_be(MayBe::Voter)).await;
        let before = scene.counts();
        let mut raw = Raw::dial(scene.at()).await.greet("x").await;
        let later = Incarnation(INCARNATION.0 + 1);
        let member = Member::up(id("x1"), MemberKind::Observer, None, later);
        let roster = roster(raw.next(), 0, Some("g"), &announcing(vec![(0, member)]));
        raw.say(&roster).await;
        raw.message(Targets::All, &nack(1)).await; // of the incarnation before
        scene.counted(&before, &[("former_incarnation", 1)]).await;
        // The link lasts: what it asks is answered.
        let seq = raw.next();
        raw.say(&framed(|out| encode_ping(seq, 0xabcd, out))).await;
        let answer = |body: &[u8]| body.ends_with(b"\xcd\xab\xcd");
        while !answer(&raw.hear().await.unwrap()) {}
        scene.is_unhurt().await;
    });
}

/// The name of the victim's own agent, which leads.
#[test]
fn a_refused_name_may_not_speak_nor_be_spoken_for() {
    play(async {
        let mut scene = Scene::set(&patient(), vec![Peer::inbound("x")]).await;
        let before = scene.counts();
        let mut raw = Raw::dial(scene.at()).await.greet("x").await;
        let member = Member::up(id("a1"), MemberKind::Voter, Some(99.into()), INCARNATION);
        let honest = Member::up(id("x1"), MemberKind::Observer, None, INCARNATION);
        let content = announcing(vec![(0, member.clone()), (1, honest)]);
        let opening = roster(raw.next(), 0, Some("g"), &content);
        raw.say(&opening).await;
        until("x1 is a member", || {
            scene.group().members().get(&id("x1")).is_some()
        })
        .await;
        let known = scene.group().members().get(&id("a1")).cloned();
        raw.message(Targets::All, &elected()).await;
        scene.counted(&before, &[("refused_name", 1)]).await;
        // That it leads, has ended, has another score, and has left.
        let later = Incarnation(u64::MAX);
        let ended = Member {
            presence: Presence::Down,
            incarnation: Some(later),
            ends: [later].into_iter().collect(),
            ..member
        };
        for content in [led_in(Term(50)), announcing(vec![(0, ended)])] {
            let said = roster(raw.next(), 0, None, &content);
            raw.say(&said).await;
        }
        let gone = RosterContent {
            left: vec![0],
            ..RosterContent::default()
        };
        let said = roster(raw.next(), 0, None, &gone);
        raw.say(&said).await;
        let seq = raw.next();
        raw.say(&framed(|out| encode_ping(seq, 0xabcd, out))).await;
        let answer = |body: &[u8]| body.ends_with(b"\xcd\xab\xcd");
        while !answer(&raw.hear().await.unwrap()) {}
        assert_eq!(scene.group().members().get(&id("a1")).cloned(), known);
        scene.is_unhurt().await;
    });
}
