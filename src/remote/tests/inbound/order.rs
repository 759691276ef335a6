//! The order, the rate and the form of the frames of a link.

use super::*;

/// The breach "sequence gap".
#[test]
fn each_frame_has_the_number_after_the_last_one() {
    for wrong in [0, 1, 3, u64::MAX] {
        let mut link = InboundLink::new(Rights::all());
        assert_eq!(
            link.judge(|seq, out| encode_ping(seq, 7, out)),
            Ok(FrameVerdict::Answer(7))
        );
        let gap = link.judge(|_, out| encode_ping(wrong, 7, out));
        let found = wrong;
        assert_eq!(gap, Err(Closed::Sequence { found, last: 1 }));
        assert_eq!(
            link.judge(|_, out| encode_pong(2, 7, out)),
            Ok(FrameVerdict::Answered(7))
        );
    }
}

/// The breach "HELLO twice".
#[test]
fn the_handshake_is_over() {
    let mut link = InboundLink::new(Rights::all());
    let again = link.judge(|_, out| encode_proof(LinkId([0; 16]), &[], out));
    assert_eq!(again, Err(Closed::Protocol));
    let goodbye = link.judge(|_, out| encode_goodbye(Farewell::Leaving, out));
    assert_eq!(goodbye, Err(Closed::Goodbye(Farewell::Leaving)));
}

/// Limit: rate of each peer.
#[test]
fn a_peer_that_sends_too_fast_is_cut() {
    let limits = Limits::default();
    let mut inbound = InboundLink::new(Rights::all()).inbound;
    let second = |n: u64| Time::from_millis(n * 1_000);
    assert_eq!(inbound.took(second(0), limits.burst()), Ok(()));
    for n in 1..100 {
        assert_eq!(inbound.took(second(n), limits.rate()), Ok(()));
    }
    assert_eq!(inbound.took(second(99), 1), Err(Closed::Rate));
}

/// The breach "malformed".
#[test]
fn a_malformed_frame_ends_the_link() {
    let mut link = InboundLink::new(Rights::all());
    for (body, why) in [
        (&b"\x93\x04\x01"[..], WireError::Truncated),
        (b"\x93\x04\x01\x01\xc0", WireError::Trailing),
        (b"\x92\x04\x01", WireError::Type),
        (b"\x91\x09", WireError::Kind),
        (b"\x93\x04\xcc\x01\x01", WireError::NotShortest),
        (
            b"\x97\x02\x01\x05\x95\xa1/\xa1m\x00\xc0\xc0\x90\x90\xc0",
            WireError::Value,
        ),
    ] {
        let closed = link.inbound.frame(NOW, body, |_| GroupStanding::Unknown);
        assert_eq!(closed, Err(Closed::Malformed(why)), "{body:02x?}");
    }
}
