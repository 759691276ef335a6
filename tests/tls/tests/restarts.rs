//! A cluster with mutual TLS that is restarted while silent connections attack it. An attacker says nothing, or
//! begins a TLS handshake and stops within its first record or after it. `adversary_heartbeats` tests the same over
//! plain TCP.
//!
//! The harness, the number of attackers and the conditions are the same as in `adversary_heartbeats`. The test only
//! runs in a release build, because a handshake takes too long in a debug build.
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

/// Returns the first bytes of a client. A whole hello costs the node a key exchange and a signature.
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
    // Each case takes ten seconds, so not every beginning is tried with both manners. The test over plain TCP also
    // tries the first beginning with the manner `Waits`.
    for (manner, says) in [
        (Manner::Hurries, &[][..]),
        (Manner::Waits, record),
        (Manner::Hurries, whole),
    ] {
        let says = says.into();
        restart::holds(&Attackers { manner, says }, &secure);
    }
}
