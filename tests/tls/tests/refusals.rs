//! Which nodes are refused, in both directions, by the ends that the public API builds.
//!
//! Each kind of bad certificate dials a good listener, and then listens for a good dialler.

use std::net::{IpAddr, Ipv4Addr};

use actix_bully::remote::tls::{CertificateFault, TlsReason, TlsRefusal};
use actix_bully_tls_tests::{
    Authority, Leaf,
    attacker::{self, Dialler},
    authority::{dns, self_signed, valid},
    ends::{is_open, meet, node, pair, pipe, refused_later},
};
use rcgen::{ExtendedKeyUsagePurpose, SanType};
use rustls::pki_types::ServerName;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream},
    time::{Duration, timeout},
};
use tokio_rustls::{TlsAcceptor, TlsConnector};

type Refusal = TlsRefusal<DuplexStream>;

/// An attacker dials the node `a`, which knows the node `b`.
async fn dials(trust: &Authority, attacker: &Dialler) -> Refusal {
    let listener = trust.config("a");
    let (here, there) = pipe();
    let connector = TlsConnector::from(std::sync::Arc::new(attacker.config()));
    let name = ServerName::try_from("a").expect("a name");
    // The attacker keeps its end until the listener has decided.
    let (accepted, _kept) = tokio::join!(
        listener.accept(here, |peer| *peer == node("b")),
        connector.connect(name, there)
    );
    accepted.expect_err("the attacker is refused")
}

/// The node `b` dials `a`, and an attacker answers.
async fn listens(trust: &Authority, shows: &Leaf, protocols: Vec<Vec<u8>>) -> TlsReason {
    let dialler = trust.config("b");
    let (here, there) = pipe();
    let acceptor = TlsAcceptor::from(attacker::listener(shows, protocols));
    let target = node("a");
    let (_kept, connected) = tokio::join!(acceptor.accept(here), dialler.connect(there, &target));
    connected.expect_err("the attacker is refused").reason()
}

/// Both directions: what `b` shows to the listener `a`, and what `a` shows to the dialler `b`.
async fn both(trust: &Authority, make: impl Fn(&str) -> Leaf) -> (TlsReason, TlsReason) {
    let refusal = dials(trust, &Dialler::showing(&make("b"))).await;
    let protocols = vec![attacker::ALPN.to_vec()];
    (
        refusal.reason(),
        listens(trust, &make("a"), protocols).await,
    )
}

const fn twice(reason: TlsReason) -> (TlsReason, TlsReason) {
    (reason, reason)
}

#[tokio::test]
async fn two_nodes_of_one_authority_meet() {
    let trust = Authority::new("ours");
    let (mut a, mut b) = pair(&trust.config("a"), &trust.config("b")).await;
    assert_eq!((a.peer(), b.peer()), (&node("b"), &node("a")));
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
    assert_eq!(
        refusal.reason(),
        TlsReason::Certificate(CertificateFault::NotShown)
    );
    let (here, there) = pipe();
    let (bare, config) = (attacker::bare_listener(), trust.config("b"));
    let target = node("a");
    let (_, connected) = tokio::join!(
        TlsAcceptor::from(bare).accept(here),
        config.connect(there, &target)
    );
    let reason = connected.expect_err("refused").reason();
    assert_eq!(reason, TlsReason::RefusedByPeer);
}

#[tokio::test]
async fn a_certificate_of_another_authority_is_refused() {
    let (trust, other) = (Authority::new("ours"), Authority::new("theirs"));
    let refused = both(&trust, |node| other.node(node)).await;
    assert_eq!(
        refused,
        twice(TlsReason::Certificate(CertificateFault::Authority))
    );
}

#[tokio::test]
async fn an_authority_of_the_same_name_is_another_one() {
    let (trust, other) = (Authority::new("ours"), Authority::new("ours"));
    let refused = both(&trust, |node| other.node(node)).await;
    assert_eq!(
        refused,
        twice(TlsReason::Certificate(CertificateFault::Damaged))
    );
}

#[tokio::test]
async fn a_certificate_that_vouches_for_itself_is_refused() {
    let refused = both(&Authority::new("ours"), self_signed).await;
    assert_eq!(
        refused,
        twice(TlsReason::Certificate(CertificateFault::Authority))
    );
}

#[tokio::test]
async fn a_node_is_no_authority() {
    let trust = Authority::new("ours");
    let node = trust.from_leaf("c");
    let refused = both(&trust, |name| node.node(name)).await;
    assert_eq!(
        refused,
        twice(TlsReason::Certificate(CertificateFault::Damaged))
    );
}

#[tokio::test]
async fn an_expired_certificate_is_refused() {
    let trust = Authority::new("ours");
    let expired = |node: &str| trust.odd(node, |params| valid(params, -3, -1));
    assert_eq!(
        both(&trust, expired).await,
        twice(TlsReason::Certificate(CertificateFault::Expired))
    );
}

#[tokio::test]
async fn a_certificate_from_the_future_is_refused() {
    let trust = Authority::new("ours");
    let future = |node: &str| trust.odd(node, |params| valid(params, 1, 3));
    assert_eq!(
        both(&trust, future).await,
        twice(TlsReason::Certificate(CertificateFault::NotYetValid))
    );
}

