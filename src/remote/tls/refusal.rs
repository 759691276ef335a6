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
    /// The peer showed no certificate.
    NoCertificate,
    /// The peer's certificate is not from an authority that this side trusts.
    UnknownIssuer,
    /// The peer's certificate, or one of its issuers', has expired.
    Expired,
    /// The peer's certificate, or a certificate of one of its issuers, is not valid yet.
    NotYetValid,
    /// The peer's certificate does not allow the peer's role in the connection, client or server.
    Usage,
    /// The peer's certificate is damaged, or belongs to another node.
    Certificate,
    /// The peer's certificate names no node, or another node than the one that was dialled.
    Name,
    /// The peer's certificate is in order, but its node is not a configured peer.
    Stranger,
    /// The peer does not trust the authority of this side's certificate.
    OwnAuthority,
    /// This side's certificate has expired or is not valid yet, by the peer's clock.
    OwnDates,
    /// The peer does not accept this side's certificate, for another reason.
    OwnCertificate,
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
            Self::NoCertificate => "the peer showed no certificate",
            Self::UnknownIssuer => "the peer's certificate is not from a trusted authority",
            Self::Expired => "the peer's certificate has expired",
            Self::NotYetValid => "the peer's certificate is not valid yet",
            Self::Usage => "the peer's certificate does not allow the peer's end of a connection",
            Self::Certificate => "the peer's certificate is damaged or not its own",
            Self::Name => "the peer's certificate does not name the expected node",
            Self::Stranger => "the peer is a node that is not configured here",
            Self::OwnAuthority => "the peer does not trust the authority of the certificate here",
            Self::OwnDates => {
                "the peer reports that the certificate here has expired or is not valid yet"
            }
            Self::OwnCertificate => "the peer does not accept the certificate here",
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
        matches!(
            self,
            Self::NoCertificate
                | Self::UnknownIssuer
                | Self::Expired
                | Self::NotYetValid
                | Self::Usage
                | Self::Certificate
                | Self::Name
                | Self::Stranger
        )
    }

    /// Returns the reason under which the bridge counts this refusal.
    pub const fn closed(self) -> Closed {
        Closed::Certificate(match self {
            Self::NoCertificate => CertificateFault::NotShown,
            Self::UnknownIssuer => CertificateFault::Authority,
            Self::Expired => CertificateFault::Expired,
            Self::NotYetValid => CertificateFault::NotYetValid,
            Self::Usage => CertificateFault::Usage,
            Self::Certificate => CertificateFault::Damaged,
            Self::Name => CertificateFault::Name,
            Self::Stranger => CertificateFault::Stranger,
            Self::OwnAuthority => CertificateFault::OwnAuthority,
            Self::OwnDates => CertificateFault::OwnDates,
            Self::OwnCertificate => CertificateFault::OwnRefused,
            Self::NotTls => return Closed::NotEncrypted,
            Self::Lost => return Closed::Lost,
            Self::Version | Self::Protocol | Self::RefusedByPeer | Self::Violation => {
                return Closed::Tls;
            }
        })
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
            rustls::Error::NoCertificatesPresented => Self::NoCertificate,
            rustls::Error::InvalidCertificate(error) => Self::of_certificate(error),
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
            AlertDescription::UnknownCA => Self::OwnAuthority,
            AlertDescription::CertificateExpired => Self::OwnDates,
            AlertDescription::BadCertificate
            | AlertDescription::CertificateRequired
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnsupportedCertificate => Self::OwnCertificate,
            _ => Self::RefusedByPeer,
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the library has many more errors, and may add some: each is a damaged certificate"
    )]
    fn of_certificate(error: &CertificateError) -> Self {
        match error {
            CertificateError::UnknownIssuer => Self::UnknownIssuer,
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => Self::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                Self::NotYetValid
            }
            CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
                Self::Usage
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                Self::Name
            }
            _ => Self::Certificate,
        }
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
