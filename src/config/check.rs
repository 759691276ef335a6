//! Checks that the values of a configuration fit together: the names, the addresses, the mode.
//!
//! Decided here: the order of the checks, the peers and their credentials, and the key of a setting that its election
//! refuses. Not here: what one section checks alone (its own file, such as `quorum.rs`), and faults in the files that
//! the configuration names, and ports that are in use: the start (`start.rs`) finds these.

use std::collections::BTreeSet;

use crate::{
    agent::any::AnyConfig,
    elections::AnyMessage,
    group::Group,
    protocol::{About, AgentId},
    remote::{Limits, NodeId, is_loopback},
    store::StoreIdentity,
};

use super::{
    Config, ConfigError, PeerSettings,
    quorum::VOTERS,
    read::{cut, keys},
};

/// A configuration whose values fit together, in the types that builders take.
#[derive(Debug)]
pub(super) struct Plan {
    /// The names with which the store is opened.
    pub(super) identity: StoreIdentity,
    pub(super) group: Group<AnyMessage>,
    pub(super) election: AnyConfig,
    pub(super) limits: Limits,
}

impl Config {
    /// Checks whether the node could start, as far as the configuration alone shows: names, addresses, relations
    /// between durations, contradictions. Reads no file and resolves no name.
    ///
    /// # Errors
    /// [`ConfigError`] names the first wrong key.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.plan().map(drop)
    }

    pub(super) fn plan(&self) -> Result<Plan, ConfigError> {
        let identity = StoreIdentity {
            node: name("node", &self.node, "give this node and its agent a name")?,
            group: name("group", &self.group, "name the election")?,
            cluster: name(
                "cluster",
                &self.cluster,
                "name the deployment, or leave the key out",
            )?,
        };
        // The characters of the name were checked before. So the only error left is a name with the ending that is
        // reserved for this crate's own groups.
        let group = Group::new(&self.group).map_err(|_| ConfigError::Value {
            key: String::from("group"),
            value: cut(&self.group),
            wanted:
                "a name that does not end in \"!messages\", as those of this crate's own groups do"
                    .into(),
        })?;
        if let Some(text) = &self.about {
            About::new(text).map_err(|reason| ConfigError::refused("about", reason))?;
        }
        self.check_bridge()?;
        self.check_ways()?;
        Ok(Plan {
            election: self.election(&identity)?,
            limits: self.limits.limits()?,
            identity,
            group,
        })
    }

    /// Returns whether the node has a bridge, so that messages may leave this process.
    pub(super) fn has_bridge(&self) -> bool {
        self.listen.is_some() || !self.peers.is_empty() || self.has_zenoh()
    }

    /// Returns the peers with their positions in the list, without the entry of this node itself.
    pub(super) fn others(&self) -> impl Iterator<Item = (usize, &PeerSettings)> {
        let is_other =
            |(_, peer): &(usize, &PeerSettings)| !self.peers_name_all || peer.node != self.node;
        self.peers.iter().enumerate().filter(is_other)
    }

    fn check_bridge(&self) -> Result<(), ConfigError> {
        self.check_credentials()?;
        if !self.has_bridge() {
            return Ok(());
        }
        node_name("node", &self.node)?;
        self.check_zenoh()?;
        if let Some(listen) = &self.listen {
            self.check_address("listen", listen)?;
        }
        let mut seen = BTreeSet::new();
        for (at, peer) in self.peers.iter().enumerate() {
            let key = format!("peers[{at}].node");
            if peer.node.is_empty() {
                let advice = "name the node as it names itself";
                return Err(ConfigError::Missing { key, advice });
            }
            node_name(&key, &peer.node)?;
            if peer.node == self.node && !self.peers_name_all {
                let advice = "leave this node out of its own peers, or set `peers_name_all = true` where one list serves every node";
                return Err(contradiction(key, "node", advice));
            }
            if !seen.insert(&peer.node) {
                return Err(ConfigError::Value {
                    key,
                    value: cut(&peer.node),
                    wanted: "a node that is not in the list already".into(),
                });
            }
        }
        if self.peers_name_all && !seen.contains(&self.node) {
            let advice = "the list names every node: add this one, or leave `peers_name_all` out";
            return Err(contradiction("peers_name_all", "node", advice));
        }
        self.others()
            .try_for_each(|(at, peer)| self.check_way(at, peer))
    }

    /// Checks that this node or the peer has an address at which the other can dial it, and that other processes on the
    /// network cannot read the messages between the two.
    fn check_way(&self, at: usize, peer: &PeerSettings) -> Result<(), ConfigError> {
        let key = format!("peers[{at}].address");
        match &peer.address {
            Some(address) => self.check_address(&key, address),
            None if self.listen.is_none() && !self.has_zenoh() => {
                let advice =
                    "neither side can dial the other: say where the peer listens, or set `listen`";
                Err(ConfigError::Missing { key, advice })
            }
            None => Ok(()),
        }
    }

    fn check_address(&self, key: &str, address: &str) -> Result<(), ConfigError> {
        let is_dialled = key != "listen";
        let port = address.rsplit_once(':').and_then(|(host, port)| {
            let port: u16 = port.parse().ok()?;
            (!host.is_empty()).then_some(port)
        });
        if port.is_none_or(|port| is_dialled && port == 0) {
            return Err(ConfigError::Value {
                key: key.to_owned(),
                value: cut(address),
                wanted: "a host and a port, such as \"10.0.0.2:7400\"".into(),
            });
        }
        let is_safe = self.has_tls() || self.dangerous_plaintext || is_loopback(address);
        if is_safe {
            return Ok(());
        }
        Err(ConfigError::Plaintext {
            key: key.to_owned(),
            address: address.to_owned(),
        })
    }

    /// Returns whether at least one of the three files of the section `tls` is set.
    pub(super) fn has_tls(&self) -> bool {
        let tls = &self.tls;
        let files = [&tls.authorities_file, &tls.certificate_file, &tls.key_file];
        files.iter().any(|file| file.is_some())
    }

    fn check_credentials(&self) -> Result<(), ConfigError> {
        let (tls, secret) = (self.has_tls(), self.secret_file.is_some());
        if tls && secret {
            let advice = "certificates already prove which node connects: remove the secret";
            return Err(contradiction("secret_file", "tls", advice));
        }
        if tls && self.dangerous_plaintext {
            let advice = "with certificates everything is encrypted: remove `dangerous_plaintext`";
            return Err(contradiction("dangerous_plaintext", "tls", advice));
        }
        let first = if tls { "tls" } else { "secret_file" };
        if (tls || secret) && !self.has_bridge() {
            let advice = "without `listen` and `peers` no other node is reached: add one of them, or remove the credentials";
            return Err(contradiction(first, "listen, peers", advice));
        }
        if self.former_secret_file.is_some() && !secret {
            let advice = "a former secret is accepted beside the present one: name the file of the present one";
            let key = String::from("secret_file");
            return Err(ConfigError::Missing { key, advice });
        }
        for (key, file) in [
            ("tls.authorities_file", &self.tls.authorities_file),
            ("tls.certificate_file", &self.tls.certificate_file),
            ("tls.key_file", &self.tls.key_file),
        ] {
            if tls && file.is_none() {
                let advice =
                    "mutual TLS takes the authorities, the certificate of this node, and its key";
                let key = key.to_owned();
                return Err(ConfigError::Missing { key, advice });
            }
        }
        if tls && cfg!(not(feature = "tls")) {
            let (key, feature) = ("tls", "tls");
            return Err(ConfigError::NoFeature { key, feature });
        }
        if secret && cfg!(not(feature = "secret")) {
            let (key, feature) = ("secret_file", "secret");
            return Err(ConfigError::NoFeature { key, feature });
        }
        Ok(())
    }

    fn election(&self, identity: &StoreIdentity) -> Result<AnyConfig, ConfigError> {
        let (mode, config) = if let Some((store, config)) = self.lease(identity)? {
            (store, AnyConfig::Lease(config.into()))
        } else if let Some(config) = self.quorum(&identity.node)? {
            (VOTERS, AnyConfig::Quorum(config.into()))
        } else {
            (VOTERS, AnyConfig::default())
        };
        let choices = self.choices(self.all_timings()?);
        let config = choices.put_into(config).map_err(|setting| {
            let advice = "the mode of this configuration does not have this setting: remove the setting, or choose another mode";
            contradiction(key_of(setting), mode, advice)
        })?;
        match config.check() {
            Ok(()) => Ok(config),
            Err(reason) => Err(ConfigError::refused(key_of(reason.setting()), reason)),
        }
    }
}

/// Returns the key of a setting of an election: the key of this name, or the key of this name in a section.
fn key_of(setting: &str) -> String {
    let all = keys::<Config>();
    let is_key = |key: &&String| key.rsplit('.').next() == Some(setting);
    let key = all.into_iter().find(|key| is_key(&key));
    key.unwrap_or_else(|| setting.to_owned())
}

pub(super) fn name(key: &str, name: &str, advice: &'static str) -> Result<AgentId, ConfigError> {
    let key = key.to_owned();
    if name.is_empty() {
        return Err(ConfigError::Missing { key, advice });
    }
    AgentId::new(name).map_err(|reason| ConfigError::Name { key, reason })
}

fn node_name(key: &str, name: &str) -> Result<(), ConfigError> {
    let refused = |reason| ConfigError::NodeName {
        key: key.to_owned(),
        reason,
    };
    NodeId::new(name).map(drop).map_err(refused)
}

pub(super) fn contradiction(
    key: impl Into<String>,
    other: &str,
    advice: &'static str,
) -> ConfigError {
    ConfigError::Contradiction {
        key: key.into(),
        other: other.to_owned(),
        advice,
    }
}
