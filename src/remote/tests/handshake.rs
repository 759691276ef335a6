//! The handshake tells a node which node it meets and which link it has: every check, from both sides.

use bytes::BytesMut;

use super::{NOW, Side, bodies, introduction, node};
use crate::{
    protocol::Time,
    remote::{
        Acquaintance, Closed, ClusterId, EndDigest, Established, Farewell, Handshake, Introduction,
        Limits, LinkId, NodeIncarnation, Nonce,
        wire::{
            Allowance, Bounds, Frame, Hello, LinkConditions, Versions, WireError, encode_goodbye,
            encode_ping, encode_proof,
        },
    },
};

fn body(write: impl FnOnce(&mut BytesMut)) -> Vec<u8> {
    let mut out = BytesMut::new();
    write(&mut out);
    bodies(&out).remove(0)
}

/// Returns the first frame of the other side, after a small change.
fn hello(change: impl FnOnce(&mut Hello)) -> Vec<u8> {
    let me = introduction("host-b");
    let mut hello = Hello {
        versions: me.versions,
        cluster: me.cluster,
        node: me.node,
        incarnation: me.incarnation,
        nonce: Nonce([2; 8]),
        frame: 4_096,
    };
    change(&mut hello);
    body(|out| hello.encode(out))
}

/// Returns the second frame of the other side, without a secret.
fn conditions() -> Vec<u8> {
    let conditions = LinkConditions {
        challenge: None,
        allowance: Allowance::of(&Limits::default()),
        end: None,
    };
    body(|out| conditions.encode(out))
}

/// Returns the reason why this side closes after a frame, and the goodbye that it sends before.
fn answer(side: &mut Side, body: &[u8]) -> (Option<Closed>, Option<Farewell>) {
    side.sent();
    let closed = side.receive(body).err();
    let said =
        side.sent()
            .into_iter()
            .find_map(|body| match Frame::decode(&body, Bounds::default()) {
                Ok(Frame::Goodbye { why }) => Some(why),
                _ => None,
            });
    (closed, said)
}

fn answer_to(change: impl FnOnce(&mut Hello)) -> (Option<Closed>, Option<Farewell>) {
    answer(&mut Side::new(introduction("host-a"), 1), &hello(change))
}

fn meet(a: &mut Side, b: &mut Side) -> (Box<Established>, Box<Established>) {
    for _ in 0..2 {
        let (to_b, to_a) = (a.sent(), b.sent());
        assert_eq!(a.receive(&to_a[0]), Ok(None));
        assert_eq!(b.receive(&to_b[0]), Ok(None));
    }
    let (to_b, to_a) = (a.sent(), b.sent());
    match (a.receive(&to_a[0]), b.receive(&to_b[0])) {
        (Ok(Some(at_a)), Ok(Some(at_b))) => (at_a, at_b),
        other => panic!("{other:?}"),
    }
}

#[test]
fn two_sides_agree_on_one_link() {
    let (mut a, mut b) = (
        Side::dialling(introduction("host-a"), 1, Some(node("host-b"))),
        Side::new(introduction("host-b"), 2),
    );
    let (at_a, at_b) = meet(&mut a, &mut b);
    assert_eq!(at_a.link, at_b.link);
    let bytes = [[1; 8], [2; 8]].concat().try_into().unwrap();
    assert_eq!(at_a.link, LinkId(bytes));
    assert_eq!((at_a.peer, at_b.peer), (node("host-b"), node("host-a")));
    assert_eq!((at_a.version, at_a.frame), (1, 65_536));
    assert_eq!(at_a.allowance, Allowance::of(&Limits::default()));
    assert_eq!(at_a.end, None);
}

/// A peer may have smaller limits than this side.
#[test]
fn a_side_learns_how_much_the_other_takes() {
    let small = Limits::builder().rate(70_000).burst(140_000);
    let small = small.depth(5).items(66).text(257).groups(7).agents(8);
    let theirs = Allowance {
        rate: 70_000,
        burst: 140_000,
        bounds: Bounds {
            depth: 5,
            items: 66,
            text: 257,
        },
        groups: 7,
        agents: 8,
    };
    let me = Introduction {
        end: Some(EndDigest([5; 32])),
        ..introduction("host-b")
    };
    let mut b = Side::new(me.clone(), 2);
    b.out.clear();
    let limits = small.frame(65_536).build().unwrap();
    b.handshake = Handshake::begin(me, Nonce([2; 8]), None, &limits, NOW, &mut b.out);
    let mut a = Side::new(introduction("host-a"), 1);
    let (at_a, at_b) = meet(&mut a, &mut b);
    assert_eq!(
        (at_a.allowance, at_a.end),
        (theirs, Some(EndDigest([5; 32])))
    );
    assert_eq!(at_b.allowance, Allowance::of(&Limits::default()));
}

