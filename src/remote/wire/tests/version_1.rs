//! The frames of version 1, as nodes of release 0.1 send them for ever.
//!
//! Such a node is recognised by its HELLO and refused with a GOODBYE that it understands. Which other
//! frames version 2 spells differently is a table: an entry is moved, never changed.

use super::{body, bounds, hex, written};
use crate::remote::{
    Farewell,
    wire::{Frame, Hello, Versions, encode_goodbye},
};

const HELLO: &str = "0000002a 9b 00 a562756c6c79 01 01 a473686f70 a6686f73742d61 cd03e8
    c408 0001020304050607 ce00010000 00 00";

/// "No common version."
const GOODBYE: &str = "00000003 92 06 01";

/// What both versions spell alike.
const SAME: &[(&str, &str)] = &[
    ("HELLO", HELLO),
    ("GOODBYE", GOODBYE),
    ("ROSTER", "00000008 97 02 02 05 c0 90 90 c0"),
    (
        "MESSAGES",
        "0000001e 93 03 01 91 95 00 03 09 05 c413
            81 a9686561727462656174 93 07 94 1e 00 00 00 c0",
    ),
    ("PING", "00000009 93 04 ccc8 ce00011170"),
    ("PONG", "00000009 93 05 ccc8 ce00011170"),
];

/// What version 2 does not take for a frame any more.
const OTHERWISE: &[(&str, &str)] = &[
    (
        "READY",
        "00000014 92 01 c410 30313233343536373839616263646566",
    ),
    (
        "ROSTER with an opening",
        "0000002c 97 02 01 05 93 a167 a671756f72756d 03 91 02
            92 97 00 a161 00 94 1e fb 00 00 01 09 08 97 01 a162 01 c0 03 c0 c0 93 00 09 07",
    ),
];

fn is_read(frame: &str) -> bool {
    match Frame::decode(body(&hex(frame)), bounds()) {
        Ok(Frame::Roster(roster)) => roster.content().is_ok(),
        Ok(_) => true,
        Err(_) => false,
    }
}

#[test]
fn a_node_of_version_1_is_recognised_and_told_in_its_own_words() {
    let theirs = Hello::decode(body(&hex(HELLO)), bounds()).unwrap();
    assert_eq!(theirs.versions, Versions { min: 1, max: 1 });
    assert_eq!(Versions::OURS.common(theirs.versions), None);
    let told = written(|out| encode_goodbye(Farewell::Version, out));
    assert_eq!(told, hex(GOODBYE));
}

#[test]
fn what_is_spelt_otherwise_since_version_1_is_named() {
    for (name, frame) in SAME {
        assert!(is_read(frame), "{name} is in the wrong table");
    }
    for (name, frame) in OTHERWISE {
        assert!(!is_read(frame), "{name} is in the wrong table");
    }
}
