//! The two ends of a handshake: the checks of the other end before anything is read from it.
//!
//! ```text
//! dialler                                            listener
//! ClientHello: TLS 1.3, ALPN          ──▶
//!                                     ◀──            ServerHello, ALPN, certificate, asks for one
//! trusted? names the node dialled?
//! certificate                         ──▶            trusted? names one node? a configured one?
//! handshake is over here              …              handshake is over
//! ```
//!
//! Note the last line: the dialler learns of a refusal only when it reads ([`closed_by`]).

use std::{io, sync::Arc};

use rustls::pki_types::{DnsName, ServerName};
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};

use crate::remote::{
    CertificateFault, Closed, NodeId,
    transport::{Secured, Stream, Unsecured},
};

use super::{
    ALPN, TlsConfig, closed_by,
    name::{names_of, node_of},
};

/// Runs the handshake of the listener. The peer has to show a certificate of a trusted authority that contains the name
/// of exactly one node, and `is_peer` has to accept that node.
///
/// The handshake has no deadline: it waits for ever for a silent peer, so the caller has to drop it after the time for
/// the whole handshake.
///
/// # Errors
/// [`Unsecured`] contains the reason. The peer gets at most a TLS alert. A peer with a valid certificate that is not
/// configured here gets a goodbye.
pub async fn accept(
    config: &TlsConfig,
    stream: Box<dyn Stream>,
    is_peer: impl FnOnce(&NodeId) -> bool,
) -> Result<Secured, Unsecured> {
    let acceptor = TlsAcceptor::from(Arc::clone(&config.identity().server));
    match acceptor.accept(stream).into_fallible().await {
        Ok(stream) => admit(stream.into(), is_peer, CertificateFault::Stranger),
        Err((error, stream)) => Err(failed(&error, stream)),
    }
}

/// Runs the handshake of the dialler. The peer has to show a certificate of a trusted authority that contains exactly
/// the name of this node.
///
/// The handshake has no deadline, as in [`accept`]. Its success does not mean that the peer accepts this node: a refusal
/// arrives with the first read.
///
/// # Errors
/// [`Unsecured`] contains the reason.
pub async fn connect(
    config: &TlsConfig,
    stream: Box<dyn Stream>,
    node: &NodeId,
) -> Result<Secured, Unsecured> {
    // The name is never an IP address, because a node keeps its name on every host.
    let name = DnsName::try_from(node.as_str().to_owned());
    let name = name.map_err(|_| Closed::Certificate(CertificateFault::Name))?;
    let connector = TlsConnector::from(Arc::clone(&config.identity().client));
    let connecting = connector.connect(ServerName::DnsName(name), stream);
    match connecting.into_fallible().await {
        Ok(stream) => {
            let is_dialled = |found: &NodeId| found == node;
            admit(stream.into(), is_dialled, CertificateFault::Name)
        }
        Err((error, stream)) => Err(failed(&error, stream)),
    }
}

/// Returns the refusal for a handshake that failed. Nothing may be sent on its stream in plain text.
fn failed(error: &io::Error, stream: Box<dyn Stream>) -> Unsecured {
    let why = closed_by(error).unwrap_or(Closed::Lost);
    // A polite end of the stream lets the alert arrive, which names the fault of the peer's certificate.
    let is_of_peer = matches!(why, Closed::Certificate(fault) if fault.is_of_peer());
    Unsecured {
        parting: is_of_peer.then_some((stream, None)),
        ..why.into()
    }
}

/// Makes the checks that the library does not make: both ends agreed on the protocol, and the certificate names the
/// node.
fn admit(
    stream: TlsStream<Box<dyn Stream>>,
    is_peer: impl FnOnce(&NodeId) -> bool,
    otherwise: CertificateFault,
) -> Result<Secured, Unsecured> {
    let session = stream.get_ref().1;
    // The library accepts an end that names no protocol at all.
    if session.alpn_protocol() != Some(ALPN) {
        return Err(Closed::Tls.into());
    }
    // The peer has proved that it has the key of the first certificate. The other certificates only lead to an
    // authority.
    let Some(certificate) = session.peer_certificates().and_then(<[_]>::first) else {
        return Err(Closed::Certificate(CertificateFault::NotShown).into());
    };
    let fault = match node_of(certificate) {
        Ok(node) if is_peer(&node) => return Ok((Box::new(stream), node)),
        Ok(_) => otherwise,
        Err(_) => CertificateFault::Name,
    };
    Err(Unsecured {
        why: Closed::Certificate(fault),
        names: names_of(certificate),
        parting: Some((Box::new(stream), Closed::Auth.farewell())),
    })
}
