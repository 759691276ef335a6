//! Leader election for actors.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod agent;
pub mod clock;
pub mod cluster;
pub mod elections;
pub mod faults;
pub mod group;
pub mod protocol;
pub mod store;
pub mod supervisor;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod trace;

/// The participants of one election; without a parameter, of a bully's.
pub type Group<M = elections::bully::BullyMessage> = group::Group<M>;
