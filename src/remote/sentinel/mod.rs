//! The sentinel: a tiny process beside the node, which tells the peers that the node's process has ended.
//!
//! ```text
//!   node ──── pidfd of itself ───▶ sentinel ──── Ended { node, incarnation, secret } ───▶ every peer
//!     └────── orders, by a pipe ──────┘              one UDP datagram, three times
//! ```
//!
//! A process that is killed says nothing, and its peers cannot know whether it is dead or silent: in quorum
//! mode they wait for its lease. The kernel of its own host does know. The sentinel waits for the kernel's
//! word and passes it on. That is safe because a process without threads believes nothing and starts nothing.
//!
//! # Rules
//! - For each incarnation the node draws 32 random bytes, gives them to its sentinel only, and gives each peer
//!   their SHA-256 over an authenticated link. So the bytes prove the end: who has them was told by the sentinel.
//! - The kernel's word is the pidfd of the node, and nothing else. A pipe that closes is no end: the node may
//!   have closed it. A stopped or traced process has not ended.
//! - A notice counts for exactly the incarnation that it names ([`Notices`]).
//! - The sentinel is in a process group of its own and ignores SIGINT and SIGTERM, so that it outlives the node.
//!   Where both die at once (the host, a container's first process), the lease decides, as without a sentinel.
//!
//! Decided here: what is said when ([`Watch`], [`Order`], [`Notice`]), what is believed ([`Notices`]), and how
//! such a process begins and ends ([`attend`], [`SentinelProcess`]). Not here: whose agents end by it.
//!
//! This module is unfinished: no bridge starts a sentinel yet.

mod error;
mod notice;
mod notices;
mod order;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod start;
#[cfg(not(target_os = "linux"))]
#[path = "elsewhere.rs"]
mod start;
mod watch;

pub use error::{OrderError, SentinelError};
pub use notice::{Digest, Notice, Secret};
pub use notices::{NoticeRefused, Notices};
pub use order::{Order, Orders, Watched};
pub use start::{SentinelProcess, attend};
pub use watch::{Task, Watch, WatchEvent};