#[test]
fn the_newest_common_version_counts() {
    let versions = |min, max| Versions { min, max };
    for (a, b, common) in [
        (versions(1, 1), versions(1, 1), Some(1)),
        (versions(1, 2), versions(1, 1), Some(1)),
        (versions(2, 3), versions(1, 2), Some(2)),
        (versions(1, 3), versions(2, 9), Some(3)),
        (versions(2, 2), versions(1, 1), None),
        (
            versions(1, u16::MAX),
            versions(u16::MAX, u16::MAX),
            Some(u16::MAX),
        ),
    ] {
        assert_eq!(a.common(b), common);
        assert_eq!(b.common(a), common);
    }
}

/// The later release does not speak the version of this release, and both sides report that.
#[test]
fn a_release_parts_from_one_without_a_common_version() {
    let later = Introduction {
        versions: Versions { min: 2, max: 3 },
        ..introduction("host-b")
    };
    let (mut a, mut b) = (Side::new(introduction("host-a"), 1), Side::new(later, 2));
    let (to_b, to_a) = (a.sent(), b.sent());
    let parted = (Some(Closed::Version), Some(Farewell::Version));
    assert_eq!(answer(&mut a, &to_a[0]), parted);
    assert_eq!(answer(&mut b, &to_b[0]), parted);
    assert_eq!(
        answer_to(|hello| hello.versions = Versions { min: 0, max: 0 }),
        parted
    );
}

/// The breaches "other cluster", "peer claims to be us", "node not in the table or name mismatch".
#[test]
fn a_node_that_may_not_connect_is_told_why_and_a_stranger_no_more_than_that_it_may_not() {
    let side = || Side::new(introduction("host-a"), 1);
    let cluster = ClusterId::new("other").unwrap();
    let stranger = Side {
        known: None,
        ..side()
    };
    let dials_another = Side::dialling(introduction("host-a"), 1, Some(node("host-c")));
    for (mut side, said, closed, farewell) in [
        (
            side(),
            hello(|hello| hello.cluster = cluster),
            Closed::Cluster,
            Farewell::Cluster,
        ),
        (
            side(),
            hello(|hello| hello.node = node("host-a")),
            Closed::IsSelf,
            Farewell::IsSelf,
        ),
        (
            side(),
            side().sent().remove(0),
            Closed::IsSelf,
            Farewell::IsSelf,
        ),
        (stranger, hello(|_| ()), Closed::Auth, Farewell::Auth),
        (
            dials_another,
            hello(|_| ()),
            Closed::OtherNode,
            Farewell::Auth,
        ),
    ] {
        assert_eq!(answer(&mut side, &said), (Some(closed), Some(farewell)));
    }
}

/// A later process of a name waits while the earlier one is linked: this holds for voters without disks. A former
/// incarnation is told that it is one (the breach "old incarnation"). The node that says hello is in incarnation 100.
#[test]
fn a_later_process_of_a_name_waits_while_the_earlier_one_is_linked() {
    let held = (Some(Closed::NameHeld), Some(Farewell::NameHeld));
    let stale = (Some(Closed::Stale), Some(Farewell::Stale));
    let let_in = (None, None);
    for (latest, held_by, outcome) in [
        (None, None, let_in),
        (Some(99), Some(99), held),
        (Some(99), None, let_in),
        // The link of the same incarnation broke.
        (Some(100), Some(100), let_in),
        (Some(100), None, let_in),
        (Some(101), None, stale),
    ] {
        let mut side = Side::new(introduction("host-a"), 1);
        let [latest, held_by] = [latest, held_by].map(|of| of.map(NodeIncarnation));
        side.known = Some(Acquaintance { latest, held_by });
        let answered = answer(&mut side, &hello(|_| ()));
        assert_eq!(answered, outcome, "{latest:?}, {held_by:?}");
    }
}

