//! The sentinel: a tiny process beside the node, which tells the peers that the node's process has ended.
//!
//! ```text
//!   node ──── pidfd of itself ───▶ sentinel ──── Ended { node, incarnation, secret } ───▶ every peer
//!     └────── orders, by a pipe ──────┘              one UDP datagram, four times
//! ```
//!
//! A process that is killed says nothing, and its peers cannot know whether it is dead or silent: in quorum
//! mode they wait for its lease. The kernel of its own host does know. The sentinel waits for the kernel's
//! word and passes it on. That is safe because a process without threads believes nothing and starts nothing.
//!
//! # How it is used
//! One line at the top of a plain `main`, before any runtime, and one of the bridge:
//!
//! ```no_run
//! use actix_bully::{Group, remote::{Peer, RemoteBridge, secret::Secret, sentinel::Sentinel}};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let sentinel = Sentinel::start()?;
//!     actix::System::new().block_on(async {
//!         let group = Group::new("shop")?;
//!         let bridge = RemoteBridge::builder("host-a")
//!             .listen("10.0.0.1:7400")
//!             .peer(Peer::new("host-b", "10.0.0.2:7400"))
//!             .carry(&group)
//!             .secret(Secret::read_file("/run/secrets/cluster")?) // or .tls(..)
//!             .sentinel(sentinel)
//!             .dangerous_plaintext()
//!             .start()?;
//!         // agents, an HTTP server, ..
//!         Ok(())
//!     })
//! }
//! ```
//!
//! With actix-web it is the same: `#[actix_web::main]` would start the runtime before the first line, so a plain `main`
//! takes its place, and calls what was `async fn main`.
//!
#![cfg_attr(feature = "actix-web", doc = "```no_run")]
#![cfg_attr(not(feature = "actix-web"), doc = "```ignore")]
//! use actix_bully::remote::sentinel::Sentinel;
//! use actix_web::{App, HttpServer, rt::System, web};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let sentinel = Sentinel::start()?;
//!     System::new().block_on(serve(sentinel))
//! }
//!
//! async fn serve(sentinel: Sentinel) -> Result<(), Box<dyn std::error::Error>> {
//!     // The group, the bridge with `.sentinel(sentinel)`, the agents, and then the server:
//!     # drop(sentinel);
//!     let app = || App::new().route("/", web::get().to(async || "well"));
//!     HttpServer::new(app).bind(("0.0.0.0", 8080))?.run().await?;
//!     Ok(())
//! }
//! ```
//!
//! Where a node may run without one, `Sentinel::start().ok()` is taken as well.
//!
//! # Rules
//! - For each incarnation the node draws 32 random bytes, gives them to its sentinel only, and gives each peer
//!   their SHA-256 over an authenticated link (TLS or a shared secret; a bridge with neither refuses to start with a
//!   sentinel). So the bytes prove the end: who has them was told by the sentinel.
//! - The kernel's word is the pidfd of the node, and nothing else. A pipe that closes is no end: the node may
//!   have closed it. A stopped or traced process has not ended.
//! - A notice ends the agents of exactly the incarnation that it names, which later ones survive. What is forged, late,
//!   or replayed is counted (`notice_..` of [`BridgeCounts`](crate::remote::BridgeCounts)) and changes nothing.
//! - The sentinel is in a process group of its own and ignores SIGHUP, SIGINT and SIGTERM, so that it outlives the node. If it
//!   ends first, the node starts another one with new bytes, and links anew to tell its peers.
//! - Where both end at once (the host, or what is below), the lease decides, as without a sentinel.
//!
//! The notice is about the node's process alone. Processes that its leader's work has started outlive a kill of the node,
//! and may work on beside the next leader: let them end with their parent (`prctl(PR_SET_PDEATHSIG)`), or give each of
//! their writes the fence.
//!
//! Every bridge with this feature, TLS or a shared secret hears notices, whether it has a sentinel or not: at the
//! address and port at which it listens, by UDP. Where a firewall closes that port, the lease decides. Only a peer
//! with an address can be told ([`Peer::new`](crate::remote::Peer::new)), at most 128 addresses in all.
//!
//! # What ends both at once
//! - *A container's first process*: when it ends, the kernel kills the whole pid namespace, and the sentinel with it,
//!   before it has said anything. So it is where the node is that process, and where an init is that ends as soon as the
//!   node does. Below an init that lives on, as where one container has several services, the notice comes.
//! - *systemd*: where the main process of a unit is killed, `KillMode=control-group`, the default, and `process` leave the
//!   sentinel alone for long enough: they signal what remains by SIGTERM, which it ignores, and it ends by itself. With
//!   `KillMode=mixed` systemd kills what remains at once, and races with the sentinel: of five ends three were told to
//!   both peers, one to one of them, and one to none. A kill of the whole control group (`systemctl kill -s KILL`, `TimeoutStopSec`) takes both: of five, two
//!   were told.
//! - *Memory*: the kernel kills the largest process of a control group that has no memory left, which is the node. With
//!   `memory.oom.group` (systemd: `OOMPolicy=kill`) it kills all of them, and the sentinel too.
//!
//! Tried are kill -9, abort, SIGSTOP, SIGTERM and SIGINT to the sentinel, ports that are closed for UDP, the three cases of
//! a pid namespace, a seccomp filter without `pidfd_open` (`Sentinel::start` returns [`SentinelError::Pidfd`]), and by
//! `.ci/soak trials` the kill modes of systemd 252 and a kill for memory; not tried are a container engine and
//! `memory.oom.group`.
//!
//! # What it costs
//! One thread, no runtime. It is the program itself, started again, so its pages of code are those of the node; its own
//! memory is about half a MiB (`RssAnon`; the pages of code that it has touched, `RssFile`, are shared). The bytes of a notice are at most 298.
//!
//! Decided here: what is said when (`NodeWatch`, `Watched`, `EndNotice`), what is believed (`Notices`), and how
//! such a process begins and ends. Not here: whose agents end by it, and when another one is started.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod error;
mod notice;
mod notices;
mod order;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod start;
mod watch;

