//! The ranges of limits, and limits that contradict each other.

use std::time::Duration;

use crate::remote::{Limits, LimitsError};

#[test]
fn a_limit_outside_of_its_range_is_refused_with_the_range() {
    let handshake = |millis| {
        let limits = Limits::builder().handshake(Duration::from_millis(millis));
        limits.build().map_err(|refused| refused.to_string())
    };
    for millis in [100, 60_000] {
        assert!(handshake(millis).is_ok(), "{millis}");
    }
    for (millis, shown) in [(99, "99ms"), (60_001, "60.001s")] {
        let told = format!("the limit `handshake` is {shown}: choose from 100ms to 60s");
        assert_eq!(handshake(millis), Err(told));
    }
    // Only tests change this limit, and it has a range as well.
    let refused = Limits::builder().depth(3).build().unwrap_err();
    assert!(matches!(refused, LimitsError::Range { limit: "depth", .. }));
}

#[test]
fn limits_that_contradict_each_other_are_refused_with_what_to_do() {
    let millis = Duration::from_millis;
    let new = Limits::builder;
    for (builder, limit, relation, other) in [
        (
            new().frame(1 << 20).burst(1 << 20),
            "burst",
            "at least twice",
            "frame",
        ),
        (
            new().frame(1 << 20).queue(64 << 10),
            "queue",
            "at least",
            "frame",
        ),
        (new().inbound(31), "unready", "at most", "inbound"),
        (
            new().unready(7),
            "unready_per_address",
            "at most",
            "unready",
        ),
        (
            new().silence(millis(359)),
            "silence",
            "at least twice",
            "ping_after",
        ),
        (
            new().dial_max(millis(99)),
            "dial_min",
            "at most",
            "dial_max",
        ),
    ] {
        let refused = builder.build().unwrap_err();
        assert_eq!(refused, LimitsError::Relation { limit, other });
        let advice = format!("make `{limit}` {relation} `{other}`");
        assert!(refused.to_string().ends_with(&advice), "{refused}");
    }
}
