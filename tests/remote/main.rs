//! The bridge on real actors: over pipes in virtual time, and over sockets.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a scene that cannot be set fails the test"
)]

mod changes;
#[path = "../common/mod.rs"]
mod common;
#[cfg(feature = "serde")]
mod configured;
mod decrees;
mod diagnosis;
mod diskless;
mod elections;
mod features;
mod flood;
mod freed;
mod kit;
mod limits;
#[path = "../common/logging.rs"]
mod logging;
#[cfg(feature = "serde")]
mod marked;
#[cfg(feature = "metrics")]
#[path = "../common/measured.rs"]
mod measured;
mod metrics;
mod names;
mod pipes;
mod proxy;
mod quiet;
#[cfg(all(feature = "secret", feature = "sentinel"))]
mod sentinels;
mod shortage;
mod slow;
mod stores;
mod strangers;
mod twins;
mod voters;
mod warnings;
