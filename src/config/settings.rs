//! The fields of a configuration, with the values as they were read. Nothing is checked here.
//!
//! Decided here: the name of each key, its meaning and its default. Not here: which keys are options of an election (the
//! table in `src/agent/bully.rs`), the keys of a section with checks of its own (`quorum.rs`, `lease.rs`, `timings.rs`,
//! `limits.rs`, `zenoh.rs`), the forms of values (`value.rs`), and whether the values fit together (`check.rs`).

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    agent::{Choices, settings},
    elections::{bully::Preemption, quorum::Diskless},
    protocol::{Score, Timings},
    remote::MayBe,
};

use super::{
    LeaseSettings, LimitsSettings, QuorumSettings, TimingsSettings, ZenohSettings,
    value::{leaf, section, sections, unset},
};

/// The configuration of one node, with one agent of the same name.
///
/// It is read from text ([`from_toml`](Self::from_toml)), from a file and the environment ([`load`](Self::load)), or by
/// serde from any format that describes itself. In Rust, call [`new`](Self::new) and set fields. [`check`](Self::check)
/// and [`start`](Self::start) check the values. Each field is a key of the same name; the [page](crate::config) shows
/// all keys.
///
/// Serde writes every key that is set or has a default: the paths of the files of secrets, not the secrets. If the
/// format is not TOML, the text of an error comes from the format's own library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Config {
    /// Name of this node and of its agent: a DNS name in lower case, unique in the cluster. Required, except for a
    /// lease in Kubernetes.
    pub node: String,
    /// The cluster. Nodes of different clusters refuse each other. Default: `default`.
    pub cluster: String,
    /// The group: the name of the election. Required.
    pub group: String,
    /// Role that the agent may take: [`MayBe::Leader`], the default; [`MayBe::Voter`], a witness, which votes and never
    /// leads; [`MayBe::Observer`], which learns who leads.
    #[serde(with = "leaf")]
    pub role: MayBe,
    /// The agent's score: the agent with the highest score leads. Default: 0.
    #[serde(with = "leaf")]
    pub score: Score,
    /// Text that the agent publishes about itself, such as the URL of its own server: 1 to 256 bytes, which all members
    /// of the group read. Default: none.
    #[serde(skip_serializing_if = "unset")]
    pub about: Option<String>,
    /// Address at which other nodes dial this node: `host:port`, with port 0 for any free port. Default: none.
    #[serde(skip_serializing_if = "unset")]
    pub listen: Option<String>,
    /// The other nodes. Default: none. Without peers, `listen` and `zenoh` no message leaves this process.
    #[serde(deserialize_with = "sections", skip_serializing_if = "unset")]
    pub peers: Vec<PeerSettings>,
    /// Whether `peers` also contains this node, so that the list can be the same at every node; the node ignores its
    /// own entry. Default: false; then an entry with this node's name is an error.
    pub peers_name_all: bool,
    /// File of the secret that all nodes share (feature `secret`). Default: none.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub secret_file: Option<PathBuf>,
    /// File of a former secret, which is accepted as well while a new secret replaces it. Default: none.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub former_secret_file: Option<PathBuf>,
    /// Whether messages may leave this host without encryption. Default: false.
    pub dangerous_plaintext: bool,
    /// File in which the node keeps its last incarnation; see [`remember`](crate::remote::BridgeBuilder::remember).
    /// Default: the store of votes, or `NODE.node` in the folder of the lease. If the node has neither, its incarnation
    /// comes from the wall clock.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub memory_file: Option<PathBuf>,
    /// Folder in which the agent saves its record (the messages of its elections) when there was no leader for too
    /// long: at most 20 files and 64 MiB; see [`save_records`](crate::operate::Operated::save_records). Default: none,
    /// and nothing is saved. The folder also contains the file of the group's
    /// [history](crate::operate::Operated::keep_history). Without the folder, that file is beside the store of votes,
    /// if there is one.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub records_folder: Option<PathBuf>,
    /// Whether an agent of a higher rank replaces a live leader, and after which time. Default: at once; with voters
    /// after 10 s. With voters the time doubles for an agent that loses the leadership again and again, up to 16 times
    /// the time (rule `wait-longer-for-flapping`).
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub preemption: Option<Preemption>,
    /// Amount by which the score of an agent must exceed the leader's score to replace the leader. Default: any amount.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub margin: Option<Score>,
    /// Longest time that the leader's work may take to end after a step-down. Default: 5 s; with voters the work has to
    /// end within the lease.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub drain: Option<Duration>,
    /// Cool-down: time after a step-down in which the agent lets other agents go first. Default: 60 s.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub cooldown: Option<Duration>,
    /// Certificates (feature `tls`). Default: none.
    #[serde(deserialize_with = "section", skip_serializing_if = "unset")]
    pub tls: TlsSettings,
    /// Durations of the election. They must be the same at every node.
    #[serde(deserialize_with = "section", skip_serializing_if = "unset")]
    pub timings: TimingsSettings,
    /// The quorum mode: two agents never lead at the same time. Default: off.
    #[serde(deserialize_with = "section")]
    pub quorum: QuorumSettings,
    /// A lease in a store: two agents never lead at the same time. Links between the nodes are optional. Default: off.
    #[serde(deserialize_with = "section")]
    pub lease: LeaseSettings,
    /// zenoh as the network, in place of `listen` and of the addresses of peers. Default: off.
    #[serde(deserialize_with = "section", skip_serializing_if = "unset")]
    pub zenoh: ZenohSettings,
    /// The limits of the bridge.
    #[serde(deserialize_with = "section", skip_serializing_if = "unset")]
    pub limits: LimitsSettings,
}

