//! The faults in the proof of a node: its certificate, or the secret.
//!
//! Decided here: which faults are distinguished, for the log and the diagnosis of this side. The peer learns only that
//! it is not accepted. Not here: the advice for each fault (`advice.rs`).

#![cfg_attr(
    feature = "testkit",
    expect(
        unnameable_types,
        reason = "tests read the name and the text of a reason, and no variant"
    )
)]

/// The reason why a certificate is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateFault {
    /// The peer showed no certificate.
    #[error("the peer showed no certificate")]
    NotShown,
    /// The authority of the peer's certificate is not trusted by this side.
    #[error("the peer's certificate is of an authority that this node does not trust")]
    Authority,
    /// The peer's certificate, or a certificate of one of its issuers, has expired.
    #[error("the peer's certificate has expired")]
    Expired,
    /// The peer's certificate, or a certificate of one of its issuers, is not valid yet.
    #[error("the peer's certificate is not valid yet")]
    NotYetValid,
    /// The peer's certificate does not allow the peer's role in the connection, client or server.
    #[error("the peer's certificate does not allow the peer's end of a connection")]
    Usage,
    /// The peer's certificate is damaged, or belongs to another node.
    #[error("the peer's certificate is damaged, or not its own")]
    Damaged,
    /// The peer's certificate names no node, or another node than the dialled node.
    #[error("the peer's certificate does not name the expected node")]
    Name,
    /// The peer's certificate contains the name of a node that is not in the table of peers.
    #[error("the peer's certificate names a node that is not in this node's list of peers")]
    Stranger,
    /// The peer does not trust the authority of this node's certificate.
    #[error("the peer does not trust the authority of this node's certificate")]
    OwnAuthority,
    /// This node's certificate is out of date by the peer's clock.
    #[error("the peer reports that this node's certificate has expired or is not valid yet")]
    OwnDates,
    /// The peer does not accept this node's certificate, or received none, and does not give the reason.
    #[error(
        "the peer refuses this node's certificate, or received none, and does not give the reason"
    )]
    OwnRefused,
}

#[cfg(feature = "tls")]
impl CertificateFault {
    /// Returns whether the fault is in the peer's certificate. Otherwise the peer reports a fault in this node's
    /// certificate. Any client can send such a report, so it proves nothing about the peer.
    pub(crate) const fn is_of_peer(self) -> bool {
        match self {
            Self::NotShown
            | Self::Authority
            | Self::Expired
            | Self::NotYetValid
            | Self::Usage
            | Self::Damaged
            | Self::Name
            | Self::Stranger => true,
            Self::OwnAuthority | Self::OwnDates | Self::OwnRefused => false,
        }
    }
}

/// The reason why two sides do not know the same secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum SecretFault {
    /// This side has a secret and the peer has no secret.
    #[error("the peer has no secret, and this node has one")]
    NotThere,
    /// The peer has a secret and this side has no secret.
    #[error("the peer asks for a secret, and this node has none")]
    NotHere,
    /// The peer proved nothing, or proved another secret.
    #[error("the peer did not prove that it knows the secret of this node")]
    Unproved,
}
