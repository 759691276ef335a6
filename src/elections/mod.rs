//! The machines, a folder each; none knows another.
//!
//! The modes of the bully share their messages, so that a user sees one type.

pub mod bully;
pub mod message;
pub mod policy;
