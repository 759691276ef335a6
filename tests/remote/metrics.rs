//! The metrics of a bridge for an operator, in virtual time.
#![cfg(feature = "metrics")]

use std::collections::BTreeMap;

use actix::clock::sleep;
use actix_bully::{metrics::series, remote::transport::Pipes};

use super::{
    kit::{Host, MS, all_follow, play},
    measured::{Measured, Recording},
};

#[test]
fn links_and_what_crosses_them_are_measured_by_peer_and_by_reason() {
    let recording = Recording::default();
    let look = || -> BTreeMap<String, Measured> {
        let named = recording.series().into_iter().map(|(key, value)| {
            let row = series().iter().find(|row| row.name == key.name()).unwrap();
            let labels: Vec<_> = key.labels().collect();
            let names: Vec<_> = labels.iter().map(|label| label.key()).collect();
            assert_eq!(names, row.labels);
            let values: Vec<_> = labels.iter().map(|label| label.value()).collect();
            (format!("{} {}", key.name(), values.join(" ")), value)
        });
        named.collect()
    };
    let counted = |value: &Measured| match value {
        Measured::Counter(n) => *n,
        Measured::Gauge(_) | Measured::Histogram(_) => panic!("{value:?}"),
    };
    metrics::with_local_recorder(&recording, || {
        play(async {
            let pipes = Pipes::new();
            let mut a = Host::start(&pipes, "host-a", &["host-b"]);
            let mut b = Host::start(&pipes, "host-b", &["host-a"]);
            a.agent("a1", 1);
            b.agent("b1", 2);
            all_follow(&[&a, &b], "b1").await;
            let up = Measured::Gauge(1.0);
            assert_eq!(look()["bully_link_up host-a host-b"], up, "at once");
            sleep(MS(11_000)).await;
            let seen = look();
            assert_eq!(seen["bully_link_up host-a host-b"], up);
            assert_eq!(seen["bully_link_up host-b host-a"], up);
            let Measured::Histogram(echoes) = &seen["bully_link_echo_seconds host-a host-b"] else {
                panic!("no histogram");
            };
            assert!(!echoes.is_empty());
            assert!(counted(&seen["bully_links_total host-a"]) >= 1);
            let traffic = b.bridge.traffic();
            let out = counted(&seen["bully_remote_messages_total host-b out"]);
            assert!(
                out > 10 && out <= traffic.messages_out,
                "{out} of {traffic:?}"
            );
            assert!(counted(&seen["bully_remote_bytes_total host-a in"]) > 100);
            let gone =
                |reason| counted(&seen[&format!("bully_links_closed_total host-a {reason}")]);
            assert_eq!(gone("malformed"), 0);
            assert_eq!(
                counted(&seen["bully_remote_dropped_total host-a mismatch"]),
                0
            );

            b.stop().await;
            sleep(MS(11_000)).await;
            let seen = look();
            let down = Measured::Gauge(0.0);
            assert_eq!(seen["bully_link_up host-a host-b"], down);
            assert!(counted(&seen["bully_dials_total host-a"]) > 3);
        });
    });
}
