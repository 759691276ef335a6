//! Leader election for actors.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod elections;
pub mod faults;
pub mod protocol;
pub mod sim;
pub mod supervisor;
pub mod trace;
