//! The keys of the section `limits`: the limits for a peer or a stranger, and the time until a lost peer is noticed.

use actix::clock::{sleep, timeout};

use super::{
    Rows, Seen, check, rows,
    scene::{LINKED, SECONDS, Scene, rounded, until},
};
use crate::{
    elections::{AnyMessage, bully::Elect},
    protocol::{Incarnation, Round, Term, To},
    remote::{LinkStatus, NodeIncarnation},
};

pub(super) fn rows() -> Vec<Rows> {
    vec![
        rows!(
            "limits.rate = 4194304",
            planned,
            "
            limits.handshake = \"200ms\" | handshake: 3s | handshake: 200ms
            limits.inbound = 4 | inbound: 256 | inbound: 4
            limits.frame = 4096 | frame: 65536 | frame: 4096
            limits.burst = 131072 | burst: 33554432 | burst: 131072
        "
        ),
        rows!(
            "",
            planned,
            "limits.rate = 1048576 | rate: 16777216 | rate: 1048576"
        ),
        rows!(
            LINKED,
            dials,
            r#"
            limits.dial_min = "5s" | many at first | few at first
            limits.dial_max = "1s" | few later | many later
        "#
        ),
        rows!(
            LINKED,
            idle,
            r#"
            limits.ping_after = "60ms" | few frames | many frames
            limits.silence = "5s" | silent after 1 s | silent after 5 s
        "#
        ),
        rows!(
            LINKED,
            sends,
            "limits.queue = 65536 | lost: none | lost: many"
        ),
        rows!(
            r#"
            listen = "127.0.0.1:1"
            peers = [{ node = "b" }]
            quorum.voters = ["a"]
            quorum.store_file = "FOLDER/a.vote"
            quorum.store = "create"
            "#,
            comes_back,
            r#"limits.forget = "5s" | refused as stale | linked"#
        ),
    ]
}

#[test]
fn each_limit_shows() {
    check(&rows());
}

/// Returns a number in words, so that the tables do not change with every change of a protocol.
fn words(number: u64, many: u64) -> &'static str {
    match number {
        0 => "none",
        1 => "one",
        _ if number < many => "few",
        _ => "many",
    }
}

/// Returns the limits of the node's bridge. The tests of the bridge show what each of them does.
#[expect(clippy::unused_async, reason = "each look is a future")]
async fn planned(s: Scene) -> Seen {
    Ok(format!("{:?}", s.own().plan()?.limits))
}

/// Starts the node without its peers.
async fn dials(s: Scene) -> Seen {
    let a = s.a()?;
    let dials = || a.bridge().unwrap().traffic().dials;
    sleep(SECONDS(2)).await;
    let first = dials();
    sleep(SECONDS(598)).await;
    let (first, later) = (words(first, 6), words(dials() - first, 1_000));
    Ok(format!("{first} at first, {later} later"))
}

/// Starts the node and `b`, which send only the necessary messages. Then nothing of `b` arrives.
async fn idle(s: Scene) -> Seen {
    let (a, _b) = (s.a()?, s.other("b", "role = \"voter\""));
    sleep(SECONDS(20)).await;
    let bridge = a.bridge().unwrap();
    let before = bridge.traffic().frames_out;
    sleep(SECONDS(60)).await;
    let frames = bridge.traffic().frames_out - before;
    s.pipes.partition_one_way("b", "a");
    let silent = until(|| bridge.counters().get("silent") > Some(0)).await;
    let (frames, silent) = (words(frames, 800), rounded(silent));
    Ok(format!("{frames} frames, silent after {silent}"))
}

/// Starts the node and `b`. The node sends many messages at once.
async fn sends(s: Scene) -> Seen {
    let (a, b) = (s.a()?, s.other("b", ""));
    sleep(SECONDS(20)).await;
    let [from, to] = [&a, &b].map(|node| node.agent().id().clone());
    let incarnation = a.group().members().get(&from).unwrap().incarnation.unwrap();
    for counter in 0..5_000 {
        let message: AnyMessage = Elect {
            round: Round {
                incarnation: Incarnation(1),
                counter,
            },
            score: 1.into(),
            seen: Term(0),
            ..Elect::default()
        }
        .into();
        let to = To::One(to.clone());
        a.group().deliver(&from, incarnation, &to, message);
    }
    let lost = a.bridge().unwrap().peers()[0].lost;
    Ok(format!("lost: {}", words(lost, 2)))
}

/// Starts an observer that leaves and returns with a lower incarnation, as if its clock was set back.
async fn comes_back(s: Scene) -> Seen {
    let a = s.a()?;
    let b = r#"
        node = "b"
        group = "jobs"
        role = "observer"
        peers = [{ node = "a", address = "127.0.0.1:1" }]
        quorum.voters = ["a"]
    "#;
    let first = s.start_as(NodeIncarnation(9_000), "b", b).unwrap();
    let is_linked = || {
        let peers = a.bridge().unwrap().peers();
        matches!(peers[0].link, LinkStatus::Linked { .. })
    };
    until(is_linked).await;
    first.leave(SECONDS(5)).await.unwrap();
    sleep(SECONDS(10)).await;
    let _second = s.start_as(NodeIncarnation(8_000), "b", b).unwrap();
    let linked = timeout(SECONDS(20), until(is_linked)).await;
    Ok(if linked.is_ok() {
        "linked"
    } else {
        "refused as stale"
    }
    .to_owned())
}
