//! The bridge: other hosts' agents as if they were here.
//!
//! ```text
//!   bytes ──▶ wire::Frames ──▶ Handshake ──▶ Inbound ──▶ the group's mailboxes
//!             cuts frames,     who is it,    may it say
//!             decodes them     which link    that, now?
//! ```
//!
//! Decided here, without a runtime: what bytes mean ([`wire`]), who a peer is and whether it may
//! connect ([`Handshake`]), what it may say ([`Inbound`], [`Rights`], [`TermGuard`]), how much of
//! everything ([`Limits`]), and under which name a refusal is counted ([`Closed`], [`Dropped`]).
#![warn(clippy::arithmetic_side_effects)]

pub mod transport;
pub mod wire;

mod bridge;
mod builder;
mod carry;
mod connection;
mod counters;
mod error;
mod event;
mod gate;
mod handle;
mod handshake;
mod inbound;
mod limits;
mod message;
mod node;
mod peer;
mod reason;
mod rights;
mod shared;
mod status;
mod terms;
#[cfg(test)]
mod tests;

pub use bridge::RemoteBridge;
pub use builder::{BridgeBuilder, Peer};
pub use counters::{Counters, Counts};
pub use error::{BridgeError, DrainTimedOut};
pub use event::BridgeEvent;
pub use handle::BridgeHandle;
pub use handshake::{Acquaintance, Established, Handshake, Introduction, Progress};
pub use inbound::{Inbound, Letter, News, Passed, Standing, Verdict};
pub use limits::{Limits, LimitsBuilder, LimitsError};
pub use message::Crash;
pub use node::{ClusterId, LinkId, NodeId, NodeIdError, NodeIncarnation, Nonce};
pub use reason::{Closed, Dropped, Farewell};
pub use rights::{MayBe, Names, Rights};
pub use status::{LinkStatus, PeerStatus, Traffic};
pub use terms::{TermFault, TermGuard};

use serde::{Serialize, de::DeserializeOwned};

use crate::protocol::PeerMessage;

/// What one agent says to another across hosts: any [`PeerMessage`] with serde's two derives.
///
/// [`wire::encode_payload`] says which types cross: flat ones, without maps.
pub trait RemoteMessage: PeerMessage + Serialize + DeserializeOwned {}

impl<M: PeerMessage + Serialize + DeserializeOwned> RemoteMessage for M {}
