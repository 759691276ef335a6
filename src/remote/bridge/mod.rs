//! The bridge of a process: the actor that manages the peers, and the state that its parts share.
//!
//! [`RemoteBridge`] decides nothing about a peer by itself: it carries out the answers of the pure state machine in
//! `peers`. `gate` decides which strangers get a slot. `events` and `counters` report to the application. `shared`
//! outlasts a crash of the actor.

mod accept;
mod actor;
mod builder;
mod counters;
mod decreed;
#[cfg(feature = "sentinel")]
pub(crate) mod ends;
#[cfg(not(feature = "sentinel"))]
#[path = "ends/absent.rs"]
pub(crate) mod ends;
mod error;
mod events;
mod expiry;
pub(crate) mod gate;
mod handle;
pub(in crate::remote) mod health;
mod leaders;
mod listening;
pub(crate) mod memory;
pub(crate) mod message;
mod noise;
mod peer;
pub(crate) mod peers;
#[cfg(feature = "metrics")]
mod sample;
pub(crate) mod shared;
pub(crate) mod status;
pub(crate) mod task;
#[cfg(test)]
mod tests;
mod voters;

pub use actor::RemoteBridge;
pub use builder::BridgeBuilder;
pub(crate) use counters::BridgeCounters;
pub use counters::BridgeCounts;
pub use error::{BridgeError, DrainTimedOut};
pub use events::BridgeEvent;
pub use handle::BridgeHandle;
pub use peer::Peer;
pub use status::{LinkStatus, PeerStatus, Traffic};
