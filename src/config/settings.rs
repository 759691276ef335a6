//! What a configuration says, field by field, as it was written: nothing is judged here.
//!
//! Decided here: what each key means, and what holds where it is missing. Not here: how keys are called and
//! read (`keys.rs`), and what fits together (`check.rs`).

use std::{path::PathBuf, time::Duration};

use crate::{
    elections::bully::Preemption,
    protocol::{Score, Timings},
    remote::MayBe,
    store::OpenStore,
};

/// One node with one agent of its name: everything that an operator decides about it.
///
/// Read from text ([`from_toml`](Self::from_toml)), from a file and the environment
/// ([`load`](Self::load)), by serde from any format that describes itself, or made in Rust:
/// [`new`](Self::new), then set fields. What is set is judged by [`check`](Self::check), and so by
/// [`start`](Self::start). Each field is a key of the same name; the [page](crate::config) shows all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// The name of this node and of its agent: a DNS name in lower case, unique in the cluster. Needed, but for a
    /// lease in Kubernetes.
    pub node: String,
    /// The cluster; nodes of different ones refuse each other. Default: `default`.
    pub cluster: String,
    /// The group: the name of what is elected. Needed.
    pub group: String,
    /// What the agent may be: [`MayBe::Leader`], the default; [`MayBe::Voter`], a witness, which votes and never
    /// leads; [`MayBe::Observer`], which is told who leads.
    pub role: MayBe,
    /// The agent's score: the highest leads. Default: 0.
    pub score: Score,
    /// What the agent says of itself, such as the URL of its own server: 1 to 256 bytes, which all members of the group
    /// read. Default: nothing.
    pub about: Option<String>,
    /// Where other nodes dial this one: `host:port`, with port 0 for any that is free. Default: nowhere.
    pub listen: Option<String>,
    /// The other nodes. Default: none; then the group does not leave this process.
    pub peers: Vec<PeerSettings>,
    /// `peers` is the same list at every node and names this one as well, whose entry is left out.
    /// Default: false; then an entry of this node's name is an error.
    pub peers_name_all: bool,
    /// The file of the secret that all nodes share (feature `secret`). Default: none.
    pub secret_file: Option<PathBuf>,
    /// The file of another secret that is accepted as well, while one takes the place of the other.
    pub former_secret_file: Option<PathBuf>,
    /// Plain text may leave this host. Default: false.
    pub dangerous_plaintext: bool,
    /// A small file in which the node keeps its last incarnation; see
    /// [`remember`](crate::remote::BridgeBuilder::remember). Default: the store of votes, or `NODE.node` in the folder of
    /// the lease; without either the incarnation goes by the wall clock.
    pub memory_file: Option<PathBuf>,
    /// The folder into which the agent's record is saved when its leader is missed, at most 20 files and 64 MiB; see
    /// [`save_records`](crate::operate::Operated::save_records). Default: none, and nothing is saved. The group's
    /// [past](crate::operate::Operated::keep_history) is kept there as well; by default beside the store of votes, if there is one.
    pub records_folder: Option<PathBuf>,
    /// When a live leader gives way to an agent of a higher rank. Default: at once; with
    /// voters after 10 s.
    pub preemption: Option<Preemption>,
    /// By how much a challenger's score must exceed the leader's. Default: by anything at all.
    pub margin: Option<Score>,
    /// The longest that the leader's work may take to end. Default: 5 s; with voters within the lease.
    pub drain: Option<Duration>,
    /// For how long an agent that stepped down lets others go first. Default: 60 s.
    pub cooldown: Option<Duration>,
    /// Certificates (feature `tls`). Default: none.
    pub tls: TlsSettings,
    /// How long to wait for what; the same at every node.
    pub timings: TimingsSettings,
    /// The quorum mode: never two leaders. Default: off.
    pub quorum: QuorumSettings,
    /// A lease in a store: never two leaders, with links between the nodes or without. Default: off.
    pub lease: LeaseSettings,
    /// zenoh as the network, in place of `listen` and of the addresses of peers. Default: off.
    pub zenoh: ZenohSettings,
    /// The limits of the bridge.
    pub limits: LimitsSettings,
}

impl Config {
    /// A node that leads or follows within this process, until it is told more.
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
}

