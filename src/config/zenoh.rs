//! The section `zenoh`: hosts that find each other by name in a zenoh network, instead of by addresses.
//!
//! Decided here: which other keys contradict the section. The crate `actix-bully-zenoh` decides the meaning of the
//! endpoints, and gives the network to the [`Starter`](super::Starter).

use super::{Config, ConfigError, check::contradiction};

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
