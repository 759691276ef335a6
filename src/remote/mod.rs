//! The bridge: agents of other hosts take part in a group as local agents do.
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
//! Decided without a runtime: the meaning of bytes (`wire`), which node a peer is and whether it may connect
//! (`Handshake`), which messages it may send (`Inbound`, [`Rights`], `TermGuard`), every limit ([`Limits`]), the name
//! under which a refusal is counted (`Closed`, `DropReason`), when a peer is dialled, and which of two links stays
//! (`bridge::peers`). Other parts carry these decisions out: [`RemoteBridge`] under its `Guardian`, and plain tasks for
//! each connection, over any [`transport`].
//!
//! | folder | content |
//! |---|---|
//! | `bridge/` | the actor, its builder and handle, events and counters, the state machine of each peer |
//! | `link/` | one connection: greet, read, write, and how fast |
//! | `carry/` | the traffic of a group: the node of each agent, the queues, the checks of names and terms |
//! | `wire/` | bytes: frames, and MessagePack in one spelling |
//! | `tls/`, `transport/` | streams between two hosts, encrypted or not, over sockets or over a network of your own |
//!
//! # The walk of one `Elect`
//! A message passes ten functions on its way from the bytes to a mailbox. Each function answers a question of its own:
//!
//! | stop | in | what happens there |
//! |---|---|---|
//! | `try_run` | `link/read.rs` | bytes are read, and each whole frame is handled |
//! | `next` | `wire/frames.rs` | a frame is cut out: is it too long? |
//! | `frame` | `link/inbound/mod.rs` | is it the next frame in the sequence? |
//! | `decode` | `wire/frame.rs` | what kind of frame is it, and is it well formed? |
//! | `deliver` | `link/deliver.rs` | the messages of a frame one by one; which agents do their numbers mean? |
//! | `next` | `wire/messages.rs` | one message: its numbers, and its payload, still bytes |
//! | `sender` | `link/inbound/mod.rs` | which agent sends it, was that agent announced, is its incarnation current? |
//! | `deliver` | `carry/group.rs` | may that agent send it: its role, the term, the owner of its name? |
//! | `decode_payload` | `wire/payload.rs` | the message itself |
//! | `hand` | `../group/snapshot.rs` | into the mailboxes: is there room? |
//!
//! On the sending node `carry` (`carry/outbox/sink.rs`) and `push` (`carry/outbox/mod.rs`) encode the message into the
//! queue of the other node, and `turn` (`link/write.rs`) writes all waiting messages.
//!
//! # What you can rely on
//! - **Order.** Messages from one agent to another arrive in the order in which they were sent. A repeated message may
//!   be left out if a newer message waits. An agent is announced before its first message, and its end after its last
//!   message.
//! - **Once.** A message to many agents of a node crosses once. All messages that wait for a node in one turn cross
//!   in one write.
//! - **Loss.** A message that was on its way when a link broke is lost, as elections expect. A message that still waits
//!   crosses on the next link, if that link is ready within 2 s. If an agent sends more than a link carries, or more
//!   than [`LimitsBuilder::rate`] allows, the newest messages are lost; repeated messages are the last to be lost.
//!   Every loss is counted.
//! - **Ends.** The end of a remote agent is confirmed here as soon as its node confirms it. The end of its process is
//!   suspected as soon as a new dial is refused. A link that breaks and is made anew changes nothing for any member. If
//!   a peer only falls silent, the deadlines of the elections decide.
//! - **Restarts.** A node that restarts has a later incarnation, and so do its agents. An earlier incarnation is
//!   refused. A crash of the bridge itself ends its links, but no agent loses its membership.
//! - **Names.** An agent belongs to the node that announced it first. If a second node announces the same agent, an
//!   event reports this, and the second node's agent gets the name when the name is free.
//!
//! # Security
//! A bridge listens on loopback by default. Unencrypted bytes cross a network only after a call of
//! `dangerous_plaintext`. With the feature `tls`: TLS 1.3; both ends show a certificate of your own authority whose
//! only name is the node's; certificates can be reloaded while the bridge runs; `examples/certificates` makes
//! certificates for a trial. **Without TLS a bridge believes the names that its peers send**, and any local user can
//! connect to loopback: such a stranger can report that a leader has ended, and then two agents consider themselves
//! leader. With the feature `secret` both ends of every connection prove by challenge and response that they know one
//! secret, before anything else is read. The secret can be changed host by host. A secret encrypts nothing. A bridge
//! with neither TLS nor a secret warns once, when it starts.
//!
//! By default a peer may send messages for every agent of the carried groups. `Peer::allow` limits the agents of a peer
//! and their roles: if a peer exceeds its rights, its link is closed. All input from a network is bounded before it is
//! read: frames, names, rates, connections, time.
//!
//! The threat model covers the network, strangers, and peers that send invalid data. Peers within their rights are
//! trusted. The threat model does not cover peers that lie within their rights, or hosts that an attacker controls.
//! `remote::tls` and `remote::secret` have the threat model, `remote::wire` has every byte.
//!
//! # Limits of the design
//! A node is linked to every other node with which it exchanges messages: no node forwards messages. This design suits
//! a few dozen hosts, or some hundreds of hosts with a few voters. With the crate `actix-bully-zenoh`, hosts that
//! cannot reach each other are linked through routers of zenoh. In available mode each side of a partition elects a
//! leader; use the [quorum mode](crate::agent::AgentBuilder::quorum) where that must not happen.
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
pub use carry::{MayBe, Rights};
pub use limits::{Limits, LimitsBuilder, LimitsError};
pub use node::{ClusterId, LinkId, NodeId, NodeIdError, NodeIncarnation};

