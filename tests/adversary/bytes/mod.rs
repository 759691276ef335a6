//! Do bytes hurt us? Everything that can be done to a frame, on a stack of 512 KiB.
//!
//! Nothing here may panic, overflow the stack, or make room for what was only announced; and what
//! is taken would be sent in the very same bytes.
#![expect(clippy::expect_used, reason = "a test that cannot go on fails")]
#![expect(clippy::indexing_slicing, reason = "of bytes that this test made")]

mod kit;

use actix_bully::remote::{
    Limits,
    internals::wire::{Bounds, Frame, WireError, decode_payload},
};
use serde::{Deserialize, Serialize};

use crate::kit::nack;
use kit::{Receiver, conversation, frame, greetings, one_of_each, said_again};

/// Runs on a stack as small as they come.
fn on_a_small_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(512 * 1024);
    let ended = thread.spawn(run).expect("a thread starts").join();
    assert!(ended.is_ok(), "it panicked");
}

/// A body is refused, or it is the one way to say what it says.
fn check(body: &[u8]) -> bool {
    match said_again(body) {
        None => false,
        Some(again) => {
            assert_eq!(again, frame(body));
            true
        }
    }
}

/// An honest peer up to the frame `at`, and that one replaced.
fn instead(at: usize, replacement: &[u8]) -> Vec<u8> {
    let frames = conversation();
    [&greetings()[..], &frames[..at].concat(), replacement].concat()
}

#[test]
fn an_honest_peer_is_heard_however_its_bytes_arrive() {
    let all = [greetings(), conversation().concat()].concat();
    for piece in [1, 2, 3, 7, 100, 8_192] {
        let mut receiver = Receiver::new();
        assert_eq!(receiver.take(&all, piece), Ok(()));
        assert_eq!(receiver.delivered, 3);
    }
}

/// The breach "truncated": inside of a frame whose length is right, the body ends too early.
#[test]
fn a_body_cut_at_any_byte_is_refused() {
    on_a_small_stack(|| {
        for whole in one_of_each() {
            let body = &whole[4..];
            assert!(check(body), "{body:02x?}");
            for len in 0..body.len() {
                assert!(!check(&body[..len]), "{len} of {body:02x?}");
            }
        }
        for (at, whole) in conversation().iter().enumerate() {
            for len in 1..whole.len() - 4 {
                let cut = frame(&whole[4..4 + len]);
                let closed = Receiver::new().take(&instead(at, &cut), 8_192);
                assert_eq!(closed, Err("malformed"));
            }
        }
    });
}

/// A stream that ends inside of a frame is no error: the rest may come.
#[test]
fn a_stream_cut_at_any_byte_waits() {
    let all = [greetings(), conversation().concat()].concat();
    for len in 0..all.len() {
        assert_eq!(Receiver::new().take(&all[..len], 8_192), Ok(()));
    }
}

/// The breach "trailing bytes".
#[test]
fn a_byte_too_many_is_refused() {
    for whole in one_of_each() {
        for more in 0..=u8::MAX {
            assert!(!check(&[&whole[4..], &[more]].concat()));
        }
    }
}

#[test]
fn every_flipped_bit_is_refused_or_says_something_else_in_its_one_way() {
    on_a_small_stack(|| {
        let mut taken = 0;
        for whole in one_of_each() {
            for at in 4..whole.len() {
                for value in 0..=u8::MAX {
                    let mut body = whole[4..].to_vec();
                    body[at - 4] = value;
                    taken += u32::from(check(&body));
                }
            }
        }
        assert!(taken > 1_000, "numbers and names may differ: {taken}");
    });
}

#[test]
fn every_flipped_bit_of_a_connection_is_survived() {
    on_a_small_stack(|| {
        let all = [greetings(), conversation().concat()].concat();
        for at in 0..all.len() {
            for bit in 0..8 {
                let mut bytes = all.clone();
                bytes[at] ^= 1 << bit;
                // It ends, waits for more, or goes on: what matters is that it comes back.
                let ended = Receiver::new().take(&bytes, 8_192);
                assert!(ended.is_ok() || ended.is_err_and(|why| why != "lost"));
            }
        }
    });
}

/// Heads that announce up to four billion items or bytes.
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

