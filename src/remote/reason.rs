//! The reasons for which a link is closed or a message is dropped.
//!
//! Decided here: the name under which each reason is counted, and the farewell that the peer gets. After most breaches
//! the link is closed without a farewell, so that the sender of such bytes learns nothing.

#![cfg_attr(
    feature = "testkit",
    expect(
        unnameable_types,
        reason = "tests read the name and the text of a reason, and no variant"
    )
)]

use super::{CertificateFault, SecretFault, TermFault, wire::WireError};

/// The reason why a link was closed, or never became ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Closed {
    /// The link was not ready within the time limit after the connection was made.
    #[error(
        "the connection was made, but the peer did not complete the first exchange (the handshake) in time"
    )]
    HandshakeTimeout,
    /// A frame is longer than the limit.
    #[error("the peer sent a frame (a packet of messages) of {len} bytes, and the limit is {max}")]
    FrameTooLarge {
        /// The announced length in bytes.
        len: u64,
        /// The limit in bytes.
        max: usize,
    },
    /// A frame did not arrive completely within the time limit.
    #[error("the peer began a frame (a packet of messages) and did not end it in time")]
    FrameTimeout,
    /// The bytes are not a frame of this protocol, or are not in the only allowed form.
    #[error(
        "the peer sent malformed bytes: {0}; look whether its address belongs to another program"
    )]
    Malformed(WireError),
    /// A frame that is not allowed at this point, such as any other frame before HELLO, or a second HELLO.
    #[error("the peer sent a frame (a packet of messages) that is not allowed at this point")]
    Protocol,
    /// The two sides have no common version.
    #[error("this node and the peer have no version of the protocol in common")]
    Version,
    /// The peer belongs to another cluster.
    #[error("the peer belongs to another cluster")]
    Cluster,
    /// The peer claims to be this node.
    #[error("the peer has this node's name")]
    IsSelf,
    /// The peer is not in the table of peers, or its certificate contains another name.
    #[error("the peer uses a name that is not in this node's list of peers")]
    Auth,
    /// The node that answers is not the node that this side dialled.
    #[error("another node answers at the address that was dialled")]
    OtherNode,
    /// A certificate is not accepted, or none was shown. Counted as `auth_failed`, or as `tls` if the peer does not
    /// accept this node's certificate.
    #[error("{0}")]
    Certificate(CertificateFault),
    /// The two sides do not know the same secret.
    #[error("{0}")]
    Secret(SecretFault),
    /// The TLS handshake failed.
    #[error("the TLS handshake failed")]
    Tls,
    /// The peer speaks TLS, and this side does not. Counted as `tls`.
    #[error("the peer speaks TLS, and this node does not")]
    Encrypted,
    /// This side speaks TLS, and the peer sent something else. Counted as `tls`.
    #[error("this node speaks TLS, and the peer sent something else")]
    NotEncrypted,
    /// A later incarnation of the peer is known.
    #[error("this node already knows a process with the peer's name that started later")]
    Stale,
    /// An earlier process with the peer's name is linked, and the voters of a group have no disk. The later process
    /// takes no part while the earlier process lives.
    #[error("an earlier process with the peer's name is still connected")]
    NameHeld,
    /// The peer answered with the name of another link.
    #[error("the peer confirmed another connection in place of this connection")]
    WrongLink,
    /// A frame is missing, repeated or out of order.
    #[error(
        "the peer left out or repeated a frame (a packet of messages), because its number {found} came after {last}"
    )]
    Sequence {
        /// The number of the frame.
        found: u64,
        /// The number of the frame before it.
        last: u64,
    },
    /// The peer sent a message for an agent for which it has no rights, or that it never announced.
    #[error("the peer sent a message in the name of an agent that is not its own")]
    FromNotAllowed,
    /// The peer's agent sent a message that needs higher rights.
    #[error("the peer's agent sent {kind}, which the peer's rights here do not allow")]
    Role {
        /// The [kind](crate::protocol::PeerMessage::kind) of the message.
        kind: &'static str,
    },
    /// The peer began its groups anew too often.
    #[error("the peer announced its groups again too often")]
    Openings,
    /// The peer sent too many messages to agents or groups that do not exist here.
    #[error("the peer sent too many messages to agents or groups that this node does not have")]
    UnknownTargets,
    /// The peer sent a term that no honest peer can know.
    #[error("the peer sent an impossible term (the number of an election): {0}")]
    Term(TermFault),
    /// The peer announced too many groups or agents.
    #[error("the peer announced more groups or agents than the limits of this node allow")]
    TooManyAgents,
    /// The peer sent more bytes than the limit allows.
    #[error("the peer sends faster than the limit `rate` of this node allows")]
    Rate,
    /// This side has more groups or agents than the peer accepts. This side does not announce groups or agents that the
    /// peer would refuse.
    #[error("this node has more groups or agents than the peer's limits allow")]
    PeerLimit,
    /// The peer does not read: the queue for it is full or too old, or a write took too long.
    #[error("the peer reads too slowly")]
    SlowPeer,
    /// The peer sent nothing for too long.
    #[error("the peer is silent")]
    Silent,
    /// Another link to the same peer replaced this link.
    #[error("another connection to the same peer replaced this connection")]
    Replaced,
    /// Too many connections exist, in all or from one address.
    #[error("this node has too many connections")]
    TooManyConnections,
    /// The connection ended or failed.
    #[error("the connection ended")]
    Lost,
    /// The peer said goodbye.
    #[error("the peer said goodbye: {0}")]
    Goodbye(Farewell),
    /// This side stops, or the peer was removed from the table.
    #[error("this node stops, or has removed the peer")]
    Leaving,
}

