//! What the tests of TLS have in common: authorities, certificates of every kind, and pairs of ends.
//!
//! Not here: any rule of TLS. Nodes in the tests are built by the crate's public API alone;
//! `attacker` holds the ends that break the rules.

pub mod attacker;
pub mod authority;
pub mod ends;

pub use authority::{Authority, Leaf};
