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
#[error("{}", self.as_str())]
#[non_exhaustive]
pub enum CertificateFault {
    /// The peer showed no certificate.
    NotShown,
    /// The authority of the peer's certificate is not trusted by this side.
    Authority,
    /// The peer's certificate, or one of its issuers', has expired.
    Expired,
    /// The peer's certificate, or a certificate of one of its issuers, is not valid yet.
    NotYetValid,
    /// The peer's certificate does not allow the peer's role in the connection, client or server.
    Usage,
    /// The peer's certificate is damaged, or belongs to another node.
    Damaged,
    /// The peer's certificate names no node, or another node than the one that was dialled.
    Name,
    /// The peer's certificate contains the name of a node that is not in the table of peers.
    Stranger,
    /// The peer does not trust the authority of this node's certificate.
    OwnAuthority,
    /// This node's certificate is out of date by the peer's clock.
    OwnDates,
    /// The peer does not accept this node's certificate, or saw none, and does not give the reason.
    OwnRefused,
}

impl CertificateFault {
    /// Returns the reason in words for people. The words may change.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::NotShown => "the peer showed no certificate",
            Self::Authority => {
                "the peer's certificate is of an authority that this node does not trust"
            }
            Self::Expired => "the peer's certificate has expired",
            Self::NotYetValid => "the peer's certificate is not valid yet",
            Self::Usage => "the peer's certificate does not allow the peer's end of a connection",
            Self::Damaged => "the peer's certificate is damaged, or not its own",
            Self::Name => "the peer's certificate does not name the expected node",
            Self::Stranger => {
                "the peer's certificate names a node that is not in this node's list of peers"
            }
            Self::OwnAuthority => {
                "the peer does not trust the authority of this node's certificate"
            }
            Self::OwnDates => {
                "the peer reports that this node's certificate has expired or is not valid yet"
            }
            Self::OwnRefused => "the peer does not accept this node's certificate",
        }
    }

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
    /// This side has a secret and the peer has none.
    #[error("the peer has no secret, and this node has one")]
    NotThere,
    /// The peer has a secret and this side has none.
    #[error("the peer asks for a secret, and this node has none")]
    NotHere,
    /// The peer proved nothing, or proved another secret.
    #[error("the peer did not prove that it knows the secret of this node")]
    Unproved,
}

impl SecretFault {
    /// Returns the text for the security log.
    pub(super) const fn detail(self) -> &'static str {
        match self {
            Self::NotThere => "it has no secret",
            Self::NotHere => "it asks for a secret",
            Self::Unproved => "it does not know the secret",
        }
    }
}
