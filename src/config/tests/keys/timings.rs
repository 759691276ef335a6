//! The keys of the section `timings`: the durations of the agent in each mode, and their effects.

use actix::clock::sleep;

use super::{
    Rows, Seen, check, rows,
    scene::{LEASE, LINKED, QUORUM, SECONDS, Scene, recorded, rounded, until},
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
            LINKED,
            taken_over,
            r#"
            timings.detection = "8s" | after 1 s | after 8 s
            timings.step = "5s" | after 1 s | after 6 s
            timings.jitter = "20s" | after 1 s | late
        "#
        ),
        rows!(
            format!("{QUORUM}\nquorum.vote_quorum = 3"),
            asks,
            r#"
            timings.round = "5s" | often | seldom
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

/// Cuts the node off from both agents that rank above it. Returns the time until the node leads.
async fn taken_over(s: Scene) -> Seen {
    let (a, _b, _c) = (s.a()?, s.other("b", ""), s.other("c", ""));
    sleep(SECONDS(20)).await;
    for other in ["b", "c"] {
        s.pipes.partition("a", other);
    }
    let after = until(|| a.agent().is_leader()).await;
    let late = if after > SECONDS(10) { "late" } else { "" };
    Ok(format!("after {} {late}", rounded(after)))
}

/// Starts two of three voters that all need all votes. Returns whether they ask often.
async fn asks(s: Scene) -> Seen {
    let (a, _b) = (s.a()?, s.other("b", "role = \"voter\""));
    sleep(SECONDS(60)).await;
    let sent = a.bridge().unwrap().traffic().messages_out;
    Ok(if sent > 100 { "often" } else { "seldom" }.to_owned())
}
