//! Each frame of the present version as bytes: what is sent once is understood for as long as it is
//! spoken.

use bytes::BytesMut;

use super::{body, bounds, hex, written};
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
            RawReceivers, RosterContent, RosterFrame, Targets, Versions, WireError, decode_payload,
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

#[test]
fn hello_keeps_its_form_in_all_versions() {
    let golden = hex(
        "00000028 99 00 a562756c6c79 02 02 a473686f70 a6686f73742d61 cd03e8
        c408 0001020304050607 ce00010000",
    );
    assert_eq!(written(|out| hello().encode(out)), golden);
    assert_eq!(
        Frame::decode(body(&golden), bounds()),
        Ok(Frame::Hello(hello()))
    );
}

#[test]
fn goodbye_keeps_its_form_in_all_versions() {
    for code in 0..=u8::MAX {
        let why = Farewell::from(code);
        assert_eq!(why.code(), code);
        let golden = match code {
            0..0x80 => [&hex("00000003 92 06")[..], &[code]].concat(),
            _ => [&hex("00000004 92 06 cc")[..], &[code]].concat(),
        };
        assert_eq!(written(|out| encode_goodbye(why, out)), golden);
        let frame = Frame::decode(body(&golden), bounds());
        assert_eq!(frame, Ok(Frame::Goodbye { why }));
    }
}

#[test]
fn version_1_ready() {
    let link = LinkId(*b"0123456789abcdef");
    let golden = hex("00000015 93 01 c410 30313233343536373839616263646566 90");
    assert_eq!(written(|out| encode_proof(link, &[], out)), golden);
    let frame = Frame::decode(body(&golden), bounds());
    let proofs = Vec::new();
    assert_eq!(frame, Ok(Frame::Ready { link, proofs }));
}

#[test]
fn version_1_ready_with_proofs() {
    let link = LinkId(*b"0123456789abcdef");
    let proofs = vec![Proof([0xaa; 32]), Proof([0xbb; 32])];
    let aa = "aaaaaaaa aaaaaaaa aaaaaaaa aaaaaaaa aaaaaaaa aaaaaaaa aaaaaaaa aaaaaaaa";
    let bb = aa.replace('a', "b");
    let head = "00000059 93 01 c410 30313233343536373839616263646566";
    let golden = hex(&format!("{head} 92 c420 {aa} c420 {bb}"));
    assert_eq!(written(|out| encode_proof(link, &proofs, out)), golden);
    let frame = Frame::decode(body(&golden), bounds());
    assert_eq!(frame, Ok(Frame::Ready { link, proofs }));
    let three = hex(&format!(
        "{} 93 {}",
        &head[9..],
        format!("c420 {aa}").repeat(3)
    ));
    assert_eq!(Frame::decode(&three, bounds()), Err(WireError::Items));
}

#[test]
fn version_1_twin() {
    let golden = hex("00000004 92 08 ccc8");
    let seq = 200;
    assert_eq!(written(|out| encode_twin(seq, out)), golden);
    let frame = Frame::decode(body(&golden), bounds());
    assert_eq!(frame, Ok(Frame::Twin { seq }));
}

#[test]
fn version_1_conditions() {
    let mut conditions = LinkConditions {
        challenge: None,
        allowance: Allowance {
            rate: 16 << 20,
            burst: 32 << 20,
            bounds: bounds(),
            groups: 1_024,
            agents: 16_384,
        },
        end: None,
    };
    let counts = "0c cd0400 cd0100 cd0400 cd4000";
    let golden = hex(&format!(
        "0000001b 9a 07 c0 ce01000000 ce02000000 {counts} c0"
    ));
    assert_eq!(written(|out| conditions.encode(out)), golden);
    let frame = Frame::decode(body(&golden), bounds());
    assert_eq!(frame, Ok(Frame::Conditions(conditions)));

    conditions.challenge = Some(Challenge([0xcc; 32]));
    conditions.end = Some(EndDigest([0xee; 32]));
    let (cc, ee) = ("cc".repeat(32), "ee".repeat(32));
    let golden = hex(&format!(
        "0000005d 9a 07 c420 {cc} ce01000000 ce02000000 {counts} c420 {ee}"
    ));
    assert_eq!(written(|out| conditions.encode(out)), golden);
    let frame = Frame::decode(body(&golden), bounds());
    assert_eq!(frame, Ok(Frame::Conditions(conditions)));
}

