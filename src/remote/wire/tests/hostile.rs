//! Hostile bytes do no harm. Each changed frame is decoded on a stack of 512 KiB: it is refused, or it is the only
//! form of its content. A fuzzer tests streams of such frames.

use super::{
    bounds,
    golden::{again, frames},
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
fn a_frame_that_is_cut_or_has_a_byte_more_or_another_byte_is_refused_or_is_another_frame() {
    let taken = on_a_small_stack(|body| {
        assert!(is_taken(body));
        let mut taken = 0;
        for len in 0..body.len() {
            assert!(!is_taken(&body[..len]), "{len} of {body:02x?}");
        }
        for value in 0..=u8::MAX {
            assert!(!is_taken(&[body, &[value]].concat()));
            for at in 0..body.len() {
                let mut changed = body.to_vec();
                changed[at] = value;
                taken += usize::from(is_taken(&changed));
            }
        }
        taken
    });
    assert!(taken > 1_000, "numbers and names may differ: {taken}");
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