use std::fmt::Debug;

#[cfg(not(target_os = "linux"))]
use elsewhere::start;
#[cfg(target_os = "linux")]
use start::start;

pub use error::{OrderError, SentinelError};

for_tests! {
    use {
        notice::{EndNotice, NoticeSecret},
        notices::{NoticeRefused, Notices},
        order::{Orders, Watched},
        watch::{SentinelTask, NodeWatch, WatchEvent},
    };
}

/// A sentinel of this process, for one bridge ([`BridgeBuilder::sentinel`](crate::remote::BridgeBuilder::sentinel)).
///
/// Dropping it dismisses it: it says nothing then. So does the end of its bridge.
#[derive(Debug)]
pub struct Sentinel {
    driver: Box<dyn SentinelDriver>,
}

impl Sentinel {
    /// Starts a sentinel. Call it first in a plain `main`, before any runtime and any output: a sentinel is the program
    /// itself, started again with the same arguments, and in that process this call never returns.
    ///
    /// # Errors
    /// [`SentinelError`]: there is no sentinel, and the lease decides.
    pub fn start() -> Result<Self, SentinelError> {
        start()
    }

    /// One that something else drives than a process of the operating system.
    #[cfg(feature = "testkit")]
    pub fn driven_by(driver: impl SentinelDriver + 'static) -> Self {
        Self {
            driver: Box::new(driver),
        }
    }

    /// Its process.
    #[cfg(feature = "testkit")]
    pub fn id(&self) -> u32 {
        self.driver.id()
    }

    /// Orders it something. The newest order holds.
    pub(crate) fn order(&mut self, order: &Watched) -> Result<(), SentinelError> {
        self.driver.order(order)
    }

    /// Whether it has ended: start another one, with new bytes.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.driver.has_ended()
    }

    /// Starts another one in its place, which was ordered nothing.
    pub(crate) fn restart(&mut self) -> Result<(), SentinelError> {
        self.driver.restart()
    }
}

/// What drives a sentinel: its process, or a test.
#[cfg_attr(
    not(feature = "testkit"),
    allow(
        unnameable_types,
        unreachable_pub,
        reason = "only tests drive one otherwise"
    )
)]
pub trait SentinelDriver: Debug + Send {
    /// The process.
    fn id(&self) -> u32;

    /// Orders something. The newest order holds.
    ///
    /// # Errors
    /// [`SentinelError::Order`] for an order that it would not understand, [`SentinelError::Pipe`] if it does not read
    /// any more.
    fn order(&mut self, order: &Watched) -> Result<(), SentinelError>;

    /// Whether it has ended.
    fn has_ended(&mut self) -> bool;

    /// Starts another one in its place.
    ///
    /// # Errors
    /// [`SentinelError`], and nothing was changed.
    fn restart(&mut self) -> Result<(), SentinelError>;
}
