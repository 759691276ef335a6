//! Which nodes are refused, in both directions, by the ends that the public API builds.
//!
//! Each kind of bad certificate dials a good listener, and then listens for a good dialler.

use std::net::{IpAddr, Ipv4Addr};

use actix_bully::remote::{
    tls::{accept, connect},
    transport::Unsecured,
};
use actix_bully_tls_tests::{
    Authority, Leaf,
    attacker::{self, Dialler},
    authority::{dns, self_signed, valid},
    ends::{is_open, meet, node, pair, pipe, refused, refused_later},
};
use rcgen::{ExtendedKeyUsagePurpose, SanType};
use rustls::pki_types::ServerName;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::{Duration, timeout},
};
use tokio_rustls::{TlsAcceptor, TlsConnector};

const NOT_SHOWN: &str = "the peer showed no certificate";
const AUTHORITY: &str = "the peer's certificate is of an authority that this node does not trust";
const EXPIRED: &str = "the peer's certificate has expired";
const NOT_YET_VALID: &str = "the peer's certificate is not valid yet";
const USAGE: &str = "the peer's certificate does not allow the peer's end of a connection";
const DAMAGED: &str = "the peer's certificate is damaged, or not its own";
const NAME: &str = "the peer's certificate does not name the expected node";
const STRANGER: &str =
    "the peer's certificate names a node that is not in this node's list of peers";
const OWN_AUTHORITY: &str = "the peer does not trust the authority of this node's certificate";
const FAILED: &str = "the TLS handshake failed";
const NOT_TLS: &str = "this node speaks TLS, and the peer sent something else";
const LOST: &str = "the connection ended";

/// An attacker dials the node `a`, which knows the node `b`.
async fn dials(trust: &Authority, attacker: &Dialler) -> Unsecured {
    let listener = trust.config("a");
    let (here, there) = pipe();
    let connector = TlsConnector::from(std::sync::Arc::new(attacker.config()));
    let name = ServerName::try_from("a").expect("a name");
    // The attacker keeps its end until the listener has decided.
    let (accepted, _kept) = tokio::join!(
        accept(&listener, Box::new(here), |peer| *peer == node("b")),
        connector.connect(name, there)
    );
    refused(accepted)
}

/// The node `b` dials `a`, and an attacker answers.
async fn listens(trust: &Authority, shows: &Leaf, protocols: Vec<Vec<u8>>) -> String {
    let dialler = trust.config("b");
    let (here, there) = pipe();
    let acceptor = TlsAcceptor::from(attacker::listener(shows, protocols));
    let target = node("a");
    let (_kept, connected) = tokio::join!(
        acceptor.accept(here),
        connect(&dialler, Box::new(there), &target)
    );
    refused(connected).why.to_string()
}

/// Both directions: what `b` shows to the listener `a`, and what `a` shows to the dialler `b`.
async fn both(trust: &Authority, make: impl Fn(&str) -> Leaf) -> [String; 2] {
    let refusal = dials(trust, &Dialler::showing(&make("b"))).await;
    let protocols = vec![attacker::ALPN.to_vec()];
    let listened = listens(trust, &make("a"), protocols).await;
    [refusal.why.to_string(), listened]
}

#[tokio::test]
async fn two_nodes_of_one_authority_meet() {
    let trust = Authority::new("ours");
    let (mut a, mut b) = pair(&trust.config("a"), &trust.config("b")).await;
    assert!(is_open(&mut a, &mut b).await);
}

#[tokio::test]
async fn intermediate_authorities_are_followed() {
    let root = Authority::new("ours");
    let below = root.intermediate("below");
    let leaf = below.node("b");
    let config = root.builder(&leaf).build().expect("the chain is whole");
    let (mut a, mut b) = pair(&root.config("a"), &config).await;
    assert!(is_open(&mut a, &mut b).await);
}

