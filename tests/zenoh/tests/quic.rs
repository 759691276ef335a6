//! zenoh over QUIC with certificates: hosts of one authority elect, and a host of another authority is never seen.

use std::{fs, path::Path, time::Duration};

use actix_bully::remote::BridgeEvent;
use actix_bully_zenoh::ZenohOptions;
use actix_bully_zenoh_tests::{
    Authority, Host, builder, event, free_udp_port, over, play, secret, until,
};
use futures::FutureExt;
use tempfile::TempDir;

/// Adds a certificate of the authority to the options. Every host is at `localhost`, and its certificate says so.
fn with_certificate(folder: &Path, authority: &Authority, options: ZenohOptions) -> ZenohOptions {
    let leaf = authority.node("localhost");
    let parts = [
        ("ca.pem", &authority.pem),
        ("node.pem", &leaf.certificate),
        ("node.key", &leaf.key),
    ];
    let [ca, certificate, key] = parts.map(|(name, text)| {
        let path = folder.join(name);
        fs::write(&path, text).expect("a file");
        path
    });
    options.certificates(ca, certificate, key)
}

#[test]
fn hosts_of_one_authority_elect_and_one_of_another_is_never_seen() {
    play(async {
        let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
        let all = ["a", "b", "c"];
        let seed = format!("quic/localhost:{}", free_udp_port());
        let folders = [(); 3].map(|()| TempDir::new().expect("a folder"));
        let peer =
            |at: usize, authority, peer| with_certificate(folders[at].path(), authority, peer);
        let a = Host::start(
            "a",
            &all,
            peer(0, &ours, ZenohOptions::peer().listen(&seed)),
        );
        let mut events = a.bridge.events();
        let stranger = Host::start(
            "c",
            &all,
            peer(1, &theirs, ZenohOptions::peer().connect(&seed)),
        );
        until("it tries", || stranger.bridge.traffic().dials > 0).await;
        let b = Host::start(
            "b",
            &all,
            peer(2, &ours, ZenohOptions::peer().connect(&seed)),
        );
        until("they elect", || {
            a.leader().is_some() && a.leader() == b.leader()
        })
        .await;
        until("they are linked", || a.is_linked_with("b")).await;
        // The sockets need no more time from here on. The rest are timers of this bridge alone.
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(11)).await;
        let unseen = event(&mut events, |event| match event {
            BridgeEvent::NeverSeen { node, address } => Some((node.to_string(), address)),
            _ => None,
        });
        assert_eq!(unseen.await, ("c".to_owned(), Some("c".to_owned())));
        let more = event(&mut events, |event| match event {
            BridgeEvent::NeverSeen { node, .. } => Some(node),
            _ => None,
        });
        assert_eq!(more.now_or_never(), None, "no event about another host");
        assert_eq!(stranger.leader(), None);
        tokio::time::resume();
    });
}

#[test]
fn a_host_without_a_certificate_is_refused_before_it_starts() {
    play(async {
        let group = actix_bully::Group::new("g").expect("a good name");
        let endpoint = ZenohOptions::peer().connect("quic/localhost:7447");
        let bridge = over(builder("a", &["a", "b"]), endpoint).secret(secret("ours"));
        let refused = bridge.carry(&group).start().expect_err("it is refused");
        assert!(
            refused.to_string().contains(".certificates(..)"),
            "{refused}"
        );
    });
}
