//! A stream is cut into frames.

use std::time::Duration;

use crate::{
    protocol::Time,
    remote::{
        Closed, Limits,
        wire::{Frames, WireError},
    },
};

const NOW: Time = Time::ZERO;

fn frame(body: &[u8]) -> Vec<u8> {
    let len = u32::try_from(body.len()).unwrap().to_be_bytes();
    [&len, body].concat()
}

#[test]
fn frames_come_whole_however_their_bytes_arrive() {
    let bodies = [vec![1; 3], vec![2; 1_000], vec![3], vec![4; 70]];
    let stream: Vec<_> = bodies.iter().flat_map(|body| frame(body)).collect();
    for step in [1, 2, 3, 5, 7, 64, 1_000, stream.len()] {
        let mut frames = Frames::new(&Limits::default());
        let mut found = Vec::new();
        for piece in stream.chunks(step) {
            assert_eq!(frames.feed(piece), piece.len());
            while let Some(body) = frames.next(NOW).unwrap() {
                found.push(body.to_vec());
            }
        }
        assert_eq!(found, bodies, "in steps of {step}");
        assert_eq!(frames.deadline(), None);
    }
}

/// Limits: length of a frame before and after READY.
#[test]
fn a_long_frame_is_refused_before_anything_is_reserved_for_it() {
    let limits = Limits::default();
    for (is_ready, max) in [(false, 1_024), (true, 65_536)] {
        for len in [u32::try_from(max).unwrap() + 1, u32::MAX] {
            let mut frames = Frames::new(&limits);
            if is_ready {
                frames.raise(&limits);
            }
            frames.feed(&len.to_be_bytes());
            let refusal = Err(Closed::FrameTooLarge {
                len: len.into(),
                max,
            });
            assert_eq!(frames.next(NOW), refusal);
            assert!(frames.capacity() <= Limits::READ_AHEAD);
        }
    }
}

/// Read as a length, the first bytes of a TLS record would be 369,295,616 or more.
#[test]
fn a_record_of_tls_is_known_by_its_head() {
    for head in [[0x16, 3, 1, 2], [0x16, 3, 3, 0], [0x15, 3, 3, 0]] {
        for is_ready in [false, true] {
            let mut frames = Frames::new(&Limits::default());
            if is_ready {
                frames.raise(&Limits::default());
            }
            frames.feed(&head);
            assert_eq!(frames.next(NOW), Err(Closed::Encrypted), "{head:x?}");
        }
    }
}

/// Limit: size of the read buffer.
#[test]
fn the_buffer_grows_with_what_came_not_with_what_was_announced() {
    let limits = Limits::default();
    let mut frames = Frames::new(&limits);
    frames.raise(&limits);
    let body = vec![7; limits.frame()];
    let stream = frame(&body);
    let mut came = 0;
    for piece in stream.chunks(1_000) {
        assert_eq!(frames.next(NOW), Ok(None));
        came += frames.feed(piece);
        assert!(frames.capacity() <= came + 2 * Limits::READ_AHEAD);
        assert!(frames.capacity() <= limits.frame() + 4 + Limits::READ_AHEAD);
    }
    assert_eq!(frames.next(NOW).unwrap(), Some(&body[..]));
}

/// Limit: a frame must not have the length 0.
#[test]
fn a_frame_of_no_bytes_is_malformed() {
    let mut frames = Frames::new(&Limits::default());
    frames.feed(&[0; 4]);
    assert_eq!(frames.next(NOW), Err(WireError::Truncated.into()));
}

/// Limit: time for one frame, from its first byte.
#[test]
fn a_frame_has_5_seconds_from_its_first_byte() {
    let at = Time::from_millis;
    let mut frames = Frames::new(&Limits::default());
    assert_eq!(frames.next(at(0)), Ok(None));
    assert_eq!(frames.deadline(), None, "nothing has begun");
    let stream = [frame(b"one"), frame(b"two")].concat();
    for (second, byte) in (1..).zip(&stream[..6]) {
        frames.feed(&[*byte]);
        assert_eq!(frames.next(at(second * 1_000)), Ok(None));
        assert_eq!(frames.deadline(), Some(at(6_000)), "more bytes buy no time");
    }
    frames.feed(&stream[6..8]);
    assert_eq!(frames.next(at(7_000)), Ok(Some(&b"one"[..])));
    assert_eq!(frames.next(at(7_000)), Ok(None));
    assert_eq!(
        frames.deadline(),
        Some(at(12_000)),
        "the next one has begun"
    );
    frames.feed(&stream[8..]);
    assert_eq!(frames.next(at(8_000)), Ok(Some(&b"two"[..])));
    assert_eq!(frames.next(at(8_000)), Ok(None));
    assert_eq!(frames.deadline(), None);
    assert_eq!(Limits::default().frame_time(), Duration::from_secs(5));
}

/// A long frame may arrive in the same read as the READY before it.
#[test]
fn the_limit_rises_between_two_frames() {
    let limits = Limits::default();
    let mut frames = Frames::new(&limits);
    let stream = [frame(b"ready"), frame(&[0; 2_000])].concat();
    frames.feed(&stream);
    assert_eq!(frames.next(NOW), Ok(Some(&b"ready"[..])));
    frames.raise(&limits);
    assert_eq!(frames.next(NOW), Ok(Some(&[0; 2_000][..])));
}
