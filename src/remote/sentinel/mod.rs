//! The sentinel: a tiny process beside the node, which reports to the peers that the node's process has ended.
//!
//! ```text
//!   node ──── pidfd of itself ───▶ sentinel ──── Ended { node, incarnation, secret } ───▶ every peer
//!     └────── orders, by a pipe ──────┘              one UDP datagram, four times
//! ```
//!
//! A process that is killed sends nothing, and its peers cannot know whether it has ended or is only silent: in quorum
//! mode they wait until the lease of the process expires. Only the kernel of the host knows whether the process has
//! ended. The sentinel waits for the kernel's report and forwards it. This is safe because a process of which no thread
//! is left leads nothing and starts nothing.
//!
//! # How it is used
//! Add one line at the top of a plain `main`, before any runtime, and one line to the bridge:
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
//! A node that starts from a configuration passes the sentinel to its bridge by the starter:
//!
#![cfg_attr(feature = "serde", doc = "```no_run")]
#![cfg_attr(not(feature = "serde"), doc = "```ignore")]
//! use actix_bully::{config::Config, remote::sentinel::Sentinel};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let sentinel = Sentinel::start()?;
//!     actix::System::new().block_on(async {
//!         let config = Config::load("/etc/jobs.toml", "JOBS")?;
//!         let node = config.starter()?.bridge(|bridge| bridge.sentinel(sentinel)).start()?;
//!         node.leave_on_signals(std::time::Duration::from_secs(10)).await?;
//!         Ok(())
//!     })
//! }
//! ```
//!
//! With actix-web the same lines are needed. `#[actix_web::main]` would start the runtime before the first line, so
//! use a plain `main` that calls the former `async fn main`.
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
//! If a node may run without a sentinel, pass `Sentinel::start().ok()`.
//!
//! # Rules
//! - For each incarnation the node draws 32 random bytes. The node gives the bytes to its sentinel only, and gives each
//!   peer the SHA-256 of the bytes over an authenticated link (TLS or a shared secret; a bridge with neither refuses to
//!   start with a sentinel). So the bytes prove the end, because only the sentinel reveals them.
//! - The sentinel believes only the pidfd of the node. A closed pipe does not mean the end: the node may have
//!   closed it. A stopped or traced process has not ended.
//! - A notice ends the agents of exactly the incarnation that it names; agents of later incarnations survive. A
//!   notice that is forged, late or replayed is counted (`notice_..` of
//!   [`BridgeCounts`](crate::remote::BridgeCounts)) and changes nothing.
//! - The sentinel is in a process group of its own and ignores SIGHUP, SIGINT and SIGTERM, so that it outlives the
//!   node. If it ends first, the node starts another sentinel with new bytes, and makes its links anew to tell its
//!   peers.
//! - If the node and the sentinel end at once (with the host, or with a layer below the node), the lease decides, as
//!   without a sentinel.
//!
//! The notice is about the node's process alone. Processes that the leader's work has started outlive a kill of the
//! node, and may still work beside the next leader. Let them end with their parent (`prctl(PR_SET_PDEATHSIG)`), or
//! give each of their writes the fence.
//!
//! Every bridge with this feature and TLS or a shared secret receives notices, with or without a sentinel of its
//! own: by UDP, at the address and port at which it listens. If a firewall closes that port, the lease decides.
//! Only a peer with an address gets a notice ([`Peer::new`](crate::remote::Peer::new)), at most 128 addresses in all.
//!
//! # Events that end both at once
//! - *A container's first process*: when it ends, the kernel kills the whole pid namespace, and the sentinel with
//!   it, before the sentinel has sent a notice. This happens if the node is that first process, or if the first
//!   process is an init that ends as soon as the node does. Below an init that lives on, as in a container with
//!   several services, the notice is sent.
//! - *systemd*: if the main process of a unit is killed, `KillMode=control-group` (the default) and `process` leave
//!   the sentinel enough time: the first signals the remaining processes by SIGTERM, which it ignores, and the second
//!   does not signal them. It ends by itself. With `KillMode=mixed` systemd kills the remaining processes at once, and races with the sentinel: of
//!   five ends, three were reported to both peers, one to one peer, and one to no peer. A kill of the whole control
//!   group (`systemctl kill -s KILL`, `TimeoutStopSec`) takes both: of five ends, two were reported.
//! - *Memory*: if a control group has no memory left, the kernel kills its largest process, which is the node. With
//!   `memory.oom.group` (systemd: `OOMPolicy=kill`) it kills all of them, and the sentinel too.
//!
//! Tested: kill -9, abort, SIGSTOP, SIGTERM and SIGINT to the sentinel, ports that are closed for UDP, the three
//! cases of a pid namespace, a seccomp filter without `pidfd_open` (`Sentinel::start` returns
//! [`SentinelError::Pidfd`]). Tried by hand, with `tests/sentinel/tests/trials.rs` of the commit 7601e6a2: the kill modes
//! of systemd 252, and a kill for memory. Not tested: a container engine and `memory.oom.group`.
//!
//! # Cost
//! One thread, no runtime. The sentinel is the program itself, started again, so it shares the node's pages of code
//! (`RssFile`). Its own memory is about half a MiB (`RssAnon`). The bytes of a notice are at most 298.
//!
//! Decided here: when a notice is sent (`Orders`, `Watched`, `EndNotice`), which notices are believed
//! (`Notices`), and how the process of a sentinel begins and ends. Not here: whose agents end by it, and when
//! another sentinel is started.

mod driver;
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

#[cfg(not(target_os = "linux"))]
use elsewhere::start;
#[cfg(target_os = "linux")]
use start::start;

pub use error::SentinelError;

for_tests! {
    use {
        driver::SentinelDriver,
        notice::{EndNotice, NoticeSecret},
        notices::{NoticeRefused, Notices},
        order::{Orders, Watched},
    };
}

/// A sentinel of this process, for one bridge ([`BridgeBuilder::sentinel`](crate::remote::BridgeBuilder::sentinel)).
///
/// Dropping it, or the end of its bridge, ends the sentinel without a notice.
#[derive(Debug)]
pub struct Sentinel {
    driver: Box<dyn SentinelDriver>,
}

impl Sentinel {
    /// Starts a sentinel. Call it first in a plain `main`, before any runtime and any output: a sentinel is the same
    /// program, started again with the same arguments, and in the sentinel's process this call never returns.
    ///
    /// # Errors
    /// [`SentinelError`]. Then no sentinel runs, and peers notice this process's end only when its lease ends.
    pub fn start() -> Result<Self, SentinelError> {
        start()
    }

    /// Returns a sentinel that `driver` runs, instead of a process of the operating system.
    #[cfg(feature = "testkit")]
    pub fn driven_by(driver: impl SentinelDriver + 'static) -> Self {
        Self {
            driver: Box::new(driver),
        }
    }

    /// Returns the process id of the sentinel.
    #[cfg(feature = "testkit")]
    pub fn id(&self) -> u32 {
        self.driver.id()
    }

    /// Gives the sentinel an order, which replaces the earlier order.
    pub(crate) fn order(&mut self, order: &Watched) -> Result<(), SentinelError> {
        self.driver.order(order)
    }

    /// Returns whether the sentinel has ended. If it has ended, start another sentinel, with new bytes.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.driver.has_ended()
    }

    /// Replaces this sentinel by a new sentinel, which has no order yet: call [`order`](Self::order).
    pub(crate) fn restart(&mut self) -> Result<(), SentinelError> {
        self.driver.restart()
    }
}
