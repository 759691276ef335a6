//! Frames of a known node that break a rule over a ready link: one frame for each name of a counter, and for each
//! part of the code that judges frames. `src/remote/tests/inbound/` tests each rule alone.

use actix_bully::{
    protocol::{MemberKind, Score, Term},
    remote::{
        MayBe,
        internals::wire::{RosterContent, Targets, encode_ping},
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

/// A description of the breach, the bytes of the hostile node, and the name of the counter.
type Case = (&'static str, fn(&mut Raw) -> Vec<u8>, &'static str);

/// Announces a voter, or an observer if `score` is `None`, under this number.
fn announces(raw: &mut Raw, number: u32, name: &str, score: Option<Score>) -> Vec<u8> {
    let kind = match score {
        Some(_) => MemberKind::Voter,
        None => MemberKind::Observer,
    };
    let member = Member::up(id(name), kind, score, INCARNATION);
    roster(raw.next(), 0, None, &announcing(vec![(number, member)]))
}

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
        "a text about an agent with a line end, in place of none",
        |raw| {
            let whole = announces(raw, 0, "x1", None);
            // The last two bytes of the frame are the text and the leader, both nil.
            frame(&[&whole[4..whole.len() - 2], b"\xa3a\nb\xc0"].concat())
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
        |raw| announces(raw, 1, "a2", None),
        "from_not_allowed",
    ),
    (
        "a witness that would be elected",
        |raw| announces(raw, 1, "x2", Some(99.into())),
        "from_not_allowed",
    ),
    (
        "a number for two agents",
        |raw| announces(raw, 0, "x2", None),
        "protocol",
    ),
    (
        "a group number beyond the limit",
        |raw| roster(raw.next(), 1_024, Some("h"), &RosterContent::default()),
        "too_many_agents",
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
        assert!(members.get(&id("a2")).is_none() && members.get(&id("x2")).is_none());
        assert_eq!(members.get(&id("x1")).unwrap().about, None);
        scene.is_unhurt().await;
    });
}
