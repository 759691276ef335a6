//! One end of a connection: what breaks it, and what never does.

use super::*;

fn open() -> Flow {
    let mut flow = Flow::default();
    flow.open();
    flow
}

#[test]
fn bytes_arrive_in_their_order_whatever_the_pieces() {
    let mut rng = fastrand::Rng::with_seed(7);
    let (mut from, mut to) = (open(), open());
    let all: Vec<u8> = (0..2_000_000_u32).map(|n| n.to_le_bytes()[1]).collect();
    let (mut rest, mut read) = (&all[..], Vec::new());
    let mut waits = 0;
    while !rest.is_empty() {
        if let Some((at, len)) = from.send(rng.usize(1..40_000).min(rest.len())) {
            to.on_data(at, &rest[..len]);
            rest = &rest[len..];
            continue;
        }
        waits += 1;
        assert_eq!(from.send(1), None, "the window stays full");
        while let FlowRead::Bytes(bytes, told) = to.read(rng.usize(1..9_000)) {
            read.extend_from_slice(&bytes);
            if let Some(before) = told {
                from.on_taken(before);
            }
        }
    }
    assert!(waits > 3, "the window was full {waits} times");
    to.on_end(from.sent());
    while let FlowRead::Bytes(bytes, _) = to.read(10_000) {
        read.extend_from_slice(&bytes);
    }
    assert_eq!(
        (to.read(1), to.over(), from.over()),
        (FlowRead::End, None, None)
    );
    assert!(read == all);
}

#[test]
fn a_gap_a_repetition_and_too_much_break_it_for_good() {
    for (at, len, why) in [
        (
            4,
            1,
            Over::Gap {
                found: 4,
                expected: 3,
            },
        ),
        (
            0,
            3,
            Over::Gap {
                found: 0,
                expected: 3,
            },
        ),
        (
            u64::MAX,
            1,
            Over::Gap {
                found: u64::MAX,
                expected: 3,
            },
        ),
        (3, 256 * 1024, Over::Window),
    ] {
        let mut flow = open();
        flow.on_data(0, b"abc");
        flow.on_data(at, &vec![0; len]);
        assert_eq!(flow.over(), Some(why));
        assert_eq!(
            flow.read(9),
            FlowRead::Broken(why),
            "what came before is not read either"
        );
        flow.on_data(3, b"d");
        flow.on_end(4);
        flow.end(Over::Gone);
        assert_eq!(flow.over(), Some(why), "the first reason stays");
    }
}

#[test]
fn a_sender_that_ignores_the_window_makes_this_side_hold_no_more_than_it() {
    let mut flow = open();
    let mut at = 0;
    while flow.over().is_none() {
        flow.on_data(at, b"x");
        at += 1;
        assert!(flow.unread.len() <= 256 * 1024);
    }
    assert_eq!((flow.over(), at), (Some(Over::Window), WINDOW + 1));
    assert!(flow.unread.is_empty());
}

#[test]
fn a_packet_before_the_connection_or_after_its_end_is_out_of_place() {
    let inputs: [fn(&mut Flow); 3] = [
        |flow| flow.on_data(0, b"x"),
        |flow| flow.on_end(0),
        |flow| flow.on_taken(0),
    ];
    for input in inputs {
        let mut flow = Flow::default();
        input(&mut flow);
        assert!(flow.over().is_some());
    }
    let mut flow = open();
    flow.on_end(0);
    assert_eq!(flow.read(1), FlowRead::End);
    flow.on_data(0, b"x");
    assert_eq!(flow.over(), Some(Over::OutOfPlace));
    let mut flow = open();
    flow.open();
    assert_eq!(flow.over(), Some(Over::OutOfPlace), "taken twice");
}

#[test]
fn only_bytes_that_were_sent_can_be_acknowledged() {
    let mut flow = open();
    assert_eq!(flow.send(10), Some((0, 10)));
    flow.on_taken(4);
    flow.on_taken(4);
    assert_eq!(flow.over(), None);
    for before in [3, 11, u64::MAX] {
        let mut flow = open();
        flow.send(10);
        flow.on_taken(4);
        flow.on_taken(before);
        assert_eq!(flow.over(), Some(Over::Acknowledgement), "{before}");
    }
}

#[test]
fn bytes_sent_before_the_other_end_closed_are_still_read() {
    let mut flow = open();
    flow.on_data(0, b"bye");
    flow.end(Over::Gone);
    assert_eq!(
        flow.read(2),
        FlowRead::Bytes(Bytes::from_static(b"by"), None)
    );
    assert_eq!(
        flow.read(2),
        FlowRead::Bytes(Bytes::from_static(b"e"), None)
    );
    assert_eq!(flow.read(2), FlowRead::End);
}
