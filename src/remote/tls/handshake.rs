//! The two ends of a handshake: what they demand of the other end before anything is read from it.
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

use crate::remote::NodeId;

use super::{
    ALPN, TlsConfig, TlsReason, TlsRefusal, TlsStream,
    name::{names_of, node_of},
    refusal::Left,
};

impl TlsConfig {
    /// The handshake of the listener. The peer has to show a certificate of a trusted authority that
    /// names exactly one node, one for which `is_peer` says yes.
    ///
    /// There is no deadline in it: a peer that says nothing keeps it waiting for ever, so the caller
    /// has to drop it when the time for the whole handshake is over.
    ///
    /// # Errors
    /// [`TlsRefusal`] says why. The peer is told by a TLS alert at most; a node that is only not
    /// configured here can be told by [`TlsRefusal::close_with`].
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
            Ok(stream) => admit(stream.into(), is_peer, TlsReason::Stranger),
            Err((error, stream)) => Err(failed(&error, stream)),
        }
    }

    /// The handshake of the dialler. The peer has to show a certificate of a trusted authority that
    /// names exactly this node.
    ///
    /// There is no deadline in it, as in [`accept`](Self::accept). That it succeeds does not mean
    /// that the peer accepts us: a refusal comes with the first read.
    ///
    /// # Errors
    /// [`TlsRefusal`] says why.
    pub async fn connect<S>(&self, stream: S, node: &NodeId) -> Result<TlsStream<S>, TlsRefusal<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        // Never an address: a node has a name, wherever it runs.
        let Ok(name) = DnsName::try_from(node.as_str().to_owned()) else {
            return Err(TlsRefusal::new(TlsReason::Name, Left::Bare(stream)));
        };
        let connector = TlsConnector::from(Arc::clone(&self.identity().client));
        let connecting = connector.connect(ServerName::DnsName(name), stream);
        match connecting.into_fallible().await {
            Ok(stream) => admit(stream.into(), |found| found == node, TlsReason::Name),
            Err((error, stream)) => Err(failed(&error, stream)),
        }
    }
}

fn failed<S>(error: &io::Error, stream: S) -> TlsRefusal<S> {
    TlsRefusal::new(TlsReason::of_handshake(error), Left::Bare(stream))
}

/// What the library leaves open: that the protocol was agreed on, and which node this is.
fn admit<S>(
    stream: tokio_rustls::TlsStream<S>,
    is_peer: impl FnOnce(&NodeId) -> bool,
    otherwise: TlsReason,
) -> Result<TlsStream<S>, TlsRefusal<S>> {
    let session = stream.get_ref().1;
    // The library lets an end pass that names no protocol at all.
    if session.alpn_protocol() != Some(ALPN) {
        return Err(TlsRefusal::new(TlsReason::Protocol, Left::Nothing));
    }
    let Some(certificate) = shown(session) else {
        return Err(TlsRefusal::new(TlsReason::NoCertificate, Left::Nothing));
    };
    let (reason, names) = match node_of(certificate) {
        Ok(node) if is_peer(&node) => return Ok(TlsStream::new(stream, node)),
        Ok(_) => (otherwise, names_of(certificate)),
        Err(_) => (TlsReason::Name, names_of(certificate)),
    };
    Err(TlsRefusal::after_handshake(reason, names, stream))
}

/// The certificate of this very connection.
fn shown(session: &CommonState) -> Option<&CertificateDer<'static>> {
    // The first is the one whose key has signed; the others only lead to an authority.
    session.peer_certificates()?.first()
}