/// `capacity` is checked at every byte that arrives.
#[test]
fn a_huge_announced_length_is_refused_anywhere() {
    on_a_small_stack(|| {
        let (mut taken, mut refused) = (0, 0);
        for whole in one_of_each() {
            let body = &whole[4..];
            for at in 0..body.len() {
                for head in HUGE {
                    let (before, after) = body.split_at(at);
                    for body in [[before, head, after].concat(), [before, head].concat()] {
                        let count = if check(&body) {
                            &mut taken
                        } else {
                            &mut refused
                        };
                        *count += 1;
                    }
                }
            }
        }
        assert!(
            taken * 50 < refused,
            "only inside of a number: {taken} of {refused}"
        );
        for (at, whole) in conversation().iter().enumerate() {
            for head in HUGE {
                let body = [&whole[4..7], head].concat();
                let closed = Receiver::new().take(&instead(at, &frame(&body)), 8_192);
                assert_eq!(closed, Err("malformed"));
            }
        }
    });
}

/// What nests: arrays, maps by a text, maps by themselves, long arrays, enums.
const NESTS: &[&[u8]] = &[
    b"\x91",
    b"\x81\xa1a",
    b"\x81",
    b"\xdc\x00\x01",
    b"\x92\xc0",
    b"\x81\xa5elect",
    b"\x81\xa4Deep",
];

/// A message of a type that recurses, which no limit of arrays and maps would stop.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Nest {
    Deep(Box<Self>),
    End,
}

#[test]
fn sixty_thousand_levels_are_refused() {
    on_a_small_stack(|| {
        for nest in NESTS {
            let deep = nest.repeat(60_000 / nest.len());
            assert!(decode_payload::<Nest>(&deep, Bounds::default()).is_err());
            for whole in conversation() {
                let body = &whole[4..];
                for at in 0..body.len() {
                    let spoilt = [&body[..at], &deep].concat();
                    let refused = Frame::decode(&spoilt, Bounds::default()).is_err();
                    assert!(refused || !check(&spoilt));
                }
            }
            for at in 0..2 {
                let whole = &conversation()[at];
                for keep in [1, 3, 5, whole.len() - 8] {
                    let spoilt = frame(&[&whole[4..4 + keep], &deep].concat());
                    let closed = Receiver::new().take(&instead(at, &spoilt), 8_192);
                    assert_eq!(closed, Err("malformed"));
                }
            }
        }
    });
}

/// A payload of 60,000 levels inside of a message that is well formed itself.
#[test]
fn a_deep_payload_is_refused_when_it_is_decoded() {
    on_a_small_stack(|| {
        for nest in NESTS {
            let deep = nest.repeat(60_000 / nest.len());
            let len = u16::try_from(deep.len())
                .expect("less than 64 KiB")
                .to_be_bytes();
            let head = b"\x93\x03\x02\x91\x95\x00\x00\x09\xc0\xc5";
            let message = frame(&[&head[..], &len, &deep].concat());
            let closed = Receiver::new().take(&instead(1, &message), 8_192);
            assert_eq!(closed, Err("malformed"));
        }
    });
}

/// What is no message, although it says almost the same as one.
const OTHER_FORMS: &[(&[u8], &str)] = &[
    (
        b"\x81\xa9heartbeat\x83\xa4term\x07\xa5score\x94\x1e\x00\x00\x00\xa7sent_at\xc0",
        "a map",
    ),
    (
        b"\x81\xa9heartbeat\x82\xa4term\x07\xa4term\x07",
        "a key twice",
    ),
    (b"\x81\xa9heartbeat\x81\xa3new\xc0", "an unknown key"),
    (
        b"\x81\xa9heartbeat\x93\x07\x94\x1e\x00\x00\x00\xc0\xc0",
        "more",
    ),
    (
        b"\x81\xa9heartbeat\x94\x07\x94\x1e\x00\x00\x00\xc0\xc0",
        "a field more",
    ),
    (
        b"\x81\xa9heartbeat\x92\x07\x94\x1e\x00\x00\x00",
        "a field less",
    ),
    (
        b"\x81\x04\x93\x07\x94\x1e\x00\x00\x00\xc0",
        "a variant by its number",
    ),
    (
        b"\x81\xa9heartbeet\x93\x07\x94\x1e\x00\x00\x00\xc0",
        "no such variant",
    ),
    (
        b"\x81\xa9heartbeat\x93\xcc\x07\x94\x1e\x00\x00\x00\xc0",
        "a longer number",
    ),
    (
        b"\x81\xa9heartbeat\x93\x07\x94\xd0\x1e\x00\x00\x00\xc0",
        "a longer signed number",
    ),
    (
        b"\x81\xd9\x09heartbeat\x93\x07\x94\x1e\x00\x00\x00\xc0",
        "a longer name",
    ),
    (
        b"\x81\xa9heartbea\xff\x93\x07\x94\x1e\x00\x00\x00\xc0",
        "bad UTF-8",
    ),
    (b"\x81\xa6resign\x92\x07\xa3a b", "a name that is none"),
    (
        b"\x81\xa9heartbeat\x93\xff\x94\x1e\x00\x00\x00\xc0",
        "a term below zero",
    ),
    (
        b"\x81\xa9heartbeat\x93\xca\x00\x00\x00\x00\x94\x1e\x00\x00\x00\xc0",
        "a term with a point",
    ),
    (b"\xa9heartbeat", "no content"),
    (b"\xc0", "nil"),
    (b"", "nothing"),
];