for_tests! {
    use {
        link::{Challenge, Credential, Proof},
        reason::Farewell,
        wire::WireError,
    };
}

pub(crate) use bridge::BridgeCounters;
pub(crate) use carry::{GroupRules, TermFault, TermGuard};
pub(crate) use fault::{CertificateFault, SecretFault};
pub(crate) use link::{
    Acquaintance, EndDigest, Established, FrameVerdict, GroupStanding, Handshake, Inbound,
    Introduction, MessageSender, RosterChange,
};
pub(crate) use node::Nonce;
pub(crate) use reason::{Closed, DropReason};
#[cfg(unix)]
pub(crate) use refusals::Refusals;
pub(crate) use wire::{Bounds, decode_payload, encode_payload};

/// The parts of a bridge that fuzz targets and tests use: the meaning of bytes, and the rights to send. This is not a
/// stable API.
#[cfg(feature = "testkit")]
#[doc(hidden)]
pub mod internals {
    pub use super::{
        bridge::memory::later_incarnation,
        carry::TermGuard,
        link::{
            Acquaintance, EndDigest, Established, FrameVerdict, GroupStanding, Handshake, Inbound,
            Introduction, MessageSender, RosterChange,
        },
        node::Nonce,
    };

    /// The meaning of bytes.
    pub mod wire {
        pub use crate::remote::wire::*;
    }
}

use serde::{Serialize, de::DeserializeOwned};

use crate::protocol::PeerMessage;

/// A message from one agent to another that can cross to another host: any [`PeerMessage`] with serde's two derives.
///
/// A type can cross if it consists of numbers, texts, bytes, options, tuples, structs, arrays and enums. Maps, and
/// types that describe themselves (untagged or internally tagged enums), can be written in more than one form: the
/// sender refuses a map, and the receiver refuses the other types. Leave no field out: no `skip_serializing_if`.
pub trait RemoteMessage: PeerMessage + Serialize + DeserializeOwned {}

impl<M: PeerMessage + Serialize + DeserializeOwned> RemoteMessage for M {}

/// Returns whether a bridge over TCP considers an address reachable from this host only.
#[cfg(feature = "serde")]
pub(crate) fn is_loopback(address: &str) -> bool {
    use transport::{Tcp, Transport};
    Tcp::default().is_loopback(address)
}
