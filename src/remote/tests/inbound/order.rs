//! The order and the rate of the frames of a link.

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
