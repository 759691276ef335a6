//! Each frame of the present version as bytes, in `frames.txt`. A release must read the bytes of every other release
//! that speaks the same version.

use std::{fmt::Write as _, time::Duration};

use bytes::BytesMut;

use super::{body, bounds, messages::numbers, reviewed, written};
use crate::elections::AnyMessage;
use crate::{
    group::Pace,
    protocol::{
        About, AgentId, Electorate, Incarnation, Member, MemberKind, Presence, Score, StoreId, Term,
    },
    remote::{
        Challenge, ClusterId, EndDigest, Farewell, Limits, LinkId, NodeId, NodeIncarnation, Nonce,
        Proof,
        wire::{
            Allowance, Bounds, Frame, Hello, LeaderHint, LinkConditions, MessagesWriter, Opening,
            RosterContent, RosterFrame, Targets, Versions, WireError, decode_payload,
            encode_goodbye, encode_payload, encode_ping, encode_pong, encode_proof, encode_twin,
        },
    },
};
use bully_core::driver::MemberReports as _;
use bully_core::elections::message::Heartbeat;

fn hello() -> Hello {
    Hello {
        versions: Versions { min: 2, max: 2 },
        cluster: ClusterId::new("shop").unwrap(),
        node: NodeId::new("host-a").unwrap(),
        incarnation: NodeIncarnation(1_000),
        nonce: Nonce(*b"\0\x01\x02\x03\x04\x05\x06\x07"),
        frame: 65_536,
    }
}

fn conditions(allowance: Allowance) -> LinkConditions {
    LinkConditions {
        challenge: None,
        allowance,
        end: None,
    }
}

