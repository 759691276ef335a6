//! zenoh as the network of a bridge: the same groups, agents, rights and findings, without an address for each host.
//!
//! ```text
//!  bridge ── link: hello, secret or TLS, frames, heartbeats, limits, as over TCP
//!             │ a stream of bytes
//!  network ── ZenohStream ── flow: positions, window          hosts: whose token is there
//!             │ packets                                        │ tokens
//!  zenoh   ── bully/<cluster>/inbox/<host>/<session>          bully/<cluster>/live/<host>/<session>
//! ```
//!
//! Decided here: how a connection between two hosts is made of zenoh's messages, and what its tokens say of a host. Not
//! here: everything above a stream of bytes, which is word for word what it is over TCP. So what zenoh delivers is
//! as bounded and as distrusted as what a socket delivers.
//!
//! # When to use it
//! Where hosts come and go without fixed addresses, or sit in several subnets that only routers join. It costs about 270
//! crates, 10 to 15 threads and 12 to 14 MiB a process; for up to about thirty hosts that know each other's addresses the
//! bridge's own TCP is less. Every bridge is still linked with every peer that it is given: with many hosts let a
//! few of them vote and the others observe. Rust 1.89 suffices, as for actix-bully.
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
//! In a configuration it is the section `zenoh`, and the program starts by [`starter`] (feature `serde`).
//!
//! A peer is found by its name, and an address of it counts for nothing. One that is not seen within 10 s is told
//! of by [`BridgeEvent::NeverSeen`](actix_bully::remote::BridgeEvent::NeverSeen), as elsewhere: zenoh itself says nothing of a
//! router that cannot be reached, or of a neighbour whose certificate is not trusted, and goes on trying.
//!
//! # What you can rely on
//! - **An end is noticed at once** where its neighbour is: the token of a process that was killed is gone within
//!   milliseconds, a cut cable after 0.9 s by the bridge's own heartbeats. The end of a token is a suspicion, as a
//!   refused redial is over TCP, and the election finds out. Of three processes the other two knew the next leader 10 ms after
//!   a `kill -9` in the available mode, 0.32 s after it in the quorum mode, which waits for the lease.
//! - **A router that is away** ends links, and a client of it takes no host for ended, since all tokens go with it; it waits
//!   0.1 s to tell the one from the other. When the router is back, tokens are seen and links are made again.
//! - **Order and loss** are those of a link: a message that zenoh loses or repeats breaks the connection, which
//!   is made anew.
//!
//! # Security
//! Every process in the zenoh network can publish under any key, read every inbox, and declare the token of any host. Packets
//! that are none, belong to no connection or come too many are counted (`packet_malformed`, `packet_stray`,
//! `packet_refused`, `token_refused`) and ignored. **To know which host speaks, use the bridge's own
//! `.tls(..)`**: it runs end to end through all routers, and then `tcp/` may leave the host as well. With `.secret(..)`
//! each host proves that it knows the secret when a link begins; a stranger in the same network could still put
//! bytes into a link that it reads along. `quic/` keeps strangers out of the network; all holders of a
//! certificate of that authority are one domain of trust, which zenoh's access control can narrow. A stranger
//! inside can always break links, as one can that owns a switch.
//!
//! zenoh is built without compression: `lz4_flex` 0.10, by which it would decompress, makes of invalid data what was left in
//! memory (RUSTSEC-2026-0041). If another crate of an application asks for zenoh's feature `transport_compression`, Cargo
//! builds it in here as well: leave it switched off.
//!
//! Not here: a sentinel of actix-bully tells nothing over zenoh, as no address is known to it.

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