/// The other direction of it: a listener without a certificate cannot speak TLS 1.3 at all.
#[tokio::test]
async fn no_certificate_is_refused() {
    let trust = Authority::new("ours");
    let refusal = dials(&trust, &Dialler::anonymous()).await;
    assert_eq!(refusal.why.to_string(), NOT_SHOWN);
    let (here, there) = pipe();
    let (bare, config) = (attacker::bare_listener(), trust.config("b"));
    let target = node("a");
    let (_, connected) = tokio::join!(
        TlsAcceptor::from(bare).accept(here),
        connect(&config, Box::new(there), &target)
    );
    assert_eq!(refused(connected).why.to_string(), FAILED);
}

#[tokio::test]
async fn a_certificate_of_another_authority_is_refused() {
    let (trust, other) = (Authority::new("ours"), Authority::new("theirs"));
    let told = both(&trust, |node| other.node(node)).await;
    assert_eq!(told, [AUTHORITY; 2]);
}

#[tokio::test]
async fn an_authority_of_the_same_name_is_another_one() {
    let (trust, other) = (Authority::new("ours"), Authority::new("ours"));
    let told = both(&trust, |node| other.node(node)).await;
    assert_eq!(told, [DAMAGED; 2]);
}

#[tokio::test]
async fn a_certificate_that_vouches_for_itself_is_refused() {
    let told = both(&Authority::new("ours"), self_signed).await;
    assert_eq!(told, [AUTHORITY; 2]);
}

#[tokio::test]
async fn a_node_is_no_authority() {
    let trust = Authority::new("ours");
    let node = trust.from_leaf("c");
    let told = both(&trust, |name| node.node(name)).await;
    assert_eq!(told, [DAMAGED; 2]);
}

#[tokio::test]
async fn an_expired_certificate_is_refused() {
    let trust = Authority::new("ours");
    let expired = |node: &str| trust.odd(node, |params| valid(params, -3, -1));
    assert_eq!(both(&trust, expired).await, [EXPIRED; 2]);
}

#[tokio::test]
async fn a_certificate_from_the_future_is_refused() {
    let trust = Authority::new("ours");
    let future = |node: &str| trust.odd(node, |params| valid(params, 1, 3));
    assert_eq!(both(&trust, future).await, [NOT_YET_VALID; 2]);
}

#[tokio::test]
async fn a_certificate_for_the_other_end_is_refused() {
    let trust = Authority::new("ours");
    let for_servers = trust.odd("b", |params| {
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    });
    let refusal = dials(&trust, &Dialler::showing(&for_servers)).await;
    assert_eq!(refusal.why.to_string(), USAGE);
    let for_clients = trust.odd("a", |params| {
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    });
    let protocols = vec![attacker::ALPN.to_vec()];
    let reason = listens(&trust, &for_clients, protocols).await;
    assert_eq!(reason, USAGE);
}

/// The listener can say goodbye to a node that it does not know; the dialler hangs up.
#[tokio::test]
async fn a_node_that_is_not_meant_is_refused() {
    let trust = Authority::new("ours");
    let refusal = dials(&trust, &Dialler::showing(&trust.node("c"))).await;
    assert_eq!(refusal.why.to_string(), STRANGER);
    assert_eq!(refusal.names, ["c"]);
    let protocols = vec![attacker::ALPN.to_vec()];
    let reason = listens(&trust, &trust.node("c"), protocols).await;
    assert_eq!(reason, NAME);
}

#[tokio::test]
async fn a_node_that_is_not_known_is_told_goodbye_and_nothing_else() {
    let trust = Authority::new("ours");
    let (listener, stranger) = (trust.config("a"), trust.config("c"));
    let (here, there) = pipe();
    let (accepted, connected) = tokio::join!(
        accept(&listener, Box::new(here), |peer| *peer == node("b")),
        connect(&stranger, Box::new(there), listener.node())
    );
    let (mut stream, farewell) = refused(accepted).parting.expect("it can be told");
    assert_eq!(
        farewell.map(|why| why.to_string()).as_deref(),
        Some("this node is not allowed to connect")
    );
    stream.write_all(b"goodbye").await.expect("it can be told");
    stream.shutdown().await.expect("it can be told");
    let mut heard = Vec::new();
    let (mut connected, _) = connected.expect("the dialler knows nothing yet");
    connected
        .read_to_end(&mut heard)
        .await
        .expect("a clean end");
    assert_eq!(heard, b"goodbye");
}

