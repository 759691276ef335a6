//! Frames of a known node that break a rule over a ready link: one frame for each name of a counter, and for each
//! part of the code that judges frames. `src/remote/tests/inbound/` tests each rule alone.

use actix_bully::{
    protocol::MemberKind,
    remote::{
        MayBe,
        internals::wire::{Targets, encode_ping},
    },
};
use bully_core::protocol::Member;

use super::{
    kit::{
        INCARNATION, Raw, Scene, frame, framed, hello, id, message_frame, nack, patient, play,
        roster, until,
    },
    members::{announcing, may_be},
};

/// A description of the breach, the bytes of the hostile node, and the name of the counter.
type Case = (&'static str, fn(&mut Raw) -> Vec<u8>, &'static str);

/// The breaches. Each is committed over a link of its own, after one agent was announced.
const BREACHES: &[Case] = &[
    (
        "HELLO again",
        |_| framed(|out| hello("x").encode(out)),
        "protocol",
    ),
    (
        "a length beyond the limit",
        |_| (64 * 1024 + 1_u32).to_be_bytes().to_vec(),
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
        "a gap",
        |raw| framed(|out| encode_ping(raw.next() + 1, 1, out)),
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
        "a message of a term far ahead",
        |raw| message_frame(raw.next(), 0, 0, Targets::All, &nack(1 << 40)),
        "term",
    ),
];

#[test]
fn each_breach_ends_the_link_under_its_own_name() {
    play(async {
        let mut scene = Scene::set(&patient(), may_be(MayBe::Voter)).await;
        // The victim must know a term, so that it can tell that another term is far ahead.
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
        let members = scene.group().members();
        assert!(members.get(&id("a2")).is_none());
        scene.is_unhurt().await;
    });
}
