//! The keys of the bridge: its address, its peers, and the proofs of identity.

use actix::clock::sleep;

use super::{
    Rows, Seen, check, rows,
    scene::{LINKED, SECONDS, Scene, leader, shown},
};
use crate::remote::{LinkStatus, PeerStatus};

pub(super) fn rows() -> Vec<Rows> {
    let mut rows = without_tls();
    rows.extend(tls::rows());
    rows
}

fn without_tls() -> Vec<Rows> {
    let secret = format!("{LINKED}\nsecret_file = \"FOLDER/secret\"");
    vec![
        rows!(
            "",
            over_tcp,
            r#"listen = "127.0.0.1:0" | "bridge":null | "listens":"127.0.0.1:"#
        ),
        rows!(
            "listen = \"0.0.0.0:0\"",
            over_tcp,
            r#"dangerous_plaintext = true | `listen` is "0.0.0.0:0" | "listens":"0.0.0.0:"#
        ),
        rows!(
            LINKED,
            beside_b(LINKED),
            r#"cluster = "other" | linked: true | "cluster":"#
        ),
        rows!(
            LINKED,
            beside_b(LINKED),
            r#"secret_file = "FOLDER/secret" | linked: true | "secret":"#
        ),
        rows!(
            secret,
            beside_b(FORMER),
            r#"former_secret_file = "FOLDER/former" | "secret": | linked: true"#
        ),
        rows!(
            LINKED,
            beside_b(LINKED),
            r#"memory_file = "FOLDER/memory" | ["former", "secret"] | "memory""#
        ),
        rows!(
            "listen = \"HERE\"",
            beside_b(INBOUND),
            r#"
            peers = [{ node = "b", address = "127.0.0.1:2" }] | "peers":[] | linked: true
            peers[].node: peers = [{ node = "c", address = "127.0.0.1:2" }] -> peers = [{ node = "b", address = "127.0.0.1:2" }] | linked: false | linked: true
            peers[].address: peers = [{ node = "b" }] -> peers = [{ node = "b", address = "127.0.0.1:2" }] | linked: false | linked: true
            peers[].rights: peers = [{ node = "b", address = "127.0.0.1:2" }] -> peers = [{ node = "b", address = "127.0.0.1:2", rights = [] }] | "member_count":2 | "member_count":1
            peers[].rights[].groups: peers = [{ node = "b", address = "127.0.0.1:2", rights = [{ agents = "b" }] }] -> peers = [{ node = "b", address = "127.0.0.1:2", rights = [{ agents = "b", groups = "other" }] }] | "member_count":2 | "member_count":1
            peers[].rights[].agents: peers = [{ node = "b", address = "127.0.0.1:2", rights = [{ groups = "jobs" }] }] -> peers = [{ node = "b", address = "127.0.0.1:2", rights = [{ groups = "jobs", agents = "c" }] }] | "member_count":2 | "member_count":1
            peers[].rights[].may_be: peers = [{ node = "b", address = "127.0.0.1:2", rights = [{ agents = "b" }] }] -> peers = [{ node = "b", address = "127.0.0.1:2", rights = [{ agents = "b", may_be = "voter" }] }] | b leads | a leads
        "#
        ),
        rows!(
            "listen = \"HERE\"\npeers = [{ node = \"a\", address = \"127.0.0.1:1\" }, { node = \"b\", address = \"127.0.0.1:2\" }]",
            beside_b(INBOUND),
            "peers_name_all = true | `peers[0].node` contradicts `node` | linked: true"
        ),
    ]
}

#[test]
fn each_key_of_the_bridge_shows() {
    check(&without_tls());
}

#[cfg(feature = "tls")]
#[test]
fn each_key_of_tls_shows() {
    check(&tls::rows());
}

/// Keys of the node `b` with the former secret.
const FORMER: &str = r#"
    listen = "HERE"
    peers = [{ node = "a", address = "127.0.0.1:1" }]
    secret_file = "FOLDER/former"
"#;

/// Keys of the node `b` that does not dial.
const INBOUND: &str = r#"
    listen = "HERE"
    peers = [{ node = "a" }]
"#;

/// Starts the node with a real socket.
#[expect(clippy::unused_async, reason = "each look is a future")]
async fn over_tcp(s: Scene) -> Seen {
    Ok(shown(&s.own().start()?))
}

/// Starts the node, and `b` with these keys.
async fn beside_b(s: Scene, b: &str) -> Seen {
    s.write("secret", "a secret of many bytes, which is the present one");
    s.write("former", "a secret of many bytes, which was the one before");
    let a = s.a()?;
    let b = format!("node = \"b\"\ngroup = \"jobs\"\n{b}");
    let b = s.start("b", &b).unwrap();
    sleep(SECONDS(20)).await;
    let linked = |peer: &PeerStatus| {
        peer.node.as_str() == "b" && matches!(peer.link, LinkStatus::Linked { .. })
    };
    let is_linked = a
        .bridge()
        .is_some_and(|bridge| bridge.peers().iter().any(linked));
    drop(b);
    Ok(format!(
        "linked: {is_linked}, {} leads, {} {:?}",
        leader(&a),
        shown(&a),
        s.files()
    ))
}

mod tls {
    //! The files of TLS. Without one of them nothing starts; with all of them the node links with `b` if that has
    //! them too.

    use super::{
        super::{certificates::certify, rows},
        LINKED, Rows, Scene, Seen, beside_b,
    };

    const AUTHORITIES: &str = "tls.authorities_file = \"FOLDER/ca.pem\"";
    const CERTIFICATE: &str = "tls.certificate_file = \"FOLDER/NODE.pem\"";
    const KEY: &str = "tls.key_file = \"FOLDER/NODE.key\"";

    pub(super) fn rows() -> Vec<Rows> {
        let of = |one: &str, other: &str| format!("{LINKED}\n{one}\n{other}");
        vec![
            rows!(
                of(CERTIFICATE, KEY),
                certified,
                r#"tls.authorities_file = "FOLDER/ca.pem" | `tls.authorities_file` is missing | linked: true"#
            ),
            rows!(
                of(AUTHORITIES, KEY),
                certified,
                r#"tls.certificate_file = "FOLDER/NODE.pem" | `tls.certificate_file` is missing | linked: true"#
            ),
            rows!(
                of(AUTHORITIES, CERTIFICATE),
                certified,
                r#"tls.key_file = "FOLDER/NODE.key" | `tls.key_file` is missing | linked: true"#
            ),
        ]
    }

    async fn certified(s: Scene) -> Seen {
        certify(&s);
        beside_b(s, &[LINKED, AUTHORITIES, CERTIFICATE, KEY].join("\n")).await
    }
}