/// The breach "wrong link id".
#[test]
fn another_link_is_refused() {
    let mut side = Side::new(introduction("host-a"), 1);
    assert_eq!(side.receive(&hello(|_| ())), Ok(None));
    assert_eq!(side.receive(&conditions()), Ok(None));
    let replayed = body(|out| encode_proof(LinkId([2; 16]), &[], out));
    assert_eq!(
        answer(&mut side, &replayed),
        (Some(Closed::WrongLink), None)
    );
}

/// The breach "HELLO twice; any frame before HELLO".
#[test]
fn a_frame_out_of_place_ends_the_link() {
    let out_of_place = (Some(Closed::Protocol), None);
    let link = LinkId([0; 16]);
    for early in [
        conditions(),
        body(|out| encode_proof(link, &[], out)),
        body(|out| encode_ping(1, 1, out)),
        b"\x97\x02\x01\x05\xc0\x90\x90\xc0".to_vec(),
    ] {
        let mut side = Side::new(introduction("host-a"), 1);
        assert_eq!(answer(&mut side, &early), out_of_place);
    }
    let twice = hello(|_| ());
    let mut side = Side::new(introduction("host-a"), 1);
    assert_eq!(answer(&mut side, &twice), (None, None));
    assert_eq!(answer(&mut side, &twice), out_of_place);
    assert_eq!(answer(&mut side, &twice), out_of_place, "and stays ended");
    // A side is not ready before it has received the conditions, and it accepts them once.
    let mut side = Side::new(introduction("host-a"), 1);
    assert_eq!(answer(&mut side, &twice), (None, None));
    let ready = body(|out| encode_proof(link, &[], out));
    assert_eq!(answer(&mut side, &ready), out_of_place);
    let mut side = Side::new(introduction("host-a"), 1);
    assert_eq!(answer(&mut side, &twice), (None, None));
    assert_eq!(answer(&mut side, &conditions()), (None, None));
    assert_eq!(answer(&mut side, &conditions()), out_of_place);
}

/// The breach "malformed", for the first frame.
#[test]
fn another_frame_in_place_of_hello_is_malformed() {
    let malformed = |why: WireError| (Some(Closed::Malformed(why)), None);
    let mut wrong_magic = hello(|_| ());
    wrong_magic[3] = b'B';
    let mut longer = hello(|_| ());
    longer.push(0xc0);
    let upside_down = Versions { min: 2, max: 1 };
    for (body, why) in [
        (b"GET / HTTP/1.1".to_vec(), WireError::Type),
        (wrong_magic, WireError::Value),
        (longer, WireError::Trailing),
        (
            hello(|hello| hello.versions = upside_down),
            WireError::Value,
        ),
        (hello(|hello| hello.frame = 4_095), WireError::Value),
    ] {
        let mut side = Side::new(introduction("host-a"), 1);
        assert_eq!(answer(&mut side, &body), malformed(why));
    }
}

/// Limit: READY within 3 seconds.
#[test]
fn a_late_hello_is_too_late() {
    let side = Side::new(introduction("host-a"), 1);
    let (mut handshake, mut out) = (side.handshake, side.out);
    let deadline = handshake.deadline();
    assert_eq!(deadline, Time::from_millis(3_000));
    let late = handshake.receive(deadline, &hello(|_| ()), |_| None, &mut out);
    assert_eq!(late, Err(Closed::HandshakeTimeout));
}

#[test]
fn a_goodbye_ends_the_handshake() {
    let mut side = Side::new(introduction("host-a"), 1);
    let goodbye = body(|out| encode_goodbye(Farewell::Auth, out));
    let closed = Some(Closed::Goodbye(Farewell::Auth));
    assert_eq!(answer(&mut side, &goodbye), (closed, None));
}

/// Limit: length of a frame before READY. The longest names must fit into HELLO.
#[test]
fn the_longest_hello_fits() {
    let label = "a".repeat(63);
    let longest = hello(|hello| {
        hello.cluster = ClusterId::new(&"x".repeat(256)).unwrap();
        hello.node = node(&[label.as_str(), &label, &label, &label[..61]].join("."));
        hello.incarnation = NodeIncarnation(u64::MAX);
        hello.frame = u32::MAX;
        hello.versions.max = u16::MAX;
    });
    assert!(longest.len() <= Limits::EARLY_FRAME);
    assert!(matches!(
        Frame::decode(&longest, Bounds::default()),
        Ok(Frame::Hello(_))
    ));
}
