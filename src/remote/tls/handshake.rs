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
//! The last line matters: the dialler learns of a refusal only when it reads
//! ([`TlsReason::of`](super::TlsReason::of)).

use std::{io, sync::Arc};

use rustls::{
    CommonState,
    pki_types::{CertificateDer, DnsName, ServerName},
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::remote::{CertificateFault, NodeId};

use super::{
    ALPN, TlsConfig, TlsReason, TlsRefusal, TlsStream,
    name::{names_of, node_of},
    refusal::Left,
};

impl TlsConfig {
    /// Runs the handshake of the listener. The peer has to show a certificate of a trusted authority that contains the
    /// name of exactly one node, and `is_peer` has to accept that node.
    ///
    /// The handshake has no deadline: it waits for ever for a silent peer, so the caller has to drop it after the time
    /// for the whole handshake.
    ///
    /// # Errors
    /// [`TlsRefusal`] contains the reason. The peer gets at most a TLS alert. A node that is refused only because it is
    /// not configured here can get a goodbye by [`TlsRefusal::close_with`].
    pub async fn accept<S>(
        &self,
        stream: S,
        is_peer: impl FnOnce(&NodeId) -> bool,
    ) -> Result<TlsStream<S>, TlsRefusal<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let acceptor = TlsAcceptor::from(Arc::clone(&self.identity().server));
        match acceptor.accept(stream).into_fallible().await {
            Ok(stream) => admit(
                stream.into(),
                is_peer,
                TlsReason::Certificate(CertificateFault::Stranger),
            ),
            Err((error, stream)) => Err(failed(&error, stream)),
        }
    }

    /// Runs the handshake of the dialler. The peer has to show a certificate of a trusted authority that contains
    /// exactly the name of this node.
    ///
    /// The handshake has no deadline, as in [`accept`](Self::accept). Its success does not mean that the peer accepts
    /// this node: a refusal arrives with the first read.
    ///
    /// # Errors
    /// [`TlsRefusal`] contains the reason.
    pub async fn connect<S>(&self, stream: S, node: &NodeId) -> Result<TlsStream<S>, TlsRefusal<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        // The name is never an IP address, because a node keeps its name on every host.
        let Ok(name) = DnsName::try_from(node.as_str().to_owned()) else {
            return Err(TlsRefusal::new(
                TlsReason::Certificate(CertificateFault::Name),
                Left::Bare(stream),
            ));
        };
        let connector = TlsConnector::from(Arc::clone(&self.identity().client));
        let connecting = connector.connect(ServerName::DnsName(name), stream);
        match connecting.into_fallible().await {
            Ok(stream) => admit(
                stream.into(),
                |found| found == node,
                TlsReason::Certificate(CertificateFault::Name),
            ),
            Err((error, stream)) => Err(failed(&error, stream)),
        }
    }
}

fn failed<S>(error: &io::Error, stream: S) -> TlsRefusal<S> {
    TlsRefusal::new(TlsReason::of_handshake(error), Left::Bare(stream))
}

/// Makes the checks that the library does not make: both ends agreed on the protocol, and the certificate names the
/// node.
fn admit<S>(
    stream: tokio_rustls::TlsStream<S>,
    is_peer: impl FnOnce(&NodeId) -> bool,
    otherwise: TlsReason,
) -> Result<TlsStream<S>, TlsRefusal<S>> {
    let session = stream.get_ref().1;
    // The library accepts an end that names no protocol at all.
    if session.alpn_protocol() != Some(ALPN) {
        return Err(TlsRefusal::new(TlsReason::Protocol, Left::Nothing));
    }
    let Some(certificate) = shown(session) else {
        return Err(TlsRefusal::new(
            TlsReason::Certificate(CertificateFault::NotShown),
            Left::Nothing,
        ));
    };
    let (reason, names) = match node_of(certificate) {
        Ok(node) if is_peer(&node) => return Ok(TlsStream::new(stream, node)),
        Ok(_) => (otherwise, names_of(certificate)),
        Err(_) => (
            TlsReason::Certificate(CertificateFault::Name),
            names_of(certificate),
        ),
    };
    Err(TlsRefusal::after_handshake(reason, names, stream))
}

/// Returns the peer's certificate.
fn shown(session: &CommonState) -> Option<&CertificateDer<'static>> {
    // The peer has proved its key for the first certificate. The others only lead to an authority.
    session.peer_certificates()?.first()
}
