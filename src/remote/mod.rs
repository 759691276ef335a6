//! The bridge: other hosts' agents as if they were here.
//!
//! ```text
//!   agents ─▶ Group ─▶ a queue for each node ─▶ writer ─▶ one write a turn ─────┐
//!     ▲                                                                         │
//!     │                      RemoteBridge, an actor: peers, links, events       │ link
//!     │                                                                         │
//!   Group ◀─ members and messages ◀─ Inbound ◀─ Handshake ◀─ wire::Frames ◀─────┘
//!                                   may it say   which node,  cuts frames,
//!                                   that, now?   which link   decodes them
//! ```
//!
//! Decided without a runtime: what bytes mean (`wire`), which node a peer is and whether it may
//! connect (`Handshake`), what it may say (`Inbound`, [`Rights`], `TermGuard`), how much of
//! everything ([`Limits`]), under which name a refusal is counted ([`Closed`], `DropReason`), when to
//! dial and which of two links stays (`bridge::peers`). The rest carries it out: [`RemoteBridge`] under
//! its `Guardian`, plain tasks for each connection, over any
//! [`transport`].
//!
//! | folder | what is in it |
//! |---|---|
//! | `bridge/` | the actor, its builder and handle, events and counters, the machine of each peer |
//! | `link/` | one connection: greet, read, write, and how fast |
//! | `carry/` | what crosses of a group: which agents run where, what waits, whose names and terms count |
//! | `wire/` | bytes: frames, and MessagePack in one spelling |
//! | `tls/`, `transport/` | streams between two hosts, encrypted or not, over sockets or over a network of your own |
//!
//! # The walk of one `Elect`
//! Ten stops from the bytes to a mailbox, each of which asks its own question:
//!
//! | stop | in | what happens there |
//! |---|---|---|
//! | `try_run` | `link/read.rs` | bytes are read, and each whole frame is handled |
//! | `next` | `wire/frames.rs` | a frame is cut out: is it too long? |
//! | `frame` | `link/inbound/mod.rs` | is it the next frame in the sequence? |
//! | `decode` | `wire/frame.rs` | what kind of frame is it, and is it well formed? |
//! | `deliver` | `link/deliver.rs` | the messages of a frame one by one; which agents do their numbers mean? |
//! | `read_next` | `wire/messages.rs` | one message: its numbers, and its payload, still bytes |
//! | `sender` | `link/inbound/mod.rs` | which agent says it, was it announced, in an incarnation that lasts? |
//! | `deliver` | `carry/group.rs` | may it say that: its role, the term, whose name is it? |
//! | `decode_payload` | `wire/payload.rs` | the message itself |
//! | `hand` | `../group/snapshot.rs` | into the mailboxes: is there room? |
//!
//! On the other side it came by `carry` (`carry/outbox/sink.rs`) and `push` (`carry/outbox/mod.rs`), which
//! encode it into the queue of that node, and by `turn` (`link/write.rs`), which writes all that waits.
//!
//! # What you can rely on
//! - **Order.** Messages from one agent to another arrive in the order in which they were said, but
//!   that a repeated one may be left out for a newer one. An agent is announced before its first
//!   message, and its end after its last one.
//! - **Once.** A message to many agents of a node crosses once, and everything that waits for a node
//!   in one turn crosses in one write.
//! - **Loss.** What was on its way when a link broke is lost, as elections expect. What still waits
//!   goes over the next link, if there is one within 2 s. An agent that says more than a link carries, or than
//!   [`LimitsBuilder::rate`] allows, loses the newest messages, repeated ones last. Every loss is counted.
//! - **Ends.** The end of an agent there is confirmed here as soon as it is there. The end of its
//!   process is suspected as soon as the redial is refused; a link that breaks and is made anew
//!   changes nothing for any member. What only falls silent is left to the elections' own deadlines.
//! - **Restarts.** A node that comes back is another incarnation, and so are its agents. A former incarnation is
//!   refused. A crash of the bridge itself costs its links, and no agent its membership.
//! - **Names.** An agent belongs to the node that announced it first. A node that announces it as well is
//!   told apart by an event, and gets the name when it is free.
//!
//! # Security
//! It listens on loopback unless you say otherwise; plain text goes over a network only by a method that is called
//! `dangerous_plaintext`. With the feature `tls`: TLS 1.3, both ends with a certificate of your own authority
//! whose one name is the node's, reloadable while it runs; `examples/certificates` makes throw-away ones.
//! **Without TLS a bridge believes what names its peers give**, and any local user can connect to loopback: such a
//! stranger can say that a leader has ended, and then two consider themselves leader. With the feature `secret` both
//! ends of every connection prove that they know one secret before anything else is read, by challenge and
//! response; it can be changed host by host. It encrypts nothing. A bridge with neither says so once, when
//! it starts.
//!
//! A peer may speak for every agent of the groups carried, unless you say for which, and as what they may
//! speak (`Peer::allow`): one that goes beyond that loses its link. What comes from a network is bounded
//! before it is read: frames, names, rates, connections, time.
//!
//! Trusted are peers within their rights; covered are the network, strangers, and peers that send nonsense; not
//! covered are peers that lie within their rights, and hosts that are taken over. `remote::tls` and
//! `remote::secret` have the threat model, `remote::wire` every byte.
//!
//! # What it is not
//! Every node is linked to every other one that it exchanges messages with: nothing is passed on.
//! That is right for a few dozen hosts, and for some hundreds of which a few vote. With the crate `actix-bully-zenoh` hosts
//! that cannot reach each other are linked through routers of zenoh. In available mode each side of a partition elects a leader;
//! use the [quorum mode](crate::agent::AgentBuilder::quorum) where that must not be.
//!
#![doc = include_str!("how_far.md")]
#![warn(clippy::arithmetic_side_effects)]
#![cfg_attr(
    not(feature = "testkit"),
    allow(
        dead_code,
        unnameable_types,
        unreachable_pub,
        unused_imports,
        reason = "what only tests of the crate use is public with the feature `testkit`"
    )
)]