#[tokio::test]
async fn a_certificate_for_the_other_end_is_refused() {
    let trust = Authority::new("ours");
    let for_servers = trust.odd("b", |params| {
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    });
    let refusal = dials(&trust, &Dialler::showing(&for_servers)).await;
    assert_eq!(
        refusal.reason(),
        TlsReason::Certificate(CertificateFault::Usage)
    );
    let for_clients = trust.odd("a", |params| {
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    });
    let protocols = vec![attacker::ALPN.to_vec()];
    let reason = listens(&trust, &for_clients, protocols).await;
    assert_eq!(reason, TlsReason::Certificate(CertificateFault::Usage));
}

/// The listener can say goodbye to a node that it does not know; the dialler hangs up.
#[tokio::test]
async fn a_node_that_is_not_meant_is_refused() {
    let trust = Authority::new("ours");
    let refusal = dials(&trust, &Dialler::showing(&trust.node("c"))).await;
    assert_eq!(
        refusal.reason(),
        TlsReason::Certificate(CertificateFault::Stranger)
    );
    assert_eq!(refusal.names(), ["c"]);
    let protocols = vec![attacker::ALPN.to_vec()];
    let reason = listens(&trust, &trust.node("c"), protocols).await;
    assert_eq!(reason, TlsReason::Certificate(CertificateFault::Name));
}

#[tokio::test]
async fn a_node_that_is_not_known_is_told_goodbye_and_nothing_else() {
    let trust = Authority::new("ours");
    let (listener, stranger) = (trust.config("a"), trust.config("c"));
    let (here, there) = pipe();
    let (accepted, connected) = tokio::join!(
        listener.accept(here, |peer| *peer == node("b")),
        stranger.connect(there, listener.node())
    );
    let refusal = accepted.expect_err("refused");
    assert!(refusal.reason().is_about_identity());
    refusal
        .close_with(b"goodbye")
        .await
        .expect("it can be told");
    let mut heard = Vec::new();
    let mut connected = connected.expect("the dialler knows nothing yet");
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
    assert_eq!(
        both(&trust, nameless).await,
        twice(TlsReason::Certificate(CertificateFault::Name))
    );
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
            let refused = both(&trust, odd).await;
            assert_eq!(
                refused,
                twice(TlsReason::Certificate(CertificateFault::Name)),
                "{extra:?}, first: {first}"
            );
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
    assert_eq!(
        refusal.reason(),
        TlsReason::Certificate(CertificateFault::Name)
    );
    assert_eq!(refusal.names(), ["*.nodes.example"]);
    let (here, there) = pipe();
    let acceptor = TlsAcceptor::from(attacker::listener(&wild, vec![attacker::ALPN.to_vec()]));
    let target = node("a.nodes.example");
    let (_kept, connected) = tokio::join!(acceptor.accept(here), config.connect(there, &target));
    let refusal = connected.expect_err("refused");
    assert_eq!(
        refusal.reason(),
        TlsReason::Certificate(CertificateFault::Name)
    );
    assert_eq!(
        refusal.names(),
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
    assert_eq!(
        both(&trust, shouts).await,
        twice(TlsReason::Certificate(CertificateFault::Name))
    );
}

#[tokio::test]
async fn a_certificate_without_its_key_is_refused() {
    let trust = Authority::new("ours");
    let stolen = |node: &str| Leaf {
        key: trust.node(node).key,
        ..trust.node(node)
    };
    assert_eq!(
        both(&trust, stolen).await,
        twice(TlsReason::Certificate(CertificateFault::Damaged))
    );
}

/// The tests switch on version 1.2 of the library for all crates: it must not matter.
#[tokio::test]
async fn an_older_version_is_refused() {
    let trust = Authority::new("ours");
    let refusal = dials(&trust, &Dialler::old(&trust.node("b"))).await;
    assert_eq!(refusal.reason(), TlsReason::Version);
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
        assert_eq!(refusal.reason(), TlsReason::Protocol, "{protocols:?}");
    }
    let reason = listens(&trust, &trust.node("a"), vec![]).await;
    assert_eq!(reason, TlsReason::Protocol);
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
    assert_eq!(
        accepted.expect_err("refused").reason(),
        TlsReason::Certificate(CertificateFault::Authority)
    );
    let end = connected.expect("the dialler is done before it is judged");
    assert_eq!(
        refused_later(end).await,
        Some(TlsReason::Certificate(CertificateFault::OwnAuthority))
    );
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
        let refusal = listener.accept(here, |_| true).await.expect_err("refused");
        assert_eq!(refusal.reason(), TlsReason::NotTls, "{said:?}");
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
    let refusal = listener.accept(here, |_| true).await.expect_err("refused");
    assert_eq!(refusal.reason(), TlsReason::Lost);
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
    let waited = timeout(hour, listener.accept(here, |_| true)).await;
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
            listener.accept(here, |_| true),
            connector.connect(name, there)
        );
        let mut accepted = accepted.expect("a good certificate");
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
