//! Mutual TLS between bridges: which node a node takes its peer for.
//!
//! ```text
//!  identity   own certificate, key, authorities: read, checked, fixed       config: and reloaded     renewal: when
//!     │ settings of the library: TLS 1.3 only, nothing resumed, nothing early
//!  handshake  accept · connect, over any stream
//!     │ name: exactly one DNS name, and it is the node's
//!  TlsStream  bytes from and to a known peer         or TlsRefusal: why not, for the security log
//! ```
//!
//! Decided here: which process may open a connection as which node. Not here: what a node may say then
//! ([`Rights`](super::Rights)), how long a handshake may take (the caller's deadline: the library
//! has none), and how many of them may run at once.
//!
//! # What is demanded
//! - TLS 1.3 with the application protocol `actix-bully/1`; no older version, no session tickets, no
//!   resumption, no early data. Nothing that was recorded can be played again.
//! - A certificate from **both** ends, from an authority that *you* list. Those of the operating
//!   system do not count.
//! - The certificate's subject alternative names are the node's name, of the kind DNS, and nothing
//!   else: a missing, second or wildcard name is refused, of whatever kind. The common name does not
//!   count. The dialler demands the node that it dialled; the listener demands a configured one.
//! - The key usages fit: `serverAuth` for the listener, `clientAuth` for the dialler; a certificate
//!   without extended key usages serves both.
//!
//! # Threat model
//! | attacker | what is done about it |
//! |---|---|
//! | the network: reads, changes, cuts, replays | TLS 1.3; a cut is silence, and silence is what elections are for |
//! | a client without a certificate, or with another node's | refused in the handshake, counted; the limits of the bridge bound how many there are at once, and for how long; of the time of its thread those from addresses of no peer have a fifth |
//! | a node that is not configured here, with a certificate of the same authority | refused after the handshake, with a security event |
//! | a configured node with a bug | its frames are judged one by one: names, roles, terms, sequence, size, rate |
//! | **trusted**: a configured node within its rights | it can win an election that it may take part in, or disturb it |
//!
//! Not covered: nodes that lie within their own groups (no election here is Byzantine), a host or an
//! authority's key in the wrong hands, and an observer of the sizes and times of packets. Nobody but
//! the peers sees a node's name: it is in no part of the handshake that is in the clear.
//!
//! There are no revocation lists. A node that is no longer welcome is removed from the peers, which
//! ends its link at once; certificates that live for weeks rather than years do the rest.
//!
//! Certificates depend on the wall clock, elections never do: a clock that jumps can refuse new
//! connections, and ends none.
//!
//! # Secrets
//! No type here shows a key by `Debug` or in an error. Our copies of the key are wiped when they are
//! done with. The library's own working copy lasts as long as the configuration, and what its PEM
//! reader leaves in memory in passing is beyond reach: protect core dumps and swap.
//!
//! # Without certificates
//! On loopback a shared secret (feature `secret`) says which node is there, too, and is less to look after; it
//! encrypts nothing. A bridge that has both asks for both.
//!
//! # Certificates to try it with
//! `cargo run --manifest-path examples/certificates/Cargo.toml -- DIR node-a node-b` in a checkout
//! makes an authority and a certificate for each node. Its authority's key lies beside them, which is
//! right for a trial and for nothing else.
//!
//! # Certificates to rely on
//! Use an authority of your own for this cluster alone: step-ca, Vault, cert-manager, or OpenSSL 3.
//! Its key belongs on no node. Each node makes its key where it stays, and sends a request with one
//! name:
//!
//! ```text
//! authority$ openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -days 3650 \
//!                -subj "/CN=our cluster" -keyout ca.key -out ca.pem
//! node-a$    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj / \
//!                -addext subjectAltName=DNS:node-a -keyout node-a.key -out node-a.csr
//! authority$ openssl x509 -req -in node-a.csr -CA ca.pem -CAkey ca.key -days 30 \
//!                -copy_extensions copy -out node-a.pem
//! ```
//!
//! The authority signs what the request asks for: look at the name in it first.
//!
//! Put the new files in place by renaming: a bridge reads them before its next handshake. A pair of certificate and key
//! that does not fit is not used, and told at `warn`. Ask [`TlsConfig::expires_within`] in time, and
//! [`TlsConfig::reload`] whether new files fit. To change the authority, list the old and the new one
//! everywhere, then change the certificates, then drop the old one.

mod certificate;
mod config;
mod error;
mod handshake;
mod identity;
mod name;
mod refusal;
mod renewal;
mod security;
mod stream;

pub use config::{TlsConfig, TlsConfigBuilder};
pub use error::{TlsDetail, TlsError, TlsUsage};
pub use name::NameFault;
pub use refusal::{TlsReason, TlsRefusal};
pub use stream::TlsStream;

pub use bully_register::pem::{PemError, TlsPart};

/// What the two ends agree to speak, as TLS names it (ALPN).
const ALPN: &[u8] = b"actix-bully/1";
