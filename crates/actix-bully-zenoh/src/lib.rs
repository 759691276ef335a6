//! Uses zenoh as the network of a bridge: the same groups, agents, rights and findings, without an address for each
//! host.
//!
//! ```text
//!  bridge ── link: hello, secret or TLS, frames, heartbeats, limits, as over TCP
//!             │ a stream of bytes
//!  network ── ZenohStream ── flow: positions, window          hosts: whose token is there
//!             │ packets                                        │ tokens
//!  zenoh   ── bully/<cluster>/inbox/<host>/<session>          bully/<cluster>/live/<host>/<session>
//! ```
//!
//! Decided in this crate: how a connection between two hosts is made of zenoh's messages (`packet.rs`, `flow/`), which
//! connection a packet belongs to (`switchboard.rs`), whether a host is present, by its tokens (`keys.rs`, `hosts.rs`),
//! how a host is dialled (`network.rs`, the file to read next), and which endpoints and settings zenoh gets
//! (`options.rs`, `session.rs`). Not here: everything above a stream of bytes, which is the same as over TCP. The data
//! that zenoh delivers has the same limits and checks as the data of a socket.
//!
//! # When to use it
//! Use it if hosts come and go without fixed addresses, or are in several subnets that only routers connect. It costs
//! about 270 crates, 10 to 15 threads and 12 to 14 MiB a process. For up to about thirty hosts that know each other's
//! addresses, the bridge's own TCP costs less. Every bridge still has a link with each of its peers: with many hosts,
//! let a few of them vote and the other hosts observe. Rust 1.89 is enough, as for actix-bully.
//!
//! ```no_run
//! use actix_bully::{Group, remote::{Peer, RemoteBridge}};
//! use actix_bully_zenoh::{ZenohOptions, ZenohTransport};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # actix::System::new().block_on(async {
//! let group = Group::new("shop")?;
//! let bridge = RemoteBridge::builder("host-a")
//!     .transport(ZenohTransport::new(ZenohOptions::peer().listen("tcp/127.0.0.1:7447")))
//!     .peer(Peer::inbound("host-b"))
//!     .carry(&group)
//!     .start()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok(())
//! # }
//! ```
//! In a configuration, the section `zenoh` chooses zenoh as the network, and the program starts by [`starter`] (feature
//! `serde`).
//!
//! A peer is found by its name; its address is not used. A peer that is not seen within 10 s is reported by
//! [`BridgeEvent::NeverSeen`](actix_bully::remote::BridgeEvent::NeverSeen), as over TCP. zenoh itself does not report a
//! router that cannot be reached or a neighbour whose certificate is not trusted; zenoh tries to connect again and
//! again.
//!
//! # What you can rely on
//! - **An end is noticed at once** by neighbours in the network: the token of a process that was killed is gone within
//!   milliseconds; the bridge's own heartbeats notice a cut cable after 0.9 s. The end of a token is only a suspicion,
//!   as a refused redial is over TCP; the election finds out whether the process has ended. In a group of three
//!   processes, the other two knew the next leader 10 ms after a `kill -9` in the available mode. In the quorum mode,
//!   which waits for the lease, it took 0.32 s.
//! - **A router that is away** ends links. All tokens vanish with it, so a client waits 0.1 s to learn whether the
//!   router has ended. Then it reports no host as ended. When the router is back, tokens are seen and links are made
//!   again.
//! - **Order and loss** are the same as on any link: a message that zenoh loses or repeats breaks the connection, and a
//!   new connection is made.
//!
//! # Security
//! Every process in the zenoh network can publish under any key, read every inbox, and declare the token of any host.
//! Packets that are malformed, belong to no connection or come too many are counted (`packet_malformed`,
//! `packet_stray`, `packet_refused`, `token_refused`) and ignored. **To know which host speaks, use the bridge's own
//! `.tls(..)`**: it runs end to end through all routers, and then `tcp/` may leave the host as well. With `.secret(..)`
//! each host proves that it knows the secret when a link begins; a stranger in the same network that reads a link could
//! still put bytes into it. `quic/` keeps strangers out of the network; all holders of a certificate of that authority
//! are one domain of trust, which zenoh's access control can narrow. A stranger inside can always break links, as the
//! owner of a switch can.
//!
//! zenoh is built without compression: its decompressor, `lz4_flex` 0.10, can expose old contents of memory when it
//! reads invalid data (RUSTSEC-2026-0041). If another crate of an application asks for zenoh's feature
//! `transport_compression`, Cargo builds it in here as well: leave it switched off.
//!
//! Not here: a sentinel of actix-bully reports nothing over zenoh, because it does not know an address.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(clippy::arithmetic_side_effects)]

#[cfg(feature = "serde")]
mod config;
mod error;
mod flow;
mod hosts;
mod keys;
mod network;
mod options;
mod packet;
mod session;
mod switchboard;

/// The program of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

#[cfg(feature = "serde")]
#[cfg_attr(docsrs, doc(cfg(feature = "serde")))]
pub use config::starter;
pub use error::ZenohError;
pub use network::ZenohTransport;
pub use options::ZenohOptions;

#[cfg(test)]
mod tests;
