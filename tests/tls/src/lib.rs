//! What the tests of TLS have in common: authorities, certificates of every kind, and pairs of ends.
//!
//! Not here: any rule of TLS. Nodes in the tests are built by the crate's public API alone;
//! `attacker` holds the ends that break the rules.

//!
//! Like an application this package does without the feature `testkit`, so that it also shows what a
//! production build refuses. An address takes what an agent is asked:
//!
//! ```
//! use actix_bully::agent::{BullyElection, BullyHandle};
//!
//! fn holds_an_election(agent: &BullyHandle) {
//!     agent.addr().do_send(BullyElection);
//! }
//! ```
//!
//! There is no message that crashes or hangs it, nor one that crashes a bridge:
//!
//! ```compile_fail,E0432
//! use actix_bully::testkit::{CrashBridge, Inject};
//! ```

pub mod attacker;
pub mod authority;
pub mod ends;
pub mod middle;

pub use authority::{Authority, Leaf};