#[cfg(feature = "secret")]
#[cfg_attr(docsrs, doc(cfg(feature = "secret")))]
pub mod secret;
#[cfg(feature = "sentinel")]
#[cfg_attr(docsrs, doc(cfg(feature = "sentinel")))]
pub mod sentinel;
#[cfg(feature = "tls")]
#[cfg_attr(docsrs, doc(cfg(feature = "tls")))]
pub mod tls;
pub mod transport;

mod advice;
mod bridge;
mod carry;
mod fault;
mod limits;
mod link;
mod node;
mod reason;
mod refusals;
#[cfg(feature = "serde")]
pub(crate) mod trial;
mod wire;

#[cfg(test)]
mod tests;

pub use bridge::{
    BridgeBuilder, BridgeCounts, BridgeError, BridgeEvent, BridgeHandle, DrainTimedOut, LinkStatus,
    Peer, PeerStatus, RemoteBridge, Traffic,
};
pub use carry::{GroupRules, MayBe, Rights};
pub use fault::CertificateFault;
pub use limits::{Limits, LimitsBuilder, LimitsError};
pub use node::{ClusterId, LinkId, NodeId, NodeIdError, NodeIncarnation};
pub use reason::Closed;

for_tests! {
    use {
        carry::{AllowedNames, TermFault},
        link::{Challenge, Credential, Proof},
        fault::SecretFault,
        reason::{DropReason, Farewell},
        wire::WireError,
    };
}

pub(crate) use bridge::BridgeCounters;
pub(crate) use carry::TermGuard;
pub(crate) use link::{
    Acquaintance, EndDigest, Established, FrameVerdict, GroupStanding, Handshake,
    HandshakeProgress, Inbound, Introduction, MessageSender, RosterChange,
};
pub(crate) use node::Nonce;
pub(crate) use refusals::Refusals;
pub(crate) use wire::{Bounds, decode_payload, encode_payload};

/// What fuzz targets and tests use of a bridge: what bytes mean, who may say what. No API is
/// promised.
#[cfg(feature = "testkit")]
#[doc(hidden)]
pub mod internals {
    pub use super::{
        bridge::{BridgeCounters, memory::later_incarnation},
        carry::TermGuard,
        link::{
            Acquaintance, EndDigest, Established, FrameVerdict, GroupStanding, Handshake,
            HandshakeProgress, Inbound, Introduction, MessageSender, RosterChange,
        },
        node::Nonce,
    };

    /// What bytes mean.
    pub mod wire {
        pub use crate::remote::wire::*;
    }
}

use serde::{Serialize, de::DeserializeOwned};

use crate::protocol::PeerMessage;

/// What one agent says to another across hosts: any [`PeerMessage`] with serde's two derives.
///
/// A type crosses if it is flat: numbers, texts, bytes, options, tuples, structs, arrays and enums.
/// Maps, and types that describe themselves (untagged or internally tagged enums), have no single
/// spelling: a map is refused where it is sent, and the others by the receiver. Leave no field out: no
/// `skip_serializing_if`.
pub trait RemoteMessage: PeerMessage + Serialize + DeserializeOwned {}

impl<M: PeerMessage + Serialize + DeserializeOwned> RemoteMessage for M {}

/// Whether a bridge over TCP takes an address for one that can be reached from this host only.
#[cfg(feature = "serde")]
pub(crate) fn is_loopback(address: &str) -> bool {
    use transport::{Tcp, Transport};
    Tcp::default().is_loopback(address)
}
