//! The nodes that are refused in both directions, by ends that the public API builds.
//!
//! Each kind of bad certificate dials a good listener, and then listens for a good dialler.

use std::{net::Ipv4Addr, sync::Arc};

use actix_bully::remote::{
    tls::{accept, connect},
    transport::Unsecured,
};
use actix_bully_tls_tests::{
    Authority, Leaf,
    attacker::{self, ALPN, Dialler},
    authority::{dns, self_signed, valid},
    ends::{node, pair, pipe, refused},
};
use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, SanType};
use rustls::{ServerConfig, pki_types::ServerName};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
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
const FAILED: &str = "the TLS handshake failed";
const NOT_TLS: &str = "this node speaks TLS, and the peer sent something else";
const LOST: &str = "the connection ended";

/// Lets an attacker dial the node `a`, which knows the node `b`. Returns the refusal.
async fn dials(trust: &Authority, attacker: &Dialler) -> Unsecured {
    let listener = trust.config("a");
    let (here, there) = pipe();
    let connector = TlsConnector::from(Arc::new(attacker.config()));
    let name = ServerName::try_from("a").expect("a name");
    // The attacker keeps its end until the listener has decided.
    let (accepted, _kept) = tokio::join!(
        accept(&listener, Box::new(here), |peer| *peer == node("b")),
        connector.connect(name, there)
    );
    refused(accepted)
}

/// Lets a node dial another node while an attacker answers. Returns the refusal.
async fn listens(
    trust: &Authority,
    [dialler, dialled]: [&str; 2],
    attacker: Arc<ServerConfig>,
) -> Unsecured {
    let dialler = trust.config(dialler);
    let (here, there) = pipe();
    let target = node(dialled);
    let (_kept, connected) = tokio::join!(
        TlsAcceptor::from(attacker).accept(here),
        connect(&dialler, Box::new(there), &target)
    );
    refused(connected)
}

/// Tests a certificate in both directions: `b` shows it to the listener `a`, and `a` shows it to the dialler `b`.
/// Returns both reasons.
async fn both(trust: &Authority, make: impl Fn(&str) -> Leaf) -> [String; 2] {
    let dialled = dials(trust, &Dialler::showing(&make("b"))).await;
    let attacker = attacker::listener(&make("a"), vec![ALPN.to_vec()]);
    let listened = listens(trust, ["b", "a"], attacker).await;
    [dialled, listened].map(|refusal| refusal.why.to_string())
}

#[tokio::test]
async fn two_nodes_of_one_authority_meet_also_by_an_intermediate_one() {
    let root = Authority::new("ours");
    let below = root.intermediate("below").node("b");
    let below = root.builder(&below).build().expect("the chain is whole");
    for dialler in [root.config("b"), below] {
        pair(&root.config("a"), &dialler).await;
    }
}

