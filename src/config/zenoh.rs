//! The section `zenoh`: hosts find each other by name in a zenoh network, and not by addresses.
//!
//! Decided here: the keys of the section, and which other keys contradict it. The crate `actix-bully-zenoh` decides the
//! meaning of the endpoints, and passes the network to the [`Starter`](super::Starter).

use serde::{Deserialize, Serialize};

use super::{Config, ConfigError, check::contradiction, value::unset};

/// zenoh as the network of the bridge (the crate `actix-bully-zenoh`). The node is a zenoh peer that is connected to
/// every other peer, or a client of routers. The nodes of `peers` are found by their names.
///
/// An endpoint is `tcp/HOST:PORT` or `quic/HOST:PORT`. With `quic/` the files of the section `tls` also protect the
/// links, and the certificate of a node has to contain the host name by which other nodes connect to it. `tcp/` may
/// leave this host only with the section `tls`, whose TLS then runs from end to end, or with `dangerous_plaintext`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ZenohSettings {
    /// Endpoints at which other peers connect to this peer. Default: none.
    #[serde(skip_serializing_if = "unset")]
    pub listen: Vec<String>,
    /// Peers or routers to which this node connects as a peer. Default: none. With `tcp/` one endpoint is enough,
    /// because the peer at this endpoint reports the endpoints of the other peers.
    #[serde(skip_serializing_if = "unset")]
    pub connect: Vec<String>,
    /// Routers; one of them is enough. With this key the node is a client of the routers, and neither listens nor
    /// connects to anything else. Default: none.
    #[serde(skip_serializing_if = "unset")]
    pub routers: Vec<String>,
}

impl Config {
    /// Returns whether zenoh is the network.
    pub(super) fn has_zenoh(&self) -> bool {
        let zenoh = &self.zenoh;
        let lists = [&zenoh.listen, &zenoh.connect, &zenoh.routers];
        lists.iter().any(|endpoints| !endpoints.is_empty())
    }

    pub(super) fn check_zenoh(&self) -> Result<(), ConfigError> {
        if !self.has_zenoh() {
            return Ok(());
        }
        if self.listen.is_some() {
            let advice = "zenoh listens in place of the bridge: remove one of the two";
            return Err(contradiction("listen", "zenoh", advice));
        }
        let mut others = self.others();
        if let Some((at, _)) = others.find(|(_, peer)| peer.address.is_some()) {
            let advice = "zenoh finds a node by its name: leave the address out";
            let key = format!("peers[{at}].address");
            return Err(contradiction(key, "zenoh", advice));
        }
        Ok(())
    }
}
