//! A lease in etcd: the first request shows its path and its user; the handshake of TLS shows the certificate.

use std::{net::TcpStream, sync::Arc};

use rustls::{
    RootCertStore, ServerConfig, ServerConnection, StreamOwned,
    crypto::ring::default_provider,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::WebPkiClientVerifier,
};

use super::server::{Asked, request};
use crate::config::tests::keys::{Rows, Seen, certificates::certify, rows, scene::Scene};

pub(super) fn rows() -> Vec<Rows> {
    let secure =
        |more: &str| format!("lease.etcd_endpoints = [\"https://localhost:PORT\"]\n{more}");
    let trusting = |file: &str| {
        secure(&format!(
            "lease.authorities_file = \"FOLDER/ca.pem\"\n{file}"
        ))
    };
    vec![
        rows!(
            "",
            plain,
            r#"lease.etcd_endpoints = ["http://127.0.0.1:PORT"] | nothing | POST /v3/kv/range"#
        ),
        rows!(
            "lease.etcd_endpoints = [\"http://127.0.0.1:PORT\"]",
            plain,
            r#"lease.etcd_login_file = "FOLDER/login" | POST /v3/kv/range | "name":"me""#
        ),
        rows!(
            secure(""),
            by_tls,
            r#"lease.authorities_file = "FOLDER/ca.pem" | https:// needs tls | by nobody"#
        ),
        rows!(
            trusting("lease.key_file = \"FOLDER/me.key\""),
            by_tls,
            r#"lease.certificate_file = "FOLDER/me.pem" | `lease.certificate_file` is missing | by me"#
        ),
        rows!(
            trusting("lease.certificate_file = \"FOLDER/me.pem\""),
            by_tls,
            r#"lease.key_file = "FOLDER/me.key" | `lease.key_file` is missing | by me"#
        ),
    ]
}

async fn plain(s: Scene) -> Seen {
    s.write("login", "me:sesame");
    let asked = Asked::of(&s, |mut client: TcpStream, asked: &Asked| {
        asked.note(&request(&mut client).unwrap_or_default());
    });
    let own = s.own();
    let _a = own.start()?;
    if own.lease.etcd_endpoints.is_empty() {
        return Ok("nothing".to_owned());
    }
    Ok(asked.until("POST").await)
}

/// Starts a server that accepts clients with a certificate, and without one.
async fn by_tls(s: Scene) -> Seen {
    certify(&s);
    let path = |name: &str| s.folder.path().join(name);
    let certificate = |name: &str| CertificateDer::from_pem_file(path(name)).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate("ca.pem")).unwrap();
    let provider = Arc::new(default_provider());
    let clients = WebPkiClientVerifier::builder_with_provider(roots.into(), Arc::clone(&provider));
    let clients = clients.allow_unauthenticated().build().unwrap();
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(clients)
        .with_single_cert(
            vec![certificate("localhost.pem")],
            PrivateKeyDer::from_pem_file(path("localhost.key")).unwrap(),
        );
    let (config, me) = (Arc::new(config.unwrap()), certificate("me.pem"));
    let asked = Asked::of(&s, move |client: TcpStream, asked: &Asked| {
        let server = ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut stream = StreamOwned::new(server, client);
        if request(&mut stream).is_some() {
            let shown = stream.conn.peer_certificates();
            let is_me = shown.is_some_and(|chain| chain[0] == me);
            asked.note(if is_me { "by me" } else { "by nobody" });
        }
    });
    let _a = s.own().start()?;
    Ok(asked.until("by ").await)
}