/// What holds where a key is missing. A node and a group have to be named.
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerSettings {
    /// Its name. Needed.
    pub node: String,
    /// Where it listens: `host:port`. Default: it has to dial this node, and the end of its process is
    /// noticed by silence only.
    pub address: Option<String>,
    /// For which agents it may speak. Default: for all, as [`Peer::new`](crate::remote::Peer::new) says.
    pub rights: Option<Vec<GrantSettings>>,
}

impl PeerSettings {
    /// A node that listens there.
    pub fn new(node: &str, address: &str) -> Self {
        Self {
            node: node.to_owned(),
            address: Some(address.to_owned()),
            rights: None,
        }
    }

    /// A node that dials this one.
    pub fn inbound(node: &str) -> Self {
        Self {
            node: node.to_owned(),
            ..Self::default()
        }
    }
}

/// Agents that a peer may speak for. A `*` stands for all, `api-*` for all that begin so, anything else for
/// one name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GrantSettings {
    /// Of which groups. Default: `*`.
    pub groups: String,
    /// Which agents of theirs. Default: `*`.
    pub agents: String,
    /// And as what. Default: [`MayBe::Leader`].
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

/// Where the certificates are: all three files, or none. See [`tls`](crate::remote::BridgeBuilder) of the bridge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TlsSettings {
    /// PEM: the certificates of the authorities whose nodes are trusted.
    pub authorities_file: Option<PathBuf>,
    /// PEM: the certificate of this node, which names it, and those between it and an authority.
    pub certificate_file: Option<PathBuf>,
    /// PEM: the private key of that certificate.
    pub key_file: Option<PathBuf>,
}

/// The quorum mode: a majority of the voters elects, and no two lead at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuorumSettings {
    /// The names of all voters, the same at every node. Default: none; then the mode is off.
    pub voters: Vec<String>,
    /// Which choice of voters it is. Default: 0. Raise it by one with every change of `voters`,
    /// `vote_quorum` or `lease_quorum`.
    pub epoch: u64,
    /// The voters have no disk, as in containers without a volume; the same at every node. Default: false. Each start waits,
    /// and the token is a fence under a condition: see [`diskless`](crate::elections::quorum::diskless).
    pub diskless: bool,
    /// This node has a store and may be missing in `voters`: it follows as a *learner* until it is added while the
    /// group runs. Default: false; then such a node is refused. It may stay set when the node has become a voter.
    pub learner: bool,
    /// The file of this node's votes. Needed, unless the node observes or the voters have no disk.
    pub store_file: Option<PathBuf>,
    /// Whether that file is opened or made. Default: [`OpenStore::Open`]. To make it is to say that this node never
    /// voted; [`OpenStore::OpenOrCreate`] serves the first start and all later ones, and with one voter it is refused.
    pub store: OpenStore,
    /// How many votes elect. Default: a majority.
    pub vote_quorum: Option<usize>,
    /// How many acknowledgements uphold a lease. Default: a majority.
    pub lease_quorum: Option<usize>,
}

/// A lease in a store that every node reaches; see [`lease`](crate::agent::AgentBuilder::lease). One of the stores is
/// named, the same at every node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeaseSettings {
    /// A folder, for the processes of one host; it is made where it is missing.
    pub folder: Option<PathBuf>,
    /// A file with the URL of a PostgreSQL database (feature `postgres`). It is read again at each login; with a password in it,
    /// only its owner may be able to read it.
    pub postgres_url_file: Option<PathBuf>,
    /// The schema of that database in which the table is. Default: `public`.
    pub postgres_schema: Option<String>,
    /// Makes the table in that database where it is missing. Default: false.
    pub create_table: bool,
    /// The members of a cluster of etcd: `http://host:port` or `https://host:port` each (feature `etcd`).
    pub etcd_endpoints: Vec<String>,
    /// A file with a user of etcd and the password: `user:password`, which only its owner may be able to read. It is read again
    /// at each login. Default: none; then etcd asks for no login.
    pub etcd_login_file: Option<PathBuf>,
    /// In Kubernetes (feature `kubernetes`): a Lease of the namespace of this pod, with the account of this pod. The key `node` may be
    /// missing then where the configuration is read from a file or with the environment: the node is called as the pod.
    /// Default: false.
    pub kubernetes: bool,
    /// Another namespace than that of the pod, or of the kubeconfig.
    pub kubernetes_namespace: Option<String>,
    /// A kubeconfig, instead of the account of a pod. Default: outside of a pod the one of the user.
    pub kubeconfig_file: Option<PathBuf>,
    /// PEM: the certificates of the authorities whose servers are trusted (feature `tls`). Default: none; then the store is
    /// spoken to without TLS. Needed for `https`. This file and the next two are read again at each connect.
    pub authorities_file: Option<PathBuf>,
    /// PEM: the certificate by which this node proves itself to the store, with those between it and an authority. Default:
    /// none; then the store asks for none.
    pub certificate_file: Option<PathBuf>,
    /// PEM: the private key of that certificate.
    pub key_file: Option<PathBuf>,
}