/// With less nothing could be sent, or a frame in hours.
#[test]
fn a_peer_that_takes_next_to_nothing_is_malformed() {
    let least = Allowance {
        rate: 65_536,
        burst: 131_072,
        bounds: Allowance::MIN_BOUNDS,
        groups: 1,
        agents: 1,
    };
    let read = |less: fn(&mut Allowance)| {
        let mut allowance = least;
        less(&mut allowance);
        let conditions = LinkConditions {
            challenge: None,
            allowance,
            end: None,
        };
        let bytes = written(|out| conditions.encode(out));
        Frame::decode(body(&bytes), bounds()).map(drop)
    };
    assert_eq!(read(|_| {}), Ok(()));
    assert_eq!(
        read(|most| (most.rate, most.burst) = (u64::MAX, u64::MAX)),
        Ok(())
    );
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

/// Whatever an operator chooses, others can keep to it.
#[test]
fn the_smallest_limits_equal_the_smallest_allowance() {
    let Bounds { depth, items, text } = Allowance::MIN_BOUNDS;
    let least = || {
        Limits::builder()
            .depth(depth)
            .items(items)
            .text(text)
            .groups(1)
            .agents(1)
    };
    assert!(least().build().is_ok());
    for lower in [
        least().depth(depth - 1),
        least().items(items - 1),
        least().text(text - 1),
    ] {
        assert!(lower.build().is_err());
    }
}

#[test]
fn version_1_ping_and_pong() {
    let (seq, token) = (200, 70_000);
    let ping = hex("00000009 93 04 ccc8 ce00011170");
    assert_eq!(written(|out| encode_ping(seq, token, out)), ping);
    let frame = Frame::decode(body(&ping), bounds());
    assert_eq!(frame, Ok(Frame::Ping { seq, token }));
    let answer = hex("00000009 93 05 ccc8 ce00011170");
    assert_eq!(written(|out| encode_pong(seq, token, out)), answer);
    let frame = Frame::decode(body(&answer), bounds());
    assert_eq!(frame, Ok(Frame::Pong { seq, token }));
}

#[test]
fn version_1_roster() {
    let opening = Opening {
        name: "g",
        rules: "quorum",
        epoch: 3,
        voters: Some(Electorate {
            voters: 5,
            vote_quorum: 3,
            lease_quorum: 4,
            list: 258,
            spans: None,
        }),
        pace: Some(Pace {
            delay: std::time::Duration::from_micros(100),
            detection: std::time::Duration::ZERO,
        }),
    };
    let golden = hex(
        "0000003f 97 02 01 05 95 a167 a671756f72756d 03 94 05 03 04 cd0102 92 64 00 91 02
        92 99 00 a161 00 94 1e fb 00 00 01 09 92 07 08 ccab a27232 99 01 a162 01 c0 03 c0 90 c0 c0
        93 00 09 07",
    );
    let encoded = written(|out| RosterFrame::encode(1, 5, Some(opening), &content(), out));
    assert_eq!(encoded, golden);
    let Ok(Frame::Roster(roster)) = Frame::decode(body(&golden), bounds()) else {
        panic!("a roster");
    };
    assert_eq!((roster.seq, roster.group), (1, 5));
    assert_eq!(roster.opening, Some(opening));
    assert_eq!(roster.content, content());
}

#[test]
fn version_1_roster_without_anything() {
    let golden = hex("00000007 97 02 02 05 c0 90 90 c0");
    let empty = RosterContent::default();
    let encoded = written(|out| RosterFrame::encode(2, 5, None, &empty, out));
    assert_eq!(encoded[4..], golden[4..]);
    let Ok(Frame::Roster(roster)) = Frame::decode(&golden[4..], bounds()) else {
        panic!("a roster");
    };
    assert_eq!((roster.opening, roster.content), (None, empty));
}

/// The message that the module's page shows.
#[test]
fn version_1_messages() {
    let golden = hex("0000001e 93 03 01 91 95 00 03 09 05 c413
        81 a9686561727462656174 93 07 94 1e 00 00 00 c0");
    let said = AnyMessage::from(Heartbeat {
        term: Term(7),
        score: Score::from(30),
        ..Heartbeat::default()
    });
    let encoded = written(|out| {
        let mut messages = MessagesWriter::begin(1, out);
        let to = Targets::Some(&[5]);
        let mut payload = BytesMut::new();
        encode_payload(&said, &mut payload).unwrap();
        messages.push(0, 3, Incarnation(9), to, &payload);
        assert!(messages.end());
    });
    assert_eq!(encoded, golden);
    let Ok(Frame::Messages(mut messages)) = Frame::decode(body(&golden), bounds()) else {
        panic!("messages");
    };
    assert_eq!(messages.seq, 1);
    let message = messages.next().unwrap().unwrap();
    assert_eq!((message.group, message.from), (0, 3));
    assert_eq!(message.incarnation, Incarnation(9));
    assert_eq!(message.to, RawReceivers::One(5));
    assert_eq!(decode_payload(message.payload, bounds()), Ok(said));
    assert_eq!(messages.next(), None);
}

/// Voters without disks name the timings that they agree on.
#[test]
fn version_1_roster_without_disks() {
    let micros = std::time::Duration::from_micros;
    let opening = Opening {
        name: "g",
        rules: "quorum-diskless",
        epoch: 0,
        voters: Some(Electorate {
            voters: 3,
            vote_quorum: 2,
            lease_quorum: 2,
            list: 258,
            spans: Some((micros(900_000), micros(100))),
        }),
        pace: None,
    };
    let encoded = written(|out| RosterFrame::encode(1, 5, Some(opening), &content(), out));
    let voters = hex("96 03 02 02 cd0102 ce000dbba0 64");
    let has = encoded.windows(voters.len()).any(|part| part == voters);
    assert!(has, "{encoded:02x?}");
    let Ok(Frame::Roster(roster)) = Frame::decode(body(&encoded), bounds()) else {
        panic!("a roster");
    };
    assert_eq!(roster.opening, Some(opening));
}
