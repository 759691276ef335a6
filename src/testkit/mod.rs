//! For tests: clusters in one process, virtual time, faults on purpose (feature
//! `testkit`).
//!
//! ```text
//!   cluster    agents in one process, driven by commands: crash, restart, partition, heal
//!   faults     what a network does to messages, seeded
//! ```
//!
//! For the machines alone, in a seeded world with virtual time, invariants and chaos, there is the crate [`bully_sim`].
//!
//! For tests of an application's own wiring:
//!
//! | to test | there is |
//! |---|---|
//! | your agents, with your options and your actors, under crash, freeze and partition | [`ClusterBuilder::wired`](cluster::ClusterBuilder::wired) |
//! | your messages to a leader that is cut off, frozen or killed | the same: [messages of applications](cluster#messages-of-applications) meet the cluster's faults |
//! | hosts with bridges, in one process and virtual time | [`Pipes`](crate::remote::transport::Pipes) as [`transport`](crate::remote::BridgeBuilder::transport), a [`Process`] for each, a [`KeptStore`] for its votes |
//! | a host that stands still, or is killed | [`Process::freeze`], [`Process::kill`] |
//! | a lease that runs out | [`Cluster::expire`](cluster::Cluster::expire), [`VirtualClock::skip`] |
//! | a disk that is slow, full or broken | [`FaultyStore`] |
//! | the events that an agent must send, and must not send | [`EventLog`] |
//!
//! An application turns the feature on for its tests only:
//!
//! ```toml
//! [dev-dependencies]
//! actix-bully = { version = "0.1", features = ["testkit"] }
//! ```
//!
//! A production build contains no part of this module. In particular it has no message that crashes or hangs an agent.
//! It also lacks [`VirtualClock`], with which a lease would last longer than the other agents assume.
#![cfg_attr(docsrs, doc(cfg(feature = "testkit")))]

pub mod cluster;

mod clock;
mod events;
mod inject;
mod kept;
mod process;
mod store;
mod system;

/// The faults of a cluster's network. All of them are in [`bully_sim::faults`].
pub mod faults {
    #[doc(inline)]
    pub use bully_sim::faults::{Conditions, ConditionsBuilder, ConditionsError};
}

pub use clock::{VirtualClock, VirtualWallClock};
pub use events::{EventLog, Unexpected};
pub use inject::{CrashBridge, Inject};
pub use kept::KeptStore;
pub use process::Process;
pub use store::FaultyStore;
pub use system::{VirtualSystem, virtual_system};