impl Config {
    /// Returns the configuration of a node that leads or follows within this process. Set more fields to reach other
    /// nodes.
    ///
    /// ```
    /// use actix_bully::config::{Config, PeerSettings};
    ///
    /// let mut config = Config::new("api-1", "jobs");
    /// config.listen = Some("127.0.0.1:7400".to_owned());
    /// config.peers.push(PeerSettings::new("api-2", "127.0.0.1:7401"));
    /// config.check()?;
    /// # Ok::<(), actix_bully::config::ConfigError>(())
    /// ```
    pub fn new(node: &str, group: &str) -> Self {
        Self {
            node: node.to_owned(),
            group: group.to_owned(),
            ..Self::default()
        }
    }

    /// Returns the choices of the keys, as the calls of a builder make them. The table of the settings names the key of each.
    pub(super) fn choices(&self, timings: Timings) -> Choices {
        macro_rules! of_keys {
            ($(
                $(#[$doc:meta])*
                $setting:ident($($given:tt)*) -> $type:ty { $value:expr } $($mode:ident)* $(, $($key:ident).+)?;
            )*) => {
                Choices {
                    modes: Vec::new(),
                    timings: Some(timings),
                    diskless: self.quorum.diskless.then(Diskless::default),
                    // A key with the default value of its type chooses nothing.
                    $($($setting: Some(self.$($key).+).filter(|key| !unset(key)).and_then(Into::into),)?)*
                }
            };
        }
        settings!(of_keys)
    }
}

/// The defaults of all keys. `node` and `group` have no default: they are empty.
impl Default for Config {
    fn default() -> Self {
        Self {
            node: String::new(),
            cluster: "default".to_owned(),
            group: String::new(),
            role: MayBe::Leader,
            score: Score::default(),
            about: None,
            listen: None,
            peers: Vec::new(),
            peers_name_all: false,
            secret_file: None,
            former_secret_file: None,
            dangerous_plaintext: false,
            memory_file: None,
            records_folder: None,
            preemption: None,
            margin: None,
            drain: None,
            cooldown: None,
            tls: TlsSettings::default(),
            timings: TimingsSettings::default(),
            quorum: QuorumSettings::default(),
            lease: LeaseSettings::default(),
            zenoh: ZenohSettings::default(),
            limits: LimitsSettings::default(),
        }
    }
}

/// Another node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PeerSettings {
    /// Name of the node. Required.
    pub node: String,
    /// Address at which the peer listens: `host:port`. Default: none. Without an address, the peer has to dial this
    /// node, and only silence shows this node that the peer's process has ended.
    #[serde(skip_serializing_if = "unset")]
    pub address: Option<String>,
    /// Agents for which the peer may send messages. Default: all agents, as with
    /// [`Peer::new`](crate::remote::Peer::new).
    #[serde(deserialize_with = "sections", skip_serializing_if = "unset")]
    pub rights: Option<Vec<GrantSettings>>,
}

impl PeerSettings {
    /// Returns a peer that listens at the address.
    pub fn new(node: &str, address: &str) -> Self {
        Self {
            node: node.to_owned(),
            address: Some(address.to_owned()),
            rights: None,
        }
    }

    /// Returns a peer without an address, which dials this node.
    pub fn inbound(node: &str) -> Self {
        Self {
            node: node.to_owned(),
            ..Self::default()
        }
    }
}

/// Agents for which a peer may send messages. `*` means all names, `api-*` all names that begin with `api-`, and any
/// other text exactly that name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct GrantSettings {
    /// Groups of the agents. Default: `*`.
    pub groups: String,
    /// Names or patterns of the agents in these groups. Default: `*`.
    pub agents: String,
    /// Highest role that the agents may take. Default: [`MayBe::Leader`].
    #[serde(with = "leaf")]
    pub may_be: MayBe,
}

impl Default for GrantSettings {
    fn default() -> Self {
        Self {
            groups: "*".to_owned(),
            agents: "*".to_owned(),
            may_be: MayBe::Leader,
        }
    }
}

/// Files of the certificates: set all three files, or no file. See [`tls`](crate::remote::BridgeBuilder) of the bridge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TlsSettings {
    /// PEM: the certificates of the authorities whose nodes are trusted.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub authorities_file: Option<PathBuf>,
    /// PEM: the certificate of this node, which contains the node's name, and the certificates between it and an
    /// authority.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub certificate_file: Option<PathBuf>,
    /// PEM: the private key of the certificate in `certificate_file`.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub key_file: Option<PathBuf>,
}
