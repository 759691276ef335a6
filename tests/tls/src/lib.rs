//! The common parts of the TLS tests: authorities, certificates of every kind, and pairs of ends.
//!
//! Not here: any rule of TLS. The tests build nodes only by the public API of the crate. `attacker` has the ends that
//! break the rules.

pub mod attacker;
pub mod authority;
pub mod ends;

pub use authority::{Authority, Leaf};