fn opening(rules: &'static str, spans: Option<(Duration, Duration)>) -> Opening<'static> {
    Opening {
        name: "g",
        rules,
        epoch: 3,
        voters: Some(Electorate {
            voters: 5,
            vote_quorum: 3,
            lease_quorum: 4,
            list: 258,
            spans,
        }),
        pace: spans.is_none().then_some(Pace {
            delay: Duration::from_micros(100),
            detection: Duration::ZERO,
        }),
    }
}

fn content() -> RosterContent {
    let mut member = Member::up(
        AgentId::new("a").unwrap(),
        MemberKind::Voter,
        Some(Score::from((30, -5))),
        Incarnation(9),
    );
    member.mark_end_told(Incarnation(7));
    member.mark_end_told(Incarnation(8));
    member.store = Some(StoreId::new(0xab));
    member.about = About::new("r2").ok();
    let mut unseen = Member::unseen(AgentId::new("b").unwrap(), MemberKind::Observer, None);
    unseen.presence = Presence::Down;
    RosterContent {
        left: vec![2],
        members: vec![(0, member), (1, unseen)],
        leader: Some(LeaderHint {
            agent: 0,
            incarnation: Incarnation(9),
            term: Term(7),
        }),
    }
}

/// Writes the message of the module's page, to one agent, to all agents and to several agents.
fn messages(out: &mut BytesMut) {
    let said = AnyMessage::from(Heartbeat {
        term: Term(7),
        score: Score::from(30),
        ..Heartbeat::default()
    });
    let mut payload = BytesMut::new();
    encode_payload(&said, &mut payload).unwrap();
    let mut messages = MessagesWriter::begin(1, out);
    for to in [
        Targets::Some(&[5]),
        Targets::All,
        Targets::Some(&[1, 200, 70_000]),
    ] {
        messages.push(0, 3, Incarnation(9), to, &payload);
    }
    assert!(messages.end());
}

/// Returns one frame of each form of each type.
pub(super) fn frames() -> Vec<(&'static str, Vec<u8>)> {
    let link = LinkId(*b"0123456789abcdef");
    let proofs = [Proof([0xaa; 32]), Proof([0xbb; 32])];
    let usual = Allowance::of(&Limits::default());
    let secured = LinkConditions {
        challenge: Some(Challenge([0xcc; 32])),
        end: Some(EndDigest([0xee; 32])),
        ..conditions(usual)
    };
    let millis = Duration::from_millis;
    let diskless = opening("quorum-diskless", Some((millis(900), millis(1))));
    let roster = |opening, content: &RosterContent| {
        written(|out| RosterFrame::encode(1, 5, opening, content, out))
    };
    vec![
        ("HELLO", written(|out| hello().encode(out))),
        ("READY", written(|out| encode_proof(link, &[], out))),
        (
            "READY with proofs",
            written(|out| encode_proof(link, &proofs, out)),
        ),
        ("CONDITIONS", written(|out| conditions(usual).encode(out))),
        (
            "CONDITIONS with a secret and a sentinel",
            written(|out| secured.encode(out)),
        ),
        ("ROSTER", roster(Some(opening("quorum", None)), &content())),
        (
            "ROSTER of voters without disks",
            roster(Some(diskless), &RosterContent::default()),
        ),
        (
            "ROSTER without anything",
            roster(None, &RosterContent::default()),
        ),
        ("MESSAGES", written(messages)),
        ("PING", written(|out| encode_ping(200, 70_000, out))),
        ("PONG", written(|out| encode_pong(200, 70_000, out))),
        ("TWIN", written(|out| encode_twin(200, out))),
        (
            "GOODBYE",
            written(|out| encode_goodbye(Farewell::Auth, out)),
        ),
        (
            "GOODBYE of a later release",
            written(|out| encode_goodbye(Farewell::Other(200), out)),
        ),
    ]
}

/// Writes a frame again from its decoded content, messages included. Returns `None` if a message cannot be read.
pub(super) fn again(frame: Frame<'_>) -> Option<Vec<u8>> {
    let mut out = BytesMut::new();
    match frame {
        Frame::Hello(hello) => hello.encode(&mut out),
        Frame::Ready { link, proofs } => encode_proof(link, &proofs, &mut out),
        Frame::Conditions(conditions) => conditions.encode(&mut out),
        Frame::Roster(roster) => {
            let (seq, group, opening) = (roster.seq, roster.group, roster.opening);
            RosterFrame::encode(seq, group, opening, &roster.content, &mut out);
        }
        Frame::Messages(messages) => {
            let mut writer = MessagesWriter::begin(messages.seq, &mut out);
            for message in messages {
                let message = message.ok()?;
                let to = numbers(message.to);
                let to = to.as_deref().map_or(Targets::All, Targets::Some);
                let said: AnyMessage = decode_payload(message.payload, bounds()).ok()?;
                let mut payload = BytesMut::new();
                encode_payload(&said, &mut payload).unwrap();
                let (group, from) = (message.group, message.from);
                writer.push(group, from, message.incarnation, to, &payload);
            }
            assert!(writer.end(), "no frame is read that has no message");
        }
        Frame::Ping { seq, token } => encode_ping(seq, token, &mut out),
        Frame::Pong { seq, token } => encode_pong(seq, token, &mut out),
        Frame::Twin { seq } => encode_twin(seq, &mut out),
        Frame::Goodbye { why } => encode_goodbye(why, &mut out),
    }
    Some(out.to_vec())
}

/// A field that is added, removed or moved changes the golden text. Such a change needs a new version of the wire.
#[test]
fn each_frame_has_its_bytes_and_is_read_as_it_was_written() {
    let mut text = String::new();
    for (name, bytes) in frames() {
        let digits: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(text, "{name}\n  {}", digits.concat()).unwrap();
        let frame = Frame::decode(body(&bytes), bounds()).unwrap();
        if let Frame::Messages(messages) = frame.clone() {
            writeln!(text, "  {}", messages.seq).unwrap();
            for message in messages.map(Result::unwrap) {
                let said = decode_payload::<AnyMessage>(message.payload, bounds()).unwrap();
                let (group, from) = (message.group, message.from);
                let to = numbers(message.to);
                let line = (group, from, message.incarnation, to, said);
                writeln!(text, "  {line:?}").unwrap();
            }
        } else {
            writeln!(text, "  {frame:?}").unwrap();
        }
        assert_eq!(again(frame), Some(bytes), "{name}");
    }
    reviewed("frames.txt", &text);
}

#[test]
fn each_number_of_a_farewell_is_read_as_it_was_written() {
    for code in 0..=u8::MAX {
        assert_eq!(Farewell::from(code).code(), code);
    }
}

/// With smaller limits a peer could receive nothing, or one frame in hours. Peers can keep to any limits that an
/// operator may choose.
#[test]
fn a_peer_that_takes_less_than_the_smallest_limits_is_malformed() {
    let Bounds { depth, items, text } = Allowance::MIN_BOUNDS;
    let limits = Limits::builder().depth(depth).items(items).text(text);
    let limits = limits.groups(1).agents(1).rate(64 << 10).burst(128 << 10);
    let least = Allowance::of(&limits.build().unwrap());
    let read = |less: fn(&mut Allowance)| {
        let mut allowance = least;
        less(&mut allowance);
        let bytes = written(|out| conditions(allowance).encode(out));
        Frame::decode(body(&bytes), bounds()).map(drop)
    };
    assert_eq!(read(|_| {}), Ok(()));
    let most: fn(&mut Allowance) = |of| (of.rate, of.burst) = (u64::MAX, u64::MAX);
    assert_eq!(read(most), Ok(()));
    let too_little: [fn(&mut Allowance); 7] = [
        |of| of.rate -= 1,
        |of| of.burst -= 1,
        |of| of.bounds.depth -= 1,
        |of| of.bounds.items -= 1,
        |of| of.bounds.text -= 1,
        |of| of.groups -= 1,
        |of| of.agents -= 1,
    ];
    for (at, less) in too_little.into_iter().enumerate() {
        assert_eq!(read(less), Err(WireError::Value), "field {at}");
    }
}