#[tokio::test]
async fn a_certificate_without_a_name_is_refused() {
    let trust = Authority::new("ours");
    let nameless = |node: &str| trust.odd(node, |params| params.subject_alt_names.clear());
    assert_eq!(both(&trust, nameless).await, [NAME; 2]);
}

#[tokio::test]
async fn a_second_name_of_any_kind_is_refused() {
    let trust = Authority::new("ours");
    let text = |text: &str| text.to_owned().try_into().expect("ASCII");
    for extra in [
        dns("c"),
        dns("not a name!"),
        SanType::IpAddress(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        SanType::IpAddress("::".parse().expect("an address")),
        SanType::URI(text("spiffe://cluster/c")),
        SanType::Rfc822Name(text("c@example")),
    ] {
        for first in [true, false] {
            let odd = |node: &str| {
                trust.odd(node, |params| {
                    let place = if first { 0 } else { 1 };
                    params.subject_alt_names.insert(place, extra.clone());
                })
            };
            let told = both(&trust, odd).await;
            assert_eq!(told, [NAME; 2], "{extra:?}, first: {first}");
        }
    }
}

/// What a dialler asks for is a name even where a wildcard would cover it.
#[tokio::test]
async fn a_wildcard_is_refused() {
    let trust = Authority::new("ours");
    let config = trust.config("b.nodes.example");
    let wild = trust.odd("a", |params| {
        params.subject_alt_names = vec![dns("*.nodes.example")]
    });
    let refusal = dials(&trust, &Dialler::showing(&wild)).await;
    assert_eq!(refusal.why.to_string(), NAME);
    assert_eq!(refusal.names, ["*.nodes.example"]);
    let (here, there) = pipe();
    let acceptor = TlsAcceptor::from(attacker::listener(&wild, vec![attacker::ALPN.to_vec()]));
    let target = node("a.nodes.example");
    let (_kept, connected) = tokio::join!(
        acceptor.accept(here),
        connect(&config, Box::new(there), &target)
    );
    let refusal = refused(connected);
    assert_eq!(refusal.why.to_string(), NAME);
    assert_eq!(
        refusal.names,
        ["*.nodes.example"],
        "TLS alone would have accepted it"
    );
}

/// TLS compares names without regard to case; a node's name is exact.
#[tokio::test]
async fn a_name_in_another_case_is_another_name() {
    let trust = Authority::new("ours");
    let shouts = |node: &str| {
        let name = node.to_uppercase();
        trust.odd(node, |params| params.subject_alt_names = vec![dns(&name)])
    };
    assert_eq!(both(&trust, shouts).await, [NAME; 2]);
}

#[tokio::test]
async fn a_certificate_without_its_key_is_refused() {
    let trust = Authority::new("ours");
    let stolen = |node: &str| Leaf {
        key: trust.node(node).key,
        ..trust.node(node)
    };
    assert_eq!(both(&trust, stolen).await, [DAMAGED; 2]);
}

/// The tests switch on version 1.2 of the library for all crates: it must not matter.
#[tokio::test]
async fn an_older_version_is_refused() {
    let trust = Authority::new("ours");
    let refusal = dials(&trust, &Dialler::old(&trust.node("b"))).await;
    assert_eq!(refusal.why.to_string(), FAILED);
}

#[tokio::test]
async fn another_protocol_over_tls_is_refused() {
    let trust = Authority::new("ours");
    let good = trust.node("b");
    for protocols in [
        vec![],
        vec![b"h2".to_vec()],
        vec![b"actix-bully/2".to_vec()],
    ] {
        let dialler = Dialler {
            protocols: protocols.clone(),
            ..Dialler::showing(&good)
        };
        let refusal = dials(&trust, &dialler).await;
        assert_eq!(refusal.why.to_string(), FAILED, "{protocols:?}");
    }
    let reason = listens(&trust, &trust.node("a"), vec![]).await;
    assert_eq!(reason, FAILED);
}

/// The dialler learns of its refusal at its first read, and no more than that.
#[tokio::test]
async fn the_dialler_learns_why_its_certificate_is_refused() {
    let (trust, other) = (Authority::new("ours"), Authority::new("theirs"));
    // It trusts us; we do not trust it.
    let stranger = actix_bully::remote::tls::TlsConfig::builder()
        .authorities_pem(trust.pem.clone() + &other.pem)
        .certificate_pem(other.node("b").certificate)
        .key_pem("")
        .build();
    assert!(stranger.is_err(), "a configuration without a key is none");
    let leaf = other.node("b");
    let stranger = other
        .builder(&leaf)
        .authorities_pem(trust.pem.clone() + &other.pem)
        .build()
        .expect("its own authority is among those that it trusts");
    let (accepted, connected) = meet(&trust.config("a"), &stranger).await;
    assert_eq!(refused(accepted).why.to_string(), AUTHORITY);
    let (end, _) = connected.expect("the dialler is done before it is judged");
    assert_eq!(refused_later(end).await, Some(OWN_AUTHORITY.to_owned()));
}

#[tokio::test]
async fn what_is_not_tls_is_refused() {
    let trust = Authority::new("ours");
    let mut noise = 0x9e37_79b9_7f4a_7c15_u64;
    let random: Vec<u8> = std::iter::repeat_with(|| {
        noise = noise
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        noise.to_be_bytes()[0] | 0x80 // no record begins like this
    })
    .take(512)
    .collect();
    for said in [
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n".as_slice(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x00\x00\x00\x10\x95\xa6magic\0\0\0\0\0\0\0\0\0", // the bridge's own frames, in plain
        &random,
    ] {
        let listener = trust.config("a");
        let (here, mut there) = pipe();
        there.write_all(said).await.expect("the pipe is open");
        let refusal = refused(accept(&listener, Box::new(here), |_| true).await);
        assert_eq!(refusal.why.to_string(), NOT_TLS, "{said:?}");
        drop(refusal); // it holds the connection
        let mut heard = Vec::new();
        there.read_to_end(&mut heard).await.expect("the end");
        assert!(heard.len() <= 7, "an alert at most: {heard:?}");
    }
}

#[tokio::test]
async fn a_peer_that_hangs_up_is_lost() {
    let listener = Authority::new("ours").config("a");
    let (here, there) = pipe();
    drop(there);
    let refusal = refused(accept(&listener, Box::new(here), |_| true).await);
    assert_eq!(refusal.why.to_string(), LOST);
}

/// The deadline is the caller's: the handshake itself waits for ever.
#[tokio::test(start_paused = true)]
async fn a_silent_peer_is_the_callers_to_end() {
    let listener = Authority::new("ours").config("a");
    let (here, mut there) = pipe();
    there
        .write_all(&[22, 3, 1])
        .await
        .expect("the pipe is open");
    let hour = Duration::from_secs(3600);
    let waited = timeout(hour, accept(&listener, Box::new(here), |_| true)).await;
    assert!(waited.is_err(), "it was still waiting");
}

/// Two connections of the same two nodes share nothing that could be replayed.
#[tokio::test]
async fn no_connection_is_resumed() {
    let trust = Authority::new("ours");
    let listener = trust.config("a");
    let config = std::sync::Arc::new(Dialler::showing(&trust.node("b")).config());
    for _ in 0..3 {
        let (here, there) = pipe();
        let connector = TlsConnector::from(std::sync::Arc::clone(&config));
        let name = ServerName::try_from("a").expect("a name");
        let (accepted, connected) = tokio::join!(
            accept(&listener, Box::new(here), |_| true),
            connector.connect(name, there)
        );
        let (mut accepted, _) = accepted.expect("a good certificate");
        let mut connected = connected.expect("the dialler trusts every node");
        // Tickets come before the first data.
        accepted.write_all(b"x").await.expect("open");
        accepted.flush().await.expect("open");
        assert_eq!(connected.read_u8().await.expect("open"), b'x');
        let session = connected.get_ref().1;
        assert_eq!(session.handshake_kind(), Some(rustls::HandshakeKind::Full));
        assert_eq!(session.tls13_tickets_received(), 0);
        assert!(!session.is_early_data_accepted());
    }
}
