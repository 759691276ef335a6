//! Checks that the values of a configuration fit together: the names, the addresses, the voters, the durations.
//!
//! Decided here: every contradiction between the values of a configuration. Not here: faults in the files that the
//! configuration names, and ports that are in use. The start (`start.rs`) finds these.

use std::collections::BTreeSet;

use crate::{
    agent::any::AnyConfig,
    elections::{
        AnyMessage,
        quorum::{QuorumConfig, QuorumError},
    },
    group::Group,
    protocol::{About, AgentId, Timings, TimingsError},
    remote::{Limits, MayBe, NodeId, is_loopback},
    store::{OpenStore, StoreIdentity},
};
use bully_core::elections::bully::BullyConfig;

use super::{
    Config, ConfigError, LimitsSettings, PeerSettings, TimingsPreset, TimingsSettings, read::cut,
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

/// Calls the setter of each value that is set in the configuration.
macro_rules! set {
    ($builder:ident, $from:ident: $($name:ident)*) => {
        $( if let Some(value) = $from.$name { $builder = $builder.$name(value); } )*
    };
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
            About::new(text).map_err(|reason| ConfigError::About { reason })?;
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

    /// Returns the durations of the election. A duration that is not set comes from the configured preset, or else from
    /// the usual preset.
    pub(super) fn all_timings(&self) -> Result<Timings, ConfigError> {
        // In Kubernetes each renewal of a lease is a write to the API server, so the slow preset is the usual one.
        let usual = if self.lease.kubernetes {
            TimingsPreset::Wan
        } else {
            TimingsPreset::Default
        };
        self.timings.timings(usual)
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

    /// Checks that this node or the peer has an address at which the other can dial it, and that others cannot read the
    /// messages between them on the network.
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
        let choices = self.choices(self.all_timings()?);
        if self.has_lease() {
            return Ok(AnyConfig::Lease(self.lease(identity, &choices)?.into()));
        }
        if self.quorum.voters.is_empty() {
            if self.quorum != super::QuorumSettings::default() {
                let advice =
                    "the section `quorum` needs the names of all voters, the same at every node";
                let key = String::from("quorum.voters");
                return Err(ConfigError::Missing { key, advice });
            }
            let mut config = BullyConfig::default();
            choices.set_bully(&mut config);
            config
                .check()
                .map_err(|reason| ConfigError::Margin { reason })?;
            return Ok(AnyConfig::Available(config.into()));
        }
        self.check_store()?;
        let config = QuorumConfig {
            vote_quorum: self.quorum.vote_quorum,
            lease_quorum: self.quorum.lease_quorum,
            ..choices.quorum_config(self.voters(&identity.node)?)
        };
        config.check().map_err(quorum_error)?;
        Ok(AnyConfig::Quorum(config.into()))
    }

    /// Checks that the keys of the store fit the voters. For instance, voters without a disk must not have a store.
    fn check_store(&self) -> Result<(), ConfigError> {
        let quorum = &self.quorum;
        if quorum.learner && self.role == MayBe::Observer {
            let advice =
                "an observer never becomes a voter: remove `learner`, or set the role \"voter\"";
            return Err(contradiction("quorum.learner", "role", advice));
        }
        if quorum.store == OpenStore::OpenOrCreate && quorum.voters.len() == 1 && !quorum.learner {
            let advice = "no other voter could refuse a new store after the old one was lost: write \"create\" for the first start and \"open\" for all later ones";
            return Err(contradiction("quorum.store", "quorum.voters", advice));
        }
        let kept = [
            ("quorum.store_file", quorum.store_file.is_some()),
            ("quorum.store", quorum.store != OpenStore::Open),
        ];
        match kept.into_iter().find(|(_, is_set)| *is_set) {
            Some((key, _)) if quorum.diskless => {
                let advice = "voters without a disk keep no vote: remove the store, or remove `diskless` where there is a disk that stays";
                Err(contradiction(key, "quorum.diskless", advice))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Checks and returns the voters. Each voter is a peer or this node. This node must be a voter, unless it is an
    /// observer or a learner.
    fn voters(&self, node: &AgentId) -> Result<Vec<AgentId>, ConfigError> {
        let mut voters = Vec::new();
        for (at, voter) in self.quorum.voters.iter().enumerate() {
            let key = format!("quorum.voters[{at}]");
            let is_known =
                *voter == self.node || self.others().any(|(_, peer)| peer.node == *voter);
            voters.push(name(&key, voter, "leave the empty name out")?);
            if !is_known {
                return Err(ConfigError::Value {
                    key,
                    value: cut(voter),
                    wanted: "this node or one of `peers`: no other voter can be asked".into(),
                });
            }
        }
        match (voters.contains(node), self.role) {
            (false, MayBe::Leader | MayBe::Voter) if !self.quorum.learner => {
                let advice = "add this node to the voters, or set `role = \"observer\"`, or `learner = true` to add it while the group runs";
                return Err(contradiction("quorum.voters", "node", advice));
            }
            (true, MayBe::Observer) => {
                let advice = "an observer does not vote: remove this node from the voters, or set the role \"voter\"";
                return Err(contradiction("role", "quorum.voters", advice));
            }
            (_, MayBe::Leader | MayBe::Voter)
                if self.quorum.store_file.is_none() && !self.quorum.diskless =>
            {
                let advice = "a voter keeps its vote through crashes: name a file on a local disk, or set `diskless = true` at every node without a disk";
                let key = String::from("quorum.store_file");
                return Err(ConfigError::Missing { key, advice });
            }
            _ => {}
        }
        Ok(voters)
    }
}

impl TimingsSettings {
    /// Returns the durations. If the configuration has no preset, `usual` is used.
    pub(super) fn timings(&self, usual: TimingsPreset) -> Result<Timings, ConfigError> {
        let preset = self.preset.unwrap_or(usual).timings();
        let (lease, promise) = (preset.lease(), preset.promise());
        let detector = preset.detector();
        let mut builder = preset.to_builder();
        set!(builder, self: delay_bound deadline step jitter round);
        builder = builder.lease(self.lease.unwrap_or(lease), self.promise.unwrap_or(promise));
        if let Some(usual) = detector {
            builder = builder.detector(
                self.heartbeat.unwrap_or(usual.heartbeat),
                self.detection.unwrap_or(usual.detection),
            );
        }
        builder.build().map_err(|reason| ConfigError::Timings {
            key: match reason {
                TimingsError::ZeroDelayBound => "timings.delay_bound",
                TimingsError::Deadline { .. } => "timings.deadline",
                TimingsError::Step { .. } => "timings.step",
                TimingsError::Round { .. } => "timings.round",
                TimingsError::ZeroHeartbeat => "timings.heartbeat",
                TimingsError::Detection { .. } => "timings.detection",
                TimingsError::Lease { .. } => "timings.lease",
                TimingsError::Promise { .. } => "timings.promise",
                // `NoEcho` and `TooSlow` are errors about measurements, which no key sets.
                TimingsError::NoEcho | TimingsError::TooSlow { .. } | _ => "timings",
            },
            reason,
        })
    }
}

impl LimitsSettings {
    fn limits(&self) -> Result<Limits, ConfigError> {
        let (usual, mut builder) = (Limits::default(), Limits::builder());
        if let Some(inbound) = self.inbound {
            // The limits `unready` and `unready_per_address` have no key, and must not exceed `inbound`. So they are
            // lowered to it.
            builder = builder
                .unready(usual.unready().min(inbound))
                .unready_per_address(usual.unready_per_address().min(inbound));
        }
        set!(builder, self: handshake frame inbound rate burst queue ping_after silence dial_min dial_max forget);
        builder
            .build()
            .map_err(|reason| ConfigError::Limits { reason })
    }
}

fn name(key: &str, name: &str, advice: &'static str) -> Result<AgentId, ConfigError> {
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

fn quorum_error(reason: QuorumError) -> ConfigError {
    let key = match &reason {
        QuorumError::NoVoters | QuorumError::DuplicateVoter { .. } => "quorum.voters",
        QuorumError::VoteQuorum { .. } => "quorum.vote_quorum",
        QuorumError::LeaseQuorum { .. } => "quorum.lease_quorum",
        QuorumError::NoHeartbeat | QuorumError::Wait { .. } => "timings",
        QuorumError::Preemption { .. } => "preemption",
        QuorumError::Margin(_) => "margin",
        QuorumError::Epoch { .. } => "quorum.epoch",
        QuorumError::DisklessLearner => "quorum.learner",
        _ => "quorum",
    };
    ConfigError::Quorum { key, reason }
}
