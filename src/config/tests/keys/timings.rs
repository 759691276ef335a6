//! The keys of the section `timings`: the durations of the agent in each mode.

use super::{
    Rows, Seen, check, rows,
    scene::{LEASE, Scene, planned, recorded},
};

pub(super) fn rows() -> Vec<Rows> {
    let by = |beside: &str| {
        rows!(
            beside,
            runs,
            r#"
            timings.preset = "lan" | "heartbeat":180000000 | "heartbeat":60000000
            timings.delay_bound = "11ms" | "delay_bound":40000000 | "delay_bound":11000000
            timings.deadline = "12s" | "deadline":2000000000 | "deadline":12000000000
            timings.heartbeat = "131ms" | "heartbeat":180000000 | "heartbeat":131000000
            timings.detection = "14s" | "detection":900000000 | "detection":14000000000
            timings.lease = "701ms" | "lease":720000000 | "lease":701000000
            timings.promise = "1600ms" | "promise":900000000 | "promise":1600000000
        "#
        )
    };
    vec![
        by(""),
        by(ONE_VOTER),
        by(LEASE),
        rows!(
            "",
            planned,
            r#"
            timings.step = "5s" | step: 80ms | step: 5s
            timings.jitter = "20s" | jitter: 50ms | jitter: 20s
            timings.round = "5s" | round: 100ms | round: 5s
        "#
        ),
    ]
}

#[test]
fn each_key_of_the_timings_shows() {
    check(&rows());
}

/// Keys of a voter that is a quorum alone.
const ONE_VOTER: &str = r#"
    listen = "127.0.0.1:0"
    quorum.voters = ["a"]
    quorum.store_file = "FOLDER/vote"
    quorum.store = "create"
"#;

/// Returns the record of the node, which contains its durations.
#[expect(clippy::unused_async, reason = "each look is a future")]
async fn runs(s: Scene) -> Seen {
    Ok(recorded(&s.own().start()?))
}
