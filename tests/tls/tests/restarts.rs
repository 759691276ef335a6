//! A cluster with mutual TLS that is restarted under silent connections: of those that say nothing,
//! of those that begin a TLS handshake and stop, in its first record or after it, the same as over
//! plain TCP (`adversary_heartbeats`).
//!
//! The harness, the attackers' numbers and what has to hold are those of that test. In a release
//! build only: how long a debug build takes for a handshake is no measure.
#![cfg(all(target_os = "linux", not(debug_assertions)))]

#[path = "../../adversary/kit.rs"]
#[expect(dead_code, reason = "other scenes need more of it")]
mod kit;
#[path = "../../adversary_heartbeats/restart.rs"]
mod restart;

use std::sync::Arc;

use actix_bully_tls_tests::{Authority, attacker::Dialler};
use rustls::{ClientConnection, pki_types::ServerName};

use restart::{Attackers, Manner, Secure};

/// What a client says first: all of it has to be answered by a key exchange, and a signature.
fn client_hello() -> Vec<u8> {
    let config = Arc::new(Dialler::anonymous().config());
    let name = ServerName::try_from("a").expect("a name");
    let mut client = ClientConnection::new(config, name).expect("a good configuration");
    let mut said = Vec::new();
    client.write_tls(&mut said).expect("memory takes all");
    said
}

#[test]
fn a_cluster_with_tls_agrees_in_less_than_twice_the_calm_time_under_attack() {
    let trust = Authority::new("ours");
    let nodes = ["a", "b", "c"].map(|name| (name, trust.config(name)));
    let secure: Secure = Arc::new(move |bridge, name| {
        let config = nodes.iter().find(|(node, _)| *node == name);
        bridge.tls(config.expect("one of the three").1.clone())
    });
    let hello = client_hello();
    let (record, whole) = (&hello[..3], &hello[..]);
    // Each takes ten seconds, so not every beginning is tried in both manners; over plain TCP the first one is.
    for (manner, says) in [
        (Manner::Hurries, &[][..]),
        (Manner::Waits, record),
        (Manner::Hurries, whole),
    ] {
        let says = says.into();
        restart::holds(&Attackers { manner, says }, &secure);
    }
}
