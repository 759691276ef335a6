//! For tests: simulated worlds, clusters in one process, virtual time, faults on purpose (feature
//! `testkit`).
//!
//! ```text
//!   cluster    agents in one process, driven by commands: crash, restart, partition, heal
//!   sim        the machines alone, in a seeded world: virtual time, invariants, chaos
//!   faults     what a network does to messages, seeded
//!   trace      recorded runs, as text and as a diagram
//! ```
//!
//! An application switches it on for its tests only:
//!
//! ```toml
//! [dev-dependencies]
//! actix-bully = { version = "0.2", features = ["testkit"] }
//! ```
//!
//! A production build has none of it: in particular no message that crashes or hangs an agent, and
//! no clock that passes a paused time for one that counts a suspended host.
#![cfg_attr(docsrs, doc(cfg(feature = "testkit")))]

pub mod cluster;
pub mod faults;
pub mod sim;
pub mod trace;

mod clock;
mod inject;
mod store;
mod system;

pub use clock::VirtualClock;
pub use inject::{CrashBridge, Inject};
pub use store::FaultyStore;
pub use system::{VirtualSystem, virtual_system};