#[tokio::test]
async fn each_certificate_that_is_not_a_nodes_is_refused_in_both_directions() {
    let trust = Authority::new("ours");
    let (other, same_name) = (Authority::new("theirs"), Authority::new("ours"));
    let of_node = trust.from_leaf("c");
    let odd = |node: &str, change: &dyn Fn(&mut CertificateParams)| {
        trust.odd(node, |params| change(params))
    };
    let stolen = |node: &str| Leaf {
        key: trust.node(node).key,
        ..trust.node(node)
    };
    // TLS compares names without regard to case, but the name of a node is exact.
    let shouts = |node: &str| {
        let name = node.to_uppercase();
        odd(node, &|params| {
            params.subject_alt_names = vec![dns(&name)];
        })
    };
    let for_the_other_end = |node: &str| {
        let usage = match node {
            "b" => ExtendedKeyUsagePurpose::ServerAuth,
            _ => ExtendedKeyUsagePurpose::ClientAuth,
        };
        odd(node, &|params| {
            params.extended_key_usages = vec![usage.clone()]
        })
    };
    type Make<'a> = &'a dyn Fn(&str) -> Leaf;
    let rows: [(&str, Make<'_>, [&str; 2]); 11] = [
        ("another authority", &|it| other.node(it), [AUTHORITY; 2]),
        (
            "another authority of the same name",
            &|it| same_name.node(it),
            [DAMAGED; 2],
        ),
        ("none", &|it| self_signed(it), [AUTHORITY; 2]),
        ("a node as authority", &|it| of_node.node(it), [DAMAGED; 2]),
        (
            "expired",
            &|it| odd(it, &|params| valid(params, -3, -1)),
            [EXPIRED; 2],
        ),
        (
            "of the future",
            &|it| odd(it, &|params| valid(params, 1, 3)),
            [NOT_YET_VALID; 2],
        ),
        // The listener can send a goodbye to a node that it does not know. The dialler only closes the connection.
        ("another node", &|_| trust.node("c"), [STRANGER, NAME]),
        (
            "without a name",
            &|it| odd(it, &|params| params.subject_alt_names.clear()),
            [NAME; 2],
        ),
        ("in another case", &shouts, [NAME; 2]),
        ("for the other end", &for_the_other_end, [USAGE; 2]),
        ("without its key", &stolen, [DAMAGED; 2]),
    ];
    for (what, make, told) in rows {
        assert_eq!(both(&trust, make).await, told, "{what}");
    }
}

#[tokio::test]
async fn a_second_name_of_any_kind_is_refused() {
    let trust = Authority::new("ours");
    let text = |text: &str| text.to_owned().try_into().expect("ASCII");
    for extra in [
        dns("c"),
        dns("not a name!"),
        SanType::IpAddress(Ipv4Addr::LOCALHOST.into()),
        SanType::URI(text("spiffe://cluster/c")),
        SanType::Rfc822Name(text("c@example")),
    ] {
        for place in [0, 1] {
            let odd = |node: &str| {
                trust.odd(node, |params| {
                    params.subject_alt_names.insert(place, extra.clone());
                })
            };
            let told = both(&trust, odd).await;
            assert_eq!(told, [NAME; 2], "{extra:?} at {place}");
        }
    }
}

/// A dialler asks for the exact name, also where a wildcard would cover it. TLS alone would accept the wildcard.
#[tokio::test]
async fn a_wildcard_is_refused() {
    let trust = Authority::new("ours");
    let wild = trust.odd("a", |params| {
        params.subject_alt_names = vec![dns("*.nodes.example")];
    });
    let attacker = attacker::listener(&wild, vec![ALPN.to_vec()]);
    let nodes = ["b.nodes.example", "a.nodes.example"];
    for refusal in [
        dials(&trust, &Dialler::showing(&wild)).await,
        listens(&trust, nodes, attacker).await,
    ] {
        assert_eq!(refusal.why.to_string(), NAME);
        assert_eq!(refusal.names, ["*.nodes.example"]);
    }
}

/// The other end shows no certificate, or speaks an older version or another protocol. The tests enable TLS 1.2 in
/// the library for all crates, and this must not matter.
#[tokio::test]
async fn an_end_of_another_protocol_or_without_a_certificate_is_refused() {
    let trust = Authority::new("ours");
    let good = trust.node("b");
    let of_protocols = |protocols: &[&[u8]]| Dialler {
        protocols: protocols.iter().map(|it| it.to_vec()).collect(),
        ..Dialler::showing(&good)
    };
    for (dialler, told) in [
        (Dialler::anonymous(), NOT_SHOWN),
        (Dialler::old(&good), FAILED),
        (of_protocols(&[]), FAILED),
        (of_protocols(&[b"h2"]), FAILED),
        (of_protocols(&[b"actix-bully/2"]), FAILED),
    ] {
        let refusal = dials(&trust, &dialler).await;
        assert_eq!(refusal.why.to_string(), told, "{:?}", dialler.protocols);
    }
    // A listener without a certificate cannot speak TLS 1.3 at all.
    let of_no_protocol = attacker::listener(&trust.node("a"), vec![]);
    for attacker in [attacker::bare_listener(), of_no_protocol] {
        let refusal = listens(&trust, ["b", "a"], attacker).await;
        assert_eq!(refusal.why.to_string(), FAILED);
    }
}

/// The peer sends bytes of another protocol, or hangs up within a record of TLS.
#[tokio::test]
async fn what_is_not_tls_is_refused_and_a_peer_that_hangs_up_is_lost() {
    let trust = Authority::new("ours");
    for (said, told) in [
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n".as_slice(), NOT_TLS),
        // A frame of the bridge in plain text.
        (b"\x00\x00\x00\x10\x95\xa6magic\0\0\0\0\0\0\0\0\0", NOT_TLS),
        (
            b"\xff\xfe\xfd\xfc and more noise that is no record",
            NOT_TLS,
        ),
        (b"", LOST),
        (b"\x16\x03\x01", LOST),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", LOST),
    ] {
        let listener = trust.config("a");
        let (here, mut there) = pipe();
        there.write_all(said).await.expect("the pipe is open");
        there.shutdown().await.expect("the pipe is open");
        let refusal = refused(accept(&listener, Box::new(here), |_| true).await);
        assert_eq!(refusal.why.to_string(), told, "{said:?}");
        drop(refusal); // it holds the connection
        let mut heard = Vec::new();
        there.read_to_end(&mut heard).await.expect("the end");
        assert!(heard.len() <= 7, "an alert at most: {heard:?}");
    }
}

/// Two connections of the same two nodes have no state in common that an attacker could replay.
#[tokio::test]
async fn no_connection_is_resumed() {
    let trust = Authority::new("ours");
    let listener = trust.config("a");
    let config = Arc::new(Dialler::showing(&trust.node("b")).config());
    for _ in 0..3 {
        let (here, there) = pipe();
        let connector = TlsConnector::from(Arc::clone(&config));
        let name = ServerName::try_from("a").expect("a name");
        let (accepted, connected) = tokio::join!(
            accept(&listener, Box::new(here), |_| true),
            connector.connect(name, there)
        );
        let (mut accepted, _) = accepted.expect("a good certificate");
        let mut connected = connected.expect("the dialler trusts every node");
        // Session tickets would come before the first data.
        accepted.write_all(b"x").await.expect("open");
        accepted.flush().await.expect("open");
        assert_eq!(connected.read_u8().await.expect("open"), b'x');
        let session = connected.get_ref().1;
        assert_eq!(session.handshake_kind(), Some(rustls::HandshakeKind::Full));
        assert_eq!(session.tls13_tickets_received(), 0);
        assert!(!session.is_early_data_accepted());
    }
}
