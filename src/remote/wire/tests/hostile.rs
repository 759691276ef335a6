//! Hostile bytes do no harm. Each changed frame is decoded on a stack of 512 KiB: it is refused, or it is the only
//! form of its content. A fuzzer tests streams of such frames.

use super::{
    bounds,
    golden::{again, frames},
    rows,
};
use crate::remote::wire::Frame;

/// Whether a body is accepted. Checks that no other bytes have the content of an accepted body.
fn is_taken(body: &[u8]) -> bool {
    let Some(said) = Frame::decode(body, bounds()).ok().and_then(again) else {
        return false;
    };
    assert_eq!(said[4..], *body);
    true
}

/// Runs a function on the body of each frame, and returns the sum of its results.
fn on_a_small_stack(run: fn(&[u8]) -> usize) -> usize {
    let thread = std::thread::Builder::new().stack_size(512 * 1024);
    let all = move || frames().iter().map(|(_, whole)| run(&whole[4..])).sum();
    thread.spawn(all).unwrap().join().unwrap()
}

#[test]
fn a_frame_with_a_byte_less_more_or_changed_is_refused_or_is_another_frame() {
    let taken = on_a_small_stack(|body| {
        assert!(is_taken(body));
        let mut taken = 0;
        for len in 0..body.len() {
            assert!(!is_taken(&body[..len]), "{len} of {body:02x?}");
        }
        for at in 0..body.len() {
            let (before, after) = (&body[..at], &body[at + 1..]);
            is_taken(&[before, after].concat());
            for value in 0..=u8::MAX {
                is_taken(&[before, &[value], &body[at..]].concat());
                taken += usize::from(is_taken(&[before, &[value], after].concat()));
            }
        }
        for value in 0..=u8::MAX {
            assert!(!is_taken(&[body, &[value]].concat()));
        }
        taken
    });
    assert!(taken > 1_000, "numbers and names may differ: {taken}");
}

/// More than one byte of these frames is wrong, or the frame would be written again as it is.
#[test]
fn content_that_no_sender_writes_is_refused() {
    for (bytes, due, what) in rows(
        "
        93 03 01 90                                                                         | Value | no messages
        94 03 01 90 00                                                                      | Type  | an item more
        93 03 01 91 95 00 03 09 90 c400                                                     | Value | no receivers
        93 03 01 91 95 00 03 09 92 05 05 c400                                               | Value | a receiver twice
        93 03 01 91 95 00 03 09 92 05 04 c400                                               | Value | receivers out of order
        93 03 01 91 95 00 03 09 cf0000000100000000 c400                                     | Value | a number of more than 32 bits
        97 02 01 00 c0 90 91 99 00 a0 00 c0 01 c0 90 c0 c0 c0                               | Value | an empty name
        97 02 01 00 c0 90 91 99 00 a120 00 c0 01 c0 90 c0 c0 c0                             | Value | a name that is none
        97 02 01 00 c0 90 91 99 00 a16a 00 94 00 00 00 cf8000000000000000 01 c0 90 c0 c0 c0 | Value | a score out of its range
        97 02 01 00 c0 90 91 99 00 a16a 00 c0 01 c0 92 05 05 c0 c0 c0                       | Value | an end twice
        97 02 01 00 c0 90 91 99 00 a16a 00 c0 01 c0 92 05 04 c0 c0 c0                       | Value | ends out of order
        97 02 01 00 c0 90 91 99 00 a16a 00 c0 01 c0 95 01 02 03 04 05 c0 c0 c0              | Items | too many ends
        97 02 01 00 c0 90 91 99 00 a16a 00 c0 01 c0 90 00 c0 c0                             | Value | a store of none
        97 02 01 00 c0 90 91 99 00 a16a 00 c0 01 07 90 c0 a3610a62 c0                       | Value | a text about an agent of two lines
    ",
    ) {
        let read = Frame::decode(&bytes, bounds()).and_then(|frame| {
            let Frame::Messages(mut messages) = frame else {
                return Ok(());
            };
            messages.try_for_each(|message| message.map(drop))
        });
        assert_eq!(format!("{:?}", read.unwrap_err()), due, "{what}");
    }
}

/// Heads of frames that announce up to four billion items or bytes.
const HUGE: &[&[u8]] = &[
    b"\xdb\xff\xff\xff\xff",
    b"\xc6\xff\xff\xff\xff",
    b"\xdd\xff\xff\xff\xff",
    b"\xdf\xff\xff\xff\xff",
    b"\xc9\xff\xff\xff\xff\x01",
    b"\xda\xff\xff",
    b"\xc5\xff\xff",
    b"\xdc\xff\xff",
    b"\xde\xff\xff",
];

/// Nested values: arrays, maps with text keys, maps with maps as keys, long arrays, enums.
const NESTS: &[&[u8]] = &[
    b"\x91",
    b"\x81\xa1a",
    b"\x81",
    b"\xdc\x00\x01",
    b"\x92\xc0",
    b"\x81\xa5elect",
];

#[test]
fn a_huge_length_and_sixty_thousand_levels_are_refused_at_every_place() {
    let taken = on_a_small_stack(|body| {
        let mut taken = 0;
        for (before, after) in (0..body.len()).map(|at| body.split_at(at)) {
            for nest in NESTS {
                let deep = nest.repeat(60_000 / nest.len());
                assert!(!is_taken(&[before, &deep].concat()), "{before:02x?}");
            }
            for head in HUGE {
                taken += usize::from(is_taken(&[before, head].concat()));
                taken += usize::from(is_taken(&[before, head, after].concat()));
            }
        }
        taken
    });
    assert!(taken < 200, "inside of a number alone: {taken}");
}

#[test]
fn random_pieces_of_frames_are_survived() {
    on_a_small_stack(|body| {
        let mut dice = fastrand::Rng::with_seed(7);
        for _ in 0..2_000 {
            let mut glued = Vec::new();
            for _ in 0..dice.usize(1..6) {
                let from = dice.usize(..body.len());
                glued.extend_from_slice(&body[from..dice.usize(from..body.len())]);
                glued.extend((0..dice.usize(..4)).map(|_| dice.u8(..)));
            }
            is_taken(&glued);
        }
        0
    });
}
