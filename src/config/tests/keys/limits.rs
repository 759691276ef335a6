//! The keys of the section `limits`: the limits for a peer or a stranger, and the time until a lost peer is noticed. The
//! tests of the bridge show the effect of each limit; here the pauses between dials show that the bridge gets them.

use actix::clock::sleep;

use super::{
    Rows, Seen, check, rows,
    scene::{LINKED, SECONDS, Scene},
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
            limits.queue = 65536 | queue: 1048576 | queue: 65536
            limits.ping_after = \"60ms\" | ping_after: 180ms | ping_after: 60ms
            limits.silence = \"5s\" | silence: 900ms | silence: 5s
            limits.forget = \"5s\" | forget: 600s | forget: 5s
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
    ]
}

#[test]
fn each_limit_shows() {
    check(&rows());
}

/// Returns the limits of the node's bridge.
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
    // A number in words, so that the table does not change with every change of a protocol.
    let words = |number, many| if number < many { "few" } else { "many" };
    let (first, later) = (words(first, 6), words(dials() - first, 1_000));
    Ok(format!("{first} at first, {later} later"))
}