/// zenoh as the network of the bridge (the crate `actix-bully-zenoh`): as a peer that is linked with every other one, or as a client of
/// routers. The nodes of `peers` are found by their names.
///
/// An endpoint is `tcp/HOST:PORT` or `quic/HOST:PORT`. By `quic/` the files of the section `tls` protect the links as well, and
/// the certificate of a node has to name the host by which others connect to it. `tcp/` leads off this host only with
/// that section, whose TLS then runs from end to end, or with `dangerous_plaintext`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ZenohSettings {
    /// Where others connect to this peer. Default: nowhere.
    pub listen: Vec<String>,
    /// Peers or routers to connect to as a peer. Default: none. By `tcp/` one is enough: it names the others.
    pub connect: Vec<String>,
    /// Routers, one of which is enough: this node is a client of theirs, and neither listens nor connects elsewhere.
    pub routers: Vec<String>,
}

/// A preset of [`Timings`], and what differs from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimingsSettings {
    /// What holds where the others are not set. Default: [`TimingsPreset::Default`]; with a lease in Kubernetes
    /// [`TimingsPreset::Wan`], since each renewal is a write for its API server.
    pub preset: Option<TimingsPreset>,
    /// d: the longest that a message and its handling may take, one way.
    pub delay_bound: Option<Duration>,
    /// T: how long a candidate waits for members that do not answer.
    pub deadline: Option<Duration>,
    /// H: how often a leader is heard.
    pub heartbeat: Option<Duration>,
    /// L: silence for this long means that the leader is gone.
    pub detection: Option<Duration>,
    /// S: how much longer each rank further down waits before it starts.
    pub step: Option<Duration>,
    /// J: the random part of a wait.
    pub jitter: Option<Duration>,
    /// E: one round of questions in quorum mode.
    pub round: Option<Duration>,
    /// D: the lease of the quorum mode.
    pub lease: Option<Duration>,
    /// P: the promise of the quorum mode.
    pub promise: Option<Duration>,
}

/// All fields set, whatever the preset.
impl From<&Timings> for TimingsSettings {
    fn from(timings: &Timings) -> Self {
        let detector = timings.detector();
        Self {
            preset: None,
            delay_bound: Some(timings.delay_bound()),
            deadline: Some(timings.deadline()),
            heartbeat: detector.map(|detector| detector.heartbeat),
            detection: detector.map(|detector| detector.detection),
            step: Some(timings.step()),
            jitter: Some(timings.jitter()),
            round: Some(timings.round()),
            lease: Some(timings.lease()),
            promise: Some(timings.promise()),
        }
    }
}

/// The presets of [`Timings`] that have a failure detector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimingsPreset {
    /// [`Timings::default`].
    #[default]
    Default,
    /// [`Timings::lan`].
    Lan,
    /// [`Timings::fast`].
    Fast,
    /// [`Timings::wan`].
    Wan,
    /// [`Timings::in_process`].
    InProcess,
}

/// What differs from the default [`Limits`](crate::remote::Limits) of the bridge. The meaning, default and range
/// of each are those of the method of its name of [`LimitsBuilder`](crate::remote::LimitsBuilder).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitsSettings {
    /// From a connection to the time when both sides are ready.
    pub handshake: Option<Duration>,
    /// The longest frame, in bytes.
    pub frame: Option<usize>,
    /// Connections that others made.
    pub inbound: Option<usize>,
    /// Bytes per second that a peer may send.
    pub rate: Option<usize>,
    /// Bytes that a peer may send at once on top of that.
    pub burst: Option<usize>,
    /// Bytes that wait to be sent to a peer.
    pub queue: Option<usize>,
    /// After so much silence this side asks.
    pub ping_after: Option<Duration>,
    /// After so much silence a peer counts as gone.
    pub silence: Option<Duration>,
    /// The first pause between two attempts to dial.
    pub dial_min: Option<Duration>,
    /// The longest one.
    pub dial_max: Option<Duration>,
    /// After so long without a link a peer's last incarnation is forgotten.
    pub forget: Option<Duration>,
}
