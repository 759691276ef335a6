//! The metrics of a bridge for an operator, in virtual time.
#![cfg(feature = "metrics")]

use std::collections::BTreeMap;

use actix::clock::sleep;
use actix_bully::{metrics::series, remote::transport::Pipes};

use super::{
    kit::{Host, MS, all_follow, play},
    measured::{Measured, Recording},
};

/// Returns the series by their names and the values of their labels. Checks the names of the labels.
fn look(recording: &Recording) -> BTreeMap<String, Measured> {
    let named = recording.series().into_iter().map(|(key, value)| {
        let row = series().iter().find(|row| row.name == key.name()).unwrap();
        let (names, values): (Vec<_>, Vec<_>) = key.labels().map(|l| (l.key(), l.value())).unzip();
        assert_eq!(names, row.labels);
        (format!("{} {}", key.name(), values.join(" ")), value)
    });
    named.collect()
}

#[test]
fn links_and_what_crosses_them_are_measured_by_peer_and_by_reason() {
    let recording = Recording::default();
    let counted = |series: &str| match look(&recording)[series] {
        Measured::Counter(n) => n,
        ref other @ (Measured::Gauge(_) | Measured::Histogram(_)) => panic!("{other:?}"),
    };
    metrics::with_local_recorder(&recording, || {
        play(async {
            let pipes = Pipes::new();
            let mut a = Host::start(&pipes, "host-a", &["host-b"]);
            let mut b = Host::start(&pipes, "host-b", &["host-a"]);
            a.agent("a1", 1);
            b.agent("b1", 2);
            all_follow(&[&a, &b], "b1").await;
            let link = || look(&recording)["bully_link_up host-a host-b"].clone();
            assert_eq!(link(), Measured::Gauge(1.0), "at once");
            sleep(MS(11_000)).await;
            assert_eq!(link(), Measured::Gauge(1.0));
            let echoes = look(&recording)["bully_link_echo_seconds host-a host-b"].clone();
            assert!(matches!(echoes, Measured::Histogram(all) if !all.is_empty()));
            let out = counted("bully_remote_messages_total host-b out");
            let traffic = b.bridge.traffic();
            let is_right = out > 10 && out <= traffic.messages_out;
            assert!(is_right, "{out} of {traffic:?}");
            assert!(counted("bully_remote_bytes_total host-a in") > 100);
            assert!(counted("bully_links_total host-a") >= 1);
            assert_eq!(counted("bully_links_closed_total host-a malformed"), 0);
            assert_eq!(counted("bully_remote_dropped_total host-a mismatch"), 0);

            b.stop().await;
            sleep(MS(11_000)).await;
            assert_eq!(link(), Measured::Gauge(0.0));
            assert!(counted("bully_dials_total host-a") > 3);
        });
    });
}
