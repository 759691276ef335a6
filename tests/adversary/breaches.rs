//! Frames of a node of the table that break a rule over a ready link, each with the name under which it is counted.

use actix_bully::{
    protocol::{MemberKind, Term},
    remote::{
        MayBe,
        internals::wire::{RosterContent, Targets, encode_ping, encode_proof},
    },
};
use bully_core::protocol::Member;

use super::{
    kit::{
        INCARNATION, Raw, Scene, frame, framed, hello, id, message_frame, nack, patient, play,
        roster, until,
    },
    members::{announcing, led_in, may_be},
};

/// What the hostile node does, and under which name it is counted.
type Case = (&'static str, fn(&mut Raw) -> Vec<u8>, &'static str);

/// Each over a link of its own, after one agent was announced.
const BREACHES: &[Case] = &[
    (
        "HELLO again",
        |_| framed(|out| hello("x").encode(out)),
        "protocol",
    ),
    (
        "READY again",
        |raw| framed(|out| encode_proof(raw.link, &[], out)),
        "protocol",
    ),
    ("an empty frame", |_| vec![0; 4], "malformed"),
    (
        "a length beyond the limit",
        |_| (64 * 1024 + 1_u32).to_be_bytes().to_vec(),
        "frame_too_large",
    ),
    (
        "the longest length",
        |_| u32::MAX.to_be_bytes().to_vec(),
        "frame_too_large",
    ),
    (
        "bytes after the last item",
        |raw| {
            let ping = framed(|out| encode_ping(raw.next(), 1, out));
            frame(&[&ping[4..], b"\0"].concat())
        },
        "malformed",
    ),
    (
        "a frame that ends before its last item",
        |raw| {
            let ping = framed(|out| encode_ping(raw.next(), 1, out));
            frame(&ping[4..ping.len() - 1])
        },
        "malformed",
    ),
    ("an unknown kind", |_| frame(b"\x92\x09\x01"), "malformed"),
    (
        "a gap",
        |raw| {
            let seq = raw.next() + 1;
            framed(|out| encode_ping(seq, 1, out))
        },
        "sequence",
    ),
    (
        "a frame once more",
        |raw| {
            let seq = raw.next();
            framed(|out| {
                encode_ping(seq, 1, out);
                encode_ping(seq, 1, out);
            })
        },
        "sequence",
    ),
    (
        "the last number, so that the next would be the first",
        |_| framed(|out| encode_ping(u64::MAX, 1, out)),
        "sequence",
    ),
    (
        "a message of an agent that was never announced",
        |raw| message_frame(raw.next(), 0, 1, Targets::All, &nack(1)),
        "from_not_allowed",
    ),
    (
        "an agent that is not its own",
        |raw| {
            let member = Member::up(id("a2"), MemberKind::Observer, None, INCARNATION);
            roster(raw.next(), 0, None, &announcing(vec![(1, member)]))
        },
        "from_not_allowed",
    ),
    (
        "a witness that would be elected",
        |raw| {
            let member = Member::up(id("x2"), MemberKind::Voter, Some(99.into()), INCARNATION);
            roster(raw.next(), 0, None, &announcing(vec![(1, member)]))
        },
        "from_not_allowed",
    ),
    (
        "a number of an agent left out",
        |raw| {
            let member = Member::up(id("x2"), MemberKind::Observer, None, INCARNATION);
            roster(raw.next(), 0, None, &announcing(vec![(7, member)]))
        },
        "protocol",
    ),
    (
        "a number for two agents",
        |raw| {
            let member = Member::up(id("x2"), MemberKind::Observer, None, INCARNATION);
            roster(raw.next(), 0, None, &announcing(vec![(0, member)]))
        },
        "protocol",
    ),
    (
        "a group under two numbers",
        |raw| roster(raw.next(), 1, Some("g"), &RosterContent::default()),
        "protocol",
    ),
    (
        "a group number beyond the limit",
        |raw| roster(raw.next(), 1_024, Some("h"), &RosterContent::default()),
        "too_many_agents",
    ),
    (
        "a message of the last term",
        |raw| message_frame(raw.next(), 0, 0, Targets::All, &nack(u64::MAX)),
        "term",
    ),
    (
        "a message of a term far ahead",
        |raw| message_frame(raw.next(), 0, 0, Targets::All, &nack(1 << 40)),
        "term",
    ),
    (
        "a witness that leads",
        |raw| roster(raw.next(), 0, None, &led_in(Term(1))),
        "from_not_allowed",
    ),
];

#[test]
fn each_breach_ends_the_link_under_its_own_name() {
    play(async {
        let mut scene = Scene::set(&patient(), may_be(MayBe::Voter)).await;
        // Some term is known: how far ahead another one is can be told.
        let mut raw = Raw::dial(scene.at()).await.greet("x").await;
        raw.announce("x1").await;
        raw.message(Targets::All, &nack(1)).await;
        let before = scene.counts();
        until("x1 is a member", || {
            scene.group().members().get(&id("x1")).is_some()
        })
        .await;
        drop(raw);
        scene.counted(&before, &[("lost", 1)]).await;
        for (what, bytes, why) in BREACHES {
            let before = scene.counts();
            let mut raw = Raw::dial(scene.at()).await.greet("x").await;
            raw.announce("x1").await;
            let bytes = bytes(&mut raw);
            raw.say(&bytes).await;
            assert_eq!(raw.ends().await, None, "{what}");
            scene.counted(&before, &[(*why, 1)]).await;
        }
        assert!(scene.group().members().get(&id("a2")).is_none());
        assert!(scene.group().members().get(&id("x2")).is_none());
        scene.is_unhurt().await;
    });
}
