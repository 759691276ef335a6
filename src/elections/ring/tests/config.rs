//! The configuration: its relations and its formulas.

use super::*;

const MS: fn(u64) -> Duration = Duration::from_millis;

#[test]
fn the_defaults_follow_from_the_timings() {
    assert_eq!(RingConfig::builder().build(), Ok(RingConfig::default()));
    let config = RingConfig::default();
    assert_eq!((config.hop(), config.sends()), (MS(200), 2));
    assert_eq!((config.probe(), config.resend()), (MS(360), MS(100)));
    assert_eq!(lan().hop(), MS(HOP));
    assert_eq!(lan().token(4), MS(TOKEN));
    assert_eq!(lan().silence(4), MS(LOST));
}

#[test]
fn each_broken_relation_is_named() {
    let refused = |builder: RingConfigBuilder| builder.timings(Timings::lan()).build().unwrap_err();
    let (sends, delay_bound) = (2, MS(D));
    let hop = MS(4 * D);
    assert_eq!(
        refused(RingConfig::builder().hop(hop)),
        RingError::Hop {
            hop,
            sends,
            delay_bound
        }
    );
    assert!(by(RingConfig::builder().hop(MS(4 * D + 1))).hop() > hop);
    assert_eq!(
        by(RingConfig::builder().sends(1).hop(MS(2 * D + 1))).sends(),
        1
    );
    for sends in [0, 9] {
        let error = refused(RingConfig::builder().sends(sends));
        assert_eq!(error, RingError::Sends { sends });
    }
    let error = refused(RingConfig::builder().probe(MS(0)));
    assert_eq!(error, RingError::ZeroProbe);
    let astra = RingConfig::builder().timings(Timings::astra());
    assert_eq!(astra.build(), Err(RingError::NoDetector));
    let text = RingError::Hop {
        hop,
        sends,
        delay_bound,
    }
    .to_string();
    assert!(text.contains("36ms") && text.contains("9ms"), "{text}");
}

#[test]
fn the_worst_cases_are_as_stated() {
    let config = lan();
    assert_eq!(config.worst_case_election(5, 2), MS(15 * D + 2 * HOP));
    // n + (n - 1) + n at most, and the acknowledgements.
    assert_eq!(config.worst_case_messages(5, 1), 2 * (5 + 5 + 5));
    assert_eq!(config.worst_case_messages(5, 5), 2 * (15 + 10));
    assert_eq!(config.worst_case_messages(5, 99), 2 * (15 + 10));
    assert_eq!(config.worst_case_messages(1, 1), 0);
    let failover = 5 * D + HOP + (L + 5 * HOP) + 10 + (15 * D + HOP);
    assert_eq!(config.worst_case_failover(5, 1), MS(failover));
    let more = 5 * D + 3 * HOP + (L + 5 * HOP) + 10 + 2 * (S + 10) + (15 * D + 3 * HOP);
    assert_eq!(config.worst_case_failover(5, 3), MS(more));
    assert_eq!(
        by(RingConfig::builder().sends(1)).token(4),
        MS(4 * 6 * D),
        "Hop + 3 d"
    );
    assert!(
        config.token(usize::MAX) > config.token(1_000),
        "nothing overflows"
    );
}
