//! The reasons for which a connection was refused, for counters and for the security log, never for the peer.
//!
//! Decided here: which failures have the same reason. Not here: where a failure is counted, and how often it is logged.

use std::{fmt, io};

use rustls::{AlertDescription, CertificateError};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use crate::remote::{CertificateFault, Closed};

/// The reason why a connection was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum TlsReason {
    /// The bytes are not TLS: another protocol, or noise.
    NotTls,
    /// TLS, but not version 1.3, or without common cryptography.
    Version,
    /// TLS 1.3 for another protocol than the bridge's.
    Protocol,
    /// The certificate of one side is not accepted.
    Certificate(CertificateFault),
    /// The peer refused this node, and does not give the reason.
    RefusedByPeer,
    /// The connection ended before the handshake was done.
    Lost,
    /// The peer broke the rules of TLS.
    Violation,
}

impl TlsReason {
    /// Returns the reason in words for people. The words may change.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotTls => "the peer sent something other than TLS",
            Self::Version => "the peer does not speak TLS 1.3",
            Self::Protocol => "the peer speaks another protocol over TLS",
            Self::Certificate(fault) => fault.as_str(),
            Self::RefusedByPeer => "the peer refused the connection",
            Self::Lost => "the connection ended during the handshake",
            Self::Violation => "the peer broke the rules of TLS",
        }
    }

    /// Returns the reason why a [`TlsStream`](super::TlsStream) could not be read or written; `None` if the reason is
    /// not TLS.
    ///
    /// The dialler needs it: in TLS 1.3 its handshake ends before the other side has judged its certificate, so the
    /// refusal arrives at the first read.
    pub fn of(error: &io::Error) -> Option<Self> {
        let error = error.get_ref()?.downcast_ref::<rustls::Error>()?;
        Some(Self::of_tls(error))
    }

    /// Returns whether the reason is about the identity of the peer, so that it belongs in the security log.
    pub const fn is_about_identity(self) -> bool {
        matches!(self, Self::Certificate(fault) if fault.is_of_peer())
    }

    /// Returns the reason under which the bridge counts this refusal.
    pub const fn closed(self) -> Closed {
        match self {
            Self::Certificate(fault) => Closed::Certificate(fault),
            Self::NotTls => Closed::NotEncrypted,
            Self::Lost => Closed::Lost,
            Self::Version | Self::Protocol | Self::RefusedByPeer | Self::Violation => Closed::Tls,
        }
    }

    /// Returns the reason why a handshake failed.
    pub(super) fn of_handshake(error: &io::Error) -> Self {
        Self::of(error).unwrap_or(Self::Lost)
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the library has many more errors, and may add some: each is a broken rule"
    )]
    fn of_tls(error: &rustls::Error) -> Self {
        match error {
            rustls::Error::InvalidMessage(_) => Self::NotTls,
            rustls::Error::PeerIncompatible(_) => Self::Version,
            rustls::Error::NoApplicationProtocol => Self::Protocol,
            rustls::Error::NoCertificatesPresented => Self::Certificate(CertificateFault::NotShown),
            rustls::Error::InvalidCertificate(error) => Self::Certificate(of_certificate(error)),
            rustls::Error::AlertReceived(alert) => Self::of_alert(*alert),
            _ => Self::Violation,
        }
    }

    /// Returns the reason for an alert that the peer sent after this side had shown its certificate.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "TLS has many more alerts, and none of them is about a certificate"
    )]
    const fn of_alert(alert: AlertDescription) -> Self {
        match alert {
            AlertDescription::UnknownCA => Self::Certificate(CertificateFault::OwnAuthority),
            AlertDescription::CertificateExpired => Self::Certificate(CertificateFault::OwnDates),
            AlertDescription::BadCertificate
            | AlertDescription::CertificateRequired
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnsupportedCertificate => {
                Self::Certificate(CertificateFault::OwnRefused)
            }
            _ => Self::RefusedByPeer,
        }
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the library has many more errors, and may add some: each is a damaged certificate"
)]
const fn of_certificate(error: &CertificateError) -> CertificateFault {
    match error {
        CertificateError::UnknownIssuer => CertificateFault::Authority,
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            CertificateFault::Expired
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            CertificateFault::NotYetValid
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            CertificateFault::Usage
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            CertificateFault::Name
        }
        _ => CertificateFault::Damaged,
    }
}

impl fmt::Display for TlsReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A refused connection and the reason. The connection stays open until this value is dropped.
pub struct TlsRefusal<S> {
    reason: TlsReason,
    names: Vec<String>,
    stream: Left<S>,
}

/// The remaining state of the connection.
pub(super) enum Left<S> {
    /// TLS was not established. Nothing may be sent there in plain text.
    Bare(S),
    Encrypted(Box<tokio_rustls::TlsStream<S>>),
    Nothing,
}

impl<S> TlsRefusal<S> {
    pub(super) const fn new(reason: TlsReason, stream: Left<S>) -> Self {
        Self {
            reason,
            names: Vec::new(),
            stream,
        }
    }

    pub(super) fn after_handshake(
        reason: TlsReason,
        names: Vec<String>,
        stream: tokio_rustls::TlsStream<S>,
    ) -> Self {
        Self {
            reason,
            names,
            stream: Left::Encrypted(Box::new(stream)),
        }
    }

    pub(super) fn into_parts(self) -> (TlsReason, Vec<String>, Left<S>) {
        (self.reason, self.names, self.stream)
    }

    /// Returns the reason.
    pub const fn reason(&self) -> TlsReason {
        self.reason
    }

    /// Returns the first DNS names of the peer's certificate, at most four, if the certificate was trusted in all other
    /// respects.
    ///
    /// They come from an authority that this side trusts. Nevertheless write them into a log only in quotes.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsRefusal<S> {
    /// Sends a goodbye, if the other end can receive it, and closes the connection.
    ///
    /// The caller sets the deadline. Nothing is read: bytes that the peer has sent meanwhile may make the operating
    /// system discard the goodbye.
    ///
    /// # Errors
    /// An error if the bytes cannot be sent. The connection is closed anyway.
    pub async fn close_with(self, goodbye: &[u8]) -> io::Result<()> {
        match self.stream {
            Left::Encrypted(mut stream) => {
                stream.write_all(goodbye).await?;
                stream.shutdown().await
            }
            Left::Bare(mut stream) => stream.shutdown().await,
            Left::Nothing => Ok(()),
        }
    }
}

impl<S> fmt::Display for TlsRefusal<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl<S> fmt::Debug for TlsRefusal<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsRefusal")
            .field("reason", &self.reason)
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

impl<S> std::error::Error for TlsRefusal<S> {}
