//! The frames and messages of version 1, as nodes of release 0.1 send them for ever.
//!
//! `messages_1.txt` was written by that release itself: each message, and its bytes. What is here is read, and written
//! back to the same bytes: a table that never changes. Which frames version 2 spells differently is said beside them.

use std::collections::BTreeSet;

use super::{body, bounds, hex, written};
use crate::{
    elections::message::{BullyMessage, Micros},
    protocol::PeerMessage,
    remote::{
        Farewell, LinkId,
        wire::{
            FirstTimings, Frame, Hello, Opening, RosterFrame, Versions, WireError, decode_payload,
            encode_first_ready, encode_goodbye, encode_payload, encode_ping, encode_pong,
            from_first, to_first,
        },
    },
};

/// Whether version 2 has the same bytes for it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Same,
    Otherwise,
}
use Spelling::{Otherwise, Same};

const HELLO: &str = "0000002a 9b 00 a562756c6c79 01 01 a473686f70 a6686f73742d61 cd03e8
    c408 0001020304050607 ce00010000 00 00";

/// "No common version."
const GOODBYE: &str = "00000003 92 06 01";

const READY: &str = "00000014 92 01 c410 30313233343536373839616263646566";

const OPENING: &str = "00000031 97 02 01 05 93 a167 a671756f72756d 03 91 02
    92 98 00 a161 00 94 1e fb 00 00 01 09 92 07 08 ccab 98 01 a162 01 c0 03 c0 90 c0 93 00 09 07";

const FRAMES: &[(&str, &str, Spelling)] = &[
    ("HELLO", HELLO, Same),
    ("GOODBYE", GOODBYE, Same),
    ("READY", READY, Otherwise),
    ("ROSTER", "00000008 97 02 02 05 c0 90 90 c0", Same),
    ("ROSTER with an opening", OPENING, Otherwise),
    (
        "MESSAGES",
        "0000001e 93 03 01 91 95 00 03 09 05 c413
            81 a9686561727462656174 93 07 94 1e 00 00 00 c0",
        Same,
    ),
    ("PING", "00000009 93 04 ccc8 ce00011170", Same),
    ("PONG", "00000009 93 05 ccc8 ce00011170", Same),
];

fn is_read(version: u16, frame: &[u8]) -> bool {
    match Frame::decode_of(version, body(frame), bounds()) {
        Ok(Frame::Roster(roster)) => roster.content().is_ok(),
        Ok(_) => true,
        Err(_) => false,
    }
}

/// What this release sends for what it read.
fn written_again(frame: &[u8]) -> Option<Vec<u8>> {
    let read = Frame::decode_of(Versions::FIRST, body(frame), bounds()).unwrap();
    Some(match read {
        Frame::Hello(hello) => written(|out| hello.encode(out)),
        Frame::Ready { link, proofs } if proofs.is_empty() => {
            written(|out| encode_first_ready(link, out))
        }
        Frame::Roster(roster) => {
            let content = roster.content().unwrap();
            let RosterFrame {
                seq,
                group,
                opening,
                ..
            } = roster;
            let version = Versions::FIRST;
            written(|out| RosterFrame::encode_of(version, seq, group, opening, &content, out))
        }
        Frame::Ping { seq, token } => written(|out| encode_ping(seq, token, out)),
        Frame::Pong { seq, token } => written(|out| encode_pong(seq, token, out)),
        Frame::Goodbye { why } => written(|out| encode_goodbye(why, out)),
        // Written message by message: `messages` has their bytes.
        Frame::Messages(_) => return None,
        other @ (Frame::Ready { .. } | Frame::Conditions(_)) => {
            panic!("{other:?} is none of version 1")
        }
    })
}

#[test]
fn every_frame_of_version_1_is_read_and_written_as_it_was() {
    for (name, frame, spelling) in FRAMES {
        let frame = hex(frame);
        assert!(is_read(Versions::FIRST, &frame), "{name} is read no more");
        assert_eq!(is_read(2, &frame), *spelling == Same, "{name} in version 2");
        let again = written_again(&frame);
        assert!(
            again.is_none_or(|again| again == frame),
            "{name} is written otherwise"
        );
    }
}