/// The breaches "wrong type", "unknown variant", "duplicate or unknown key", "bad UTF-8".
#[test]
fn a_payload_in_another_form_is_refused() {
    for (payload, what) in OTHER_FORMS {
        let closed = Receiver::new().take(&instead(1, &message(payload)), 8_192);
        assert_eq!(closed, Err("malformed"), "{what}");
    }
}

/// A frame of one message with this payload.
fn message(payload: &[u8]) -> Vec<u8> {
    let len = u8::try_from(payload.len()).expect("a short payload");
    let head = b"\x93\x03\x02\x91\x95\x00\x00\x09\xc0\xc4";
    frame(&[&head[..], &[len], payload].concat())
}

/// The breach "far-future term".
#[test]
fn a_term_that_no_honest_peer_can_know_ends_the_link() {
    for term in [u64::MAX, u64::MAX - 5, 8 + (1 << 20)] {
        let nack = rmp_serde::to_vec(&nack(term)).expect("a message");
        let closed = Receiver::new().take(&instead(1, &message(&nack)), 8_192);
        assert_eq!(closed, Err("term"));
    }
}

/// The breach "plaintext, HTTP, random bytes", for a port without TLS.
#[test]
fn other_protocols_are_refused_at_once() {
    for (bytes, why) in [
        (&b"GET / HTTP/1.1\r\n\r\n"[..], "frame_too_large"),
        // Named, so that an operator reads of TLS and not of a frame's length.
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "tls"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "frame_too_large"),
        (b"\0\0\0\0", "malformed"),
        (b"\0\0\0\x01\xc0", "malformed"),
    ] {
        assert_eq!(Receiver::new().take(bytes, 8_192), Err(why));
    }
}

/// Random bytes, and random pieces of honest frames glued together.
#[test]
fn random_bytes_are_survived() {
    on_a_small_stack(|| {
        let mut dice = fastrand::Rng::with_seed(7);
        let honest = conversation();
        for _ in 0..20_000 {
            let mut body = Vec::new();
            for _ in 0..dice.usize(1..6) {
                let whole = &honest[dice.usize(..honest.len())][4..];
                let from = dice.usize(..whole.len());
                body.extend_from_slice(&whole[from..dice.usize(from..whole.len())]);
                body.extend((0..dice.usize(..4)).map(|_| dice.u8(..)));
            }
            check(&body);
            let spoilt = instead(dice.usize(..5), &frame(&body));
            let ended = Receiver::new().take(&spoilt, 8_192);
            assert!(ended.is_ok() || ended.is_err_and(|why| why != "lost"));
        }
    });
}

/// Limits: items. A roster and a message of as many items as the limit, and of one more.
#[test]
fn a_frame_has_no_more_items_than_the_limit() {
    let items = Limits::default().items();
    let left = |count: usize| {
        let count_bytes = u16::try_from(count).expect("few").to_be_bytes();
        let head = [&b"\x97\x02\x01\x00\xc0\xdc"[..], &count_bytes].concat();
        [&head[..], &vec![0; count], b"\x90\xc0"].concat()
    };
    assert!(check(&left(items)));
    let one_more = left(items + 1);
    let refused = Frame::decode(&one_more, Bounds::default());
    assert_eq!(refused, Err(WireError::Items));
}
