//! Mutual TLS between bridges: it proves to a node the name of its peer.
//!
//! ```text
//!  identity   own certificate, key, authorities: read, checked, fixed       config: and reloaded     renewal: when
//!     │ settings of the library: TLS 1.3 only, nothing resumed, nothing early
//!  handshake  accept · connect
//!     │ name: exactly one DNS name, and it is the node's
//!  a stream   from and to a known peer               or the reason why not, for the counters and the events
//! ```
//!
//! Decided here: which process may open a connection as which node. Not here: which messages a node may send then
//! ([`Rights`](super::Rights)), how long a handshake may take (the caller's deadline: the library has none), and
//! how many handshakes may run at once.
//!
//! # Requirements
//! - TLS 1.3 with the application protocol `actix-bully/1`; no older version, no session tickets, no
//!   resumption, no early data. Nothing that was recorded can be played again.
//! - A certificate from **both** ends, from an authority that *you* list. The authorities of the operating system
//!   do not count.
//! - The certificate's subject alternative names are exactly the node's name, of the kind DNS. A missing name, a second
//!   name and a wildcard name are refused, whatever their kind. The common name does not count. The dialler requires
//!   the name of the node that it dialled; the listener requires the name of a configured node.
//! - The key usages fit: `serverAuth` for the listener, `clientAuth` for the dialler. A certificate without
//!   extended key usages serves both.
//!
//! # Threat model
//! | attacker | defence |
//! |---|---|
//! | the network: reads, changes, cuts, replays | TLS 1.3; a cut is a silence, and elections tolerate silence |
//! | a client without a certificate, or with another node's | refused in the handshake, counted; the limits of the bridge bound the number of such clients at once, and their time; clients from addresses of no peer get a fifth of the time of its thread |
//! | a node that is not configured here, with a certificate of the same authority | refused after the handshake, with an event that has the names of its certificate |
//! | a configured node with a bug | its frames are judged one by one: names, roles, terms, sequence, size, rate |
//! | **trusted**: a configured node within its rights | it can win an election that it may take part in, or disturb it |
//!
//! Not covered: nodes that lie within their own groups (the elections here are not Byzantine), a host or an
//! authority's key in the wrong hands, and an observer of the sizes and times of packets. Only the peers see a
//! node's name: no part of the handshake in the clear contains it.
//!
//! Revocation lists are not used. Remove an unwanted node from the peers: that ends its link at once. For the rest,
//! use certificates that live for weeks rather than years.
//!
//! Certificates depend on the wall clock, elections never do. If a clock jumps, new connections may be refused, but no
//! existing connection ends.
//!
//! # Secrets
//! No type here shows a key by `Debug` or in an error. Copies of the key in this crate are wiped after use. The
//! library's own working copy lasts as long as the configuration, and this crate cannot wipe the bytes that the
//! library's PEM reader leaves in memory: protect core dumps and swap.
//!
//! On loopback a shared secret (feature `secret`) also proves which node is at the other end, and needs less
//! maintenance; it encrypts nothing. A bridge that has both requires both.
//!
//! # Certificates for a trial
//! In a checkout, `cargo run --manifest-path examples/certificates/Cargo.toml -- DIR node-a node-b` makes an
//! authority and a certificate for each node. The authority's key is stored beside them: use these certificates
//! only for a trial.
//!
//! # Certificates for production
//! Use an authority of your own for this cluster alone: step-ca, Vault, cert-manager, or OpenSSL 3. Its key belongs
//! on no node. Each node generates its own key, which stays there, and sends a request with one name:
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
//! The authority signs the names in the request: check them first.
//!
//! Rename the new files into place. A bridge looks at the files before each handshake, at its start and once an hour.
//! If one of them has changed, the bridge reads all three again, and logs "certificates renewed". If the new files
//! cannot be used, for example because a certificate and a key do not belong together, the former ones stay in use, and
//! the bridge logs the reason at `warn`. In the last seven days of a certificate it also logs the end, each hour. The
//! result of [`TlsConfig::reload`] shows at once whether new files can be used. To change the authority, list the old and the
//! new authority everywhere, then change the certificates, then remove the old authority.

mod certificate;
mod config;
mod error;
mod handshake;
mod identity;
mod name;
mod refusal;
mod renewal;
mod security;

pub use config::{TlsConfig, TlsConfigBuilder};
pub use error::TlsError;

pub use bully_register::pem::PemError;

for_tests! {
    use {
        handshake::{accept, connect},
        refusal::closed_by,
    };
}

/// Name of the protocol in TLS (ALPN).
const ALPN: &[u8] = b"actix-bully/1";