#[test]
fn what_frames_of_version_1_say_is_what_was_meant() {
    let link = LinkId(*b"0123456789abcdef");
    let ready = hex(READY);
    let ready = Frame::decode_of(Versions::FIRST, body(&ready), bounds());
    let proofs = Vec::new();
    assert_eq!(ready, Ok(Frame::Ready { link, proofs }));
    let opening = hex(OPENING);
    let Ok(Frame::Roster(roster)) = Frame::decode_of(Versions::FIRST, body(&opening), bounds())
    else {
        panic!("no roster");
    };
    let opens = Opening {
        name: "g",
        rules: "quorum",
        epoch: 3,
        voters: None,
    };
    assert_eq!(
        (roster.seq, roster.group, roster.opening),
        (1, 5, Some(opens))
    );
    let content = roster.content().unwrap();
    assert_eq!((content.left, content.members.len()), (vec![2], 2));
}

#[test]
fn a_node_of_version_1_is_recognised_and_told_in_its_own_words() {
    let theirs = Hello::decode(body(&hex(HELLO)), bounds()).unwrap();
    assert_eq!(theirs.versions, Versions { min: 1, max: 1 });
    assert_eq!(Versions::OURS.common(theirs.versions), Some(1));
    let told = written(|out| encode_goodbye(Farewell::Version, out));
    assert_eq!(told, hex(GOODBYE));
}

/// What release 0.1 wrote, in bytes.
fn kept() -> Vec<Vec<u8>> {
    let lines = include_str!("messages_1.txt").lines();
    lines
        .filter(|line| line.starts_with("  "))
        .map(hex)
        .collect()
}

fn read(bytes: &[u8], timings: FirstTimings) -> Result<Option<BullyMessage>, WireError> {
    let mut out = bytes::BytesMut::new();
    if !from_first(bytes, bounds(), timings, &mut out)? {
        assert!(out.is_empty(), "nothing is said");
        return Ok(None);
    }
    decode_payload(&out, bounds()).map(Some)
}

#[test]
fn every_message_of_version_1_is_read_and_written_as_it_was() {
    let mut kinds = BTreeSet::new();
    for bytes in kept() {
        let message = read(&bytes, FirstTimings::Equal).unwrap().unwrap();
        kinds.insert(message.kind());
        let today = written(|out| encode_payload(&message, out).unwrap());
        let mut again = bytes::BytesMut::new();
        assert!(to_first(&today, FirstTimings::Equal, &mut again));
        assert_eq!(again[..], bytes[..], "{message}");
        for len in 0..bytes.len() {
            assert!(
                read(&bytes[..len], FirstTimings::Equal).is_err(),
                "{message}: {len}"
            );
        }
    }
    let all = [
        "ack",
        "claim",
        "claim_reply",
        "elect",
        "elected",
        "heartbeat",
        "nack",
        "ok",
        "resign",
        "takeover",
        "yield",
    ];
    assert_eq!(kinds, all.into());
}

/// `version-1-promises-nothing`.
#[test]
fn what_counts_among_voters_crosses_only_where_timings_are_known_to_be_equal() {
    let mut acknowledgements = 0;
    for bytes in kept() {
        let message = read(&bytes, FirstTimings::Equal).unwrap().unwrap();
        let counts = !matches!(message.kind(), "elected" | "heartbeat" | "resign" | "nack");
        if let BullyMessage::Ack(ack) = &message {
            acknowledgements += 1;
            assert_eq!(
                ack.promise,
                Micros(u64::MAX),
                "the leader's own lease bounds it"
            );
        }
        let known = read(&bytes, FirstTimings::Unknown).unwrap();
        assert_eq!(known.is_none(), counts, "{message} is heard");
        let today = written(|out| encode_payload(&message, out).unwrap());
        let is_said = to_first(&today, FirstTimings::Unknown, &mut bytes::BytesMut::new());
        assert_eq!(is_said, !counts, "{message} is said");
    }
    assert_eq!(acknowledgements, 2);
    assert_eq!(FirstTimings::default(), FirstTimings::Unknown);
}

#[test]
fn a_message_of_version_2_is_none_of_version_1() {
    for line in include_str!("messages.txt")
        .lines()
        .filter(|line| line.starts_with("  "))
    {
        let bytes = hex(line);
        let is_same = kept().contains(&bytes);
        assert_eq!(read(&bytes, FirstTimings::Equal).is_ok(), is_same, "{line}");
    }
}
