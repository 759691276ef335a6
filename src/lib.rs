//! Leader election for actors.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod clock;
pub mod elections;
pub mod faults;
pub mod group;
pub mod protocol;
pub mod store;
pub mod supervisor;
pub mod trace;
