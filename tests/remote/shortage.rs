//! A host that is short of descriptors for a while: its bridge reports the shortage, and links by itself afterwards.

use std::sync::atomic::Ordering::Relaxed;

use actix::clock::sleep;
use actix_bully::{agent::Finding, remote::transport::Pipes};

use super::{
    far::Distance,
    kit::{Host, MS, are_linked, builder},
    warnings::warnings,
};

const MINUTE: u64 = 60_000;

#[test]
fn a_host_without_descriptors_says_so_tries_ever_less_and_links_when_it_has_some() {
    let short = Distance::default();
    short.is_short.store(true, Relaxed);
    let kept = short.clone();
    let said = warnings("connections are not accepted", async move {
        let pipes = Pipes::new();
        let bridge = builder(&pipes, "a", &["b"]);
        let mut a = Host::with(|group| bridge.transport(short.host(&pipes, "a")).carry(group));
        a.agent("a1", 1);
        let b = Host::start(&pipes, "b", &["a"]);
        sleep(MS(MINUTE)).await;
        let is_named = |finding: &Finding| matches!(finding, Finding::PeerUnlinked { advice: Some(advice), .. } if advice.contains("ulimit -n"));
        a.assert_finds(is_named);
        let told = a.agents[0].diagnosis().to_string();
        assert!(!told.contains("correct the address"), "{told}");
        short.is_short.store(false, Relaxed);
        are_linked(&a, &b).await;
        a.assert_finds_no(is_named);
    });
    assert_eq!(said.len(), 1, "once: {said:#?}");
    assert!(said[0].contains("ulimit -n"), "{said:#?}");
    let (accepts, dials) = (kept.accepts.load(Relaxed), kept.dials.load(Relaxed));
    assert!((2..60).contains(&accepts), "{accepts} in a minute");
    assert!((2..60).contains(&dials), "{dials} in a minute");
}