/// Gives each reason the name under which it is counted.
macro_rules! named {
    ($reason:ident: $($name:literal $pattern:pat,)*) => {
        impl $reason {
            /// All names, in the order of the counters.
            pub(crate) const NAMES: &[&str] = &[$($name),*];

            /// Returns the name under which this reason is counted.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $($pattern => $name),* }
            }
        }
    };
}

named! { Closed:
    "handshake_timeout" Self::HandshakeTimeout,
    "frame_too_large" Self::FrameTooLarge { .. },
    "frame_timeout" Self::FrameTimeout,
    "malformed" Self::Malformed(_),
    "protocol" Self::Protocol,
    "version" Self::Version,
    "cluster" Self::Cluster,
    "self" Self::IsSelf,
    "tls" Self::Tls
        | Self::Encrypted
        | Self::NotEncrypted
        | Self::Certificate(
            CertificateFault::OwnAuthority
                | CertificateFault::OwnDates
                | CertificateFault::OwnRefused,
        ),
    "auth_failed" Self::Auth | Self::OtherNode | Self::Certificate(_),
    "stale" Self::Stale,
    "wrong_link" Self::WrongLink,
    "sequence" Self::Sequence { .. },
    "from_not_allowed" Self::FromNotAllowed,
    "unknown_targets" Self::UnknownTargets,
    "term" Self::Term(_),
    "too_many_agents" Self::TooManyAgents,
    "rate" Self::Rate,
    "slow_peer" Self::SlowPeer,
    "silent" Self::Silent,
    "replaced" Self::Replaced,
    "too_many_connections" Self::TooManyConnections,
    "lost" Self::Lost,
    "goodbye" Self::Goodbye(_),
    "leaving" Self::Leaving,
    "secret" Self::Secret(_),
    "role" Self::Role { .. },
    "openings" Self::Openings,
    "peer_limit" Self::PeerLimit,
    "name_held" Self::NameHeld,
}

impl Closed {
    /// Returns the farewell that the peer gets before the link is closed; `None` if it gets no farewell.
    #[must_use]
    pub(crate) const fn farewell(self) -> Option<Farewell> {
        match self {
            Self::Version => Some(Farewell::Version),
            Self::Cluster => Some(Farewell::Cluster),
            Self::IsSelf => Some(Farewell::IsSelf),
            Self::Auth | Self::OtherNode | Self::Certificate(_) => Some(Farewell::Auth),
            Self::Secret(_) => Some(Farewell::Secret),
            Self::Stale => Some(Farewell::Stale),
            Self::NameHeld => Some(Farewell::NameHeld),
            Self::Replaced => Some(Farewell::Replaced),
            Self::Leaving => Some(Farewell::Leaving),
            Self::HandshakeTimeout
            | Self::FrameTooLarge { .. }
            | Self::FrameTimeout
            | Self::Malformed(_)
            | Self::Protocol
            | Self::Tls
            | Self::Encrypted
            | Self::NotEncrypted
            | Self::WrongLink
            | Self::Sequence { .. }
            | Self::FromNotAllowed
            | Self::Role { .. }
            | Self::Openings
            | Self::UnknownTargets
            | Self::Term(_)
            | Self::TooManyAgents
            | Self::Rate
            | Self::PeerLimit
            | Self::SlowPeer
            | Self::Silent
            | Self::TooManyConnections
            | Self::Lost
            | Self::Goodbye(_) => None,
        }
    }
}

#[cfg(feature = "testkit")]
impl From<Closed> for &'static str {
    fn from(why: Closed) -> Self {
        why.name()
    }
}

impl From<WireError> for Closed {
    fn from(error: WireError) -> Self {
        Self::Malformed(error)
    }
}

impl From<TermFault> for Closed {
    fn from(fault: TermFault) -> Self {
        Self::Term(fault)
    }
}

/// The reason for a goodbye. On the wire the reason is a number from 0 to 255. A number that this version does not know
/// is [`Other`](Self::Other).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Farewell {
    /// 0: the sender stops, or has removed the peer from its table.
    #[error("it stops")]
    Leaving,
    /// 1: the two sides have no common version.
    #[error("it has no version of the protocol in common with this node")]
    Version,
    /// 2: the two sides belong to different clusters.
    #[error("it belongs to another cluster")]
    Cluster,
    /// 3: "you have my name".
    #[error("this node has its name")]
    IsSelf,
    /// 4: "I know a later incarnation of you".
    #[error("it knows a later process with this node's name")]
    Stale,
    /// 5: the other side is not allowed to connect; no detail is given.
    #[error("this node is not allowed to connect")]
    Auth,
    /// 6: another link replaces this link.
    #[error("another connection replaces this connection")]
    Replaced,
    /// 7: the two sides do not know the same secret.
    #[error("the two sides do not know the same secret")]
    Secret,
    /// 8: "an earlier process of your name is linked here".
    #[error(
        "an earlier process with this node's name is linked there, and this process takes no part while the earlier process runs"
    )]
    NameHeld,
    /// Any other number.
    #[error("for reason {0}, which this release does not know")]
    Other(u8),
}

impl Farewell {
    /// The reasons that this release knows. The index of a reason is its number on the wire.
    const KNOWN: [Self; 9] = [
        Self::Leaving,
        Self::Version,
        Self::Cluster,
        Self::IsSelf,
        Self::Stale,
        Self::Auth,
        Self::Replaced,
        Self::Secret,
        Self::NameHeld,
    ];

    /// Returns the number on the wire.
    #[must_use]
    pub(crate) fn code(self) -> u8 {
        if let Self::Other(code) = self {
            return code;
        }
        let number = Self::KNOWN.iter().position(|known| *known == self);
        number
            .and_then(|at| u8::try_from(at).ok())
            .unwrap_or(u8::MAX)
    }
}

impl From<u8> for Farewell {
    fn from(code: u8) -> Self {
        let known = Self::KNOWN.get(usize::from(code)).copied();
        known.unwrap_or(Self::Other(code))
    }
}

/// The reason why a message, or the roster of a group, was dropped while its link remained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DropReason {
    /// The group is not carried here.
    UnknownGroup,
    /// The receiver is not in this process.
    UnknownAgent,
    /// The two sides follow different rules in this group.
    Mismatch,
    /// The message is from an earlier incarnation of the sender.
    FormerIncarnation,
    /// The sender is not a member of the group under its node. Either an agent of another node has the name; or the
    /// node's agents are not members because the node followed other rules, and the message came late on a link that
    /// was replaced.
    RefusedName,
    /// The receiver's mailbox is full, or contains as many bytes from other hosts as
    /// [`LimitsBuilder::mailbox`](super::LimitsBuilder::mailbox) allows: the receiver is too slow. Counted once for
    /// each receiver.
    MailboxFull,
    /// A voter sent a term that is more than 2^20 above the highest term known here, and a quorum of voters has not yet
    /// sent a term as high. Either this node was cut off for a long time, or the voter lies.
    UnvouchedTerm,
    /// A message of an agent of this process has more items, longer texts or a longer frame than the peer accepts. It
    /// was not sent, because the peer would close the link.
    TooMuchForPeer,
}

named! { DropReason:
    "unknown_group" Self::UnknownGroup,
    "unknown_agent" Self::UnknownAgent,
    "mismatch" Self::Mismatch,
    "former_incarnation" Self::FormerIncarnation,
    "refused_name" Self::RefusedName,
    "mailbox_full" Self::MailboxFull,
    "unvouched_term" Self::UnvouchedTerm,
    "too_much_for_peer" Self::TooMuchForPeer,
}
