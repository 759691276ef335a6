//! The fields of a configuration, with the values that were read. Nothing is checked here.
//!
//! Decided here: the meaning of each key, and its default. Not here: the names of the keys and how they are read
//! (`keys.rs`), and whether the values fit together (`check.rs`).

use std::{path::PathBuf, time::Duration};

use crate::{
    elections::bully::Preemption,
    protocol::{Score, Timings},
    remote::MayBe,
    store::OpenStore,
};

/// The configuration of one node, with one agent of the same name.
///
/// It is read from text ([`from_toml`](Self::from_toml)), from a file and the environment ([`load`](Self::load)), or by
/// serde from any format that describes itself. In Rust, call [`new`](Self::new) and set fields. [`check`](Self::check)
/// and [`start`](Self::start) check the values. Each field is a key of the same name; the [page](crate::config) shows
/// all keys.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    pub role: MayBe,
    /// The agent's score: the agent with the highest score leads. Default: 0.
    pub score: Score,
    /// Text that the agent publishes about itself, such as the URL of its own server: 1 to 256 bytes, which all members
    /// of the group read. Default: none.
    pub about: Option<String>,
    /// Address at which other nodes dial this node: `host:port`, with port 0 for any free port. Default: none.
    pub listen: Option<String>,
    /// The other nodes. Default: none. Without peers, `listen` and `zenoh` no message leaves this process.
    pub peers: Vec<PeerSettings>,
    /// Whether `peers` is the same list at every node and contains this node as well; the node ignores its own entry.
    /// Default: false; then an entry with this node's name is an error.
    pub peers_name_all: bool,
    /// File of the secret that all nodes share (feature `secret`). Default: none.
    pub secret_file: Option<PathBuf>,
    /// File of a former secret, which is accepted as well while a new secret replaces it. Default: none.
    pub former_secret_file: Option<PathBuf>,
    /// Whether messages may leave this host without encryption. Default: false.
    pub dangerous_plaintext: bool,
    /// File in which the node keeps its last incarnation; see [`remember`](crate::remote::BridgeBuilder::remember).
    /// Default: the store of votes, or `NODE.node` in the folder of the lease. If the node has neither, its incarnation
    /// comes from the wall clock.
    pub memory_file: Option<PathBuf>,
    /// Folder in which the agent saves its record (the messages of its elections) when it has missed a leader for too
    /// long: at most 20 files and 64 MiB; see [`save_records`](crate::operate::Operated::save_records). Default: none,
    /// and nothing is saved. The folder also has the file of the group's
    /// [past](crate::operate::Operated::keep_history). Without the folder, the past is kept beside the store of votes,
    /// if there is one.
    pub records_folder: Option<PathBuf>,
    /// Whether, and after which time, an agent of a higher rank replaces a live leader. Default: at once; with voters
    /// after 10 s.
    pub preemption: Option<Preemption>,
    /// Amount by which a challenger's score must exceed the leader's. Default: any amount.
    pub margin: Option<Score>,
    /// Longest time that the leader's work may take to end after a step-down. Default: 5 s; with voters the work has to
    /// end within the lease.
    pub drain: Option<Duration>,
    /// Cool-down: time after a step-down in which the agent lets other agents go first. Default: 60 s.
    pub cooldown: Option<Duration>,
    /// Certificates (feature `tls`). Default: none.
    pub tls: TlsSettings,
    /// Durations of the election. They must be the same at every node.
    pub timings: TimingsSettings,
    /// The quorum mode: two agents never lead at the same time. Default: off.
    pub quorum: QuorumSettings,
    /// A lease in a store: two agents never lead at the same time. Links between the nodes are optional. Default: off.
    pub lease: LeaseSettings,
    /// zenoh as the network, in place of `listen` and of the addresses of peers. Default: off.
    pub zenoh: ZenohSettings,
    /// The limits of the bridge.
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerSettings {
    /// Name of the node. Required.
    pub node: String,
    /// Address at which the node listens: `host:port`. Default: none. Without an address, that node has to dial this
    /// node, and only silence shows that its process has ended.
    pub address: Option<String>,
    /// Agents for which the node may send messages. Default: all agents, as with
    /// [`Peer::new`](crate::remote::Peer::new).
    pub rights: Option<Vec<GrantSettings>>,
}

impl PeerSettings {
    /// Returns a node that listens at the address.
    pub fn new(node: &str, address: &str) -> Self {
        Self {
            node: node.to_owned(),
            address: Some(address.to_owned()),
            rights: None,
        }
    }

    /// Returns a node that has no address here, because it dials this node.
    pub fn inbound(node: &str) -> Self {
        Self {
            node: node.to_owned(),
            ..Self::default()
        }
    }
}

/// Agents for which a peer may send messages. `*` means all names, `api-*` all names that begin with `api-`, and any
/// other text exactly that name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GrantSettings {
    /// Groups of the agents. Default: `*`.
    pub groups: String,
    /// Agents of those groups. Default: `*`.
    pub agents: String,
    /// Role that these agents may take. Default: [`MayBe::Leader`].
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

/// Files of the certificates: set all three, or none. See [`tls`](crate::remote::BridgeBuilder) of the bridge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TlsSettings {
    /// PEM: the certificates of the authorities whose nodes are trusted.
    pub authorities_file: Option<PathBuf>,
    /// PEM: the certificate of this node, which contains the node's name, and the certificates between it and an
    /// authority.
    pub certificate_file: Option<PathBuf>,
    /// PEM: the private key of that certificate.
    pub key_file: Option<PathBuf>,
}

/// The quorum mode: a majority of the voters elects, and two agents never lead at the same time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuorumSettings {
    /// Names of all voters, the same at every node. Default: none; then the quorum mode is off.
    pub voters: Vec<String>,
    /// Epoch: the number of the list of voters. Default: 0. Raise it by one with every change of `voters`,
    /// `vote_quorum` or `lease_quorum`.
    pub epoch: u64,
    /// Whether the voters have no disk, as in containers without a volume; the same at every node. Default: false. Such
    /// a voter waits after each start, and the token of a leader is a fence only under a condition: see
    /// [`diskless`](crate::elections::quorum::diskless).
    pub diskless: bool,
    /// Whether this node has a store and may be missing in `voters`. A node that is missing follows as a *learner*
    /// until an operator adds it to the running group. Default: false; then such a node is refused. The key may stay
    /// set after the node has become a voter.
    pub learner: bool,
    /// File of this node's votes. Required, unless the node observes or the voters have no disk.
    pub store_file: Option<PathBuf>,
    /// Whether that file is opened or created. Default: [`OpenStore::Open`]. To create the file states that this node
    /// never voted. [`OpenStore::OpenOrCreate`] is for the first start and all later starts; with one voter it is
    /// refused.
    pub store: OpenStore,
    /// Number of votes that elect a leader. Default: a majority.
    pub vote_quorum: Option<usize>,
    /// Number of acknowledgements by which a leader keeps its lease. Default: a majority.
    pub lease_quorum: Option<usize>,
}

/// A lease in a store that every node reaches; see [`lease`](crate::agent::AgentBuilder::lease). Set the keys of one
/// store, the same at every node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeaseSettings {
    /// A folder, for the processes of one host. A missing folder is created.
    pub folder: Option<PathBuf>,
    /// File with the URL of a PostgreSQL database (feature `postgres`). It is read again at each login. If the URL
    /// contains a password, only the owner of the file may have the right to read it.
    pub postgres_url_file: Option<PathBuf>,
    /// Schema of that database that has the table. Default: `public`.
    pub postgres_schema: Option<String>,
    /// Whether a missing table is created in that database. Default: false.
    pub create_table: bool,
    /// Members of a cluster of etcd, each as `http://host:port` or `https://host:port` (feature `etcd`).
    pub etcd_endpoints: Vec<String>,
    /// File with a user of etcd and the password: `user:password`. Only the owner of the file may have the right to
    /// read it. It is read again at each login. Default: none, for an etcd that needs no login.
    pub etcd_login_file: Option<PathBuf>,
    /// Whether the lease is in Kubernetes (feature `kubernetes`): a Lease in the namespace of this pod, accessed with
    /// the account of this pod. Then the key `node` may be missing if the configuration is read from a file or from the
    /// environment; the node gets the name of the pod. Default: false.
    pub kubernetes: bool,
    /// Namespace to use instead of the namespace of the pod, or of the kubeconfig.
    pub kubernetes_namespace: Option<String>,
    /// Kubeconfig to use instead of the account of a pod. Default outside of a pod: the user's kubeconfig.
    pub kubeconfig_file: Option<PathBuf>,
    /// PEM: the certificates of the authorities whose servers are trusted (feature `tls`). Default: none; then
    /// connections to the store do not use TLS. Required for `https`. This file and the next two are read again at each
    /// connect.
    pub authorities_file: Option<PathBuf>,
    /// PEM: the certificate by which this node proves its identity to the store, with the certificates between it and
    /// an authority. Default: none, for a store that needs no certificate.
    pub certificate_file: Option<PathBuf>,
    /// PEM: the private key of that certificate.
    pub key_file: Option<PathBuf>,
}

/// zenoh as the network of the bridge (the crate `actix-bully-zenoh`). The node is a zenoh peer that is connected to
/// every other peer, or a client of routers. The nodes of `peers` are found by their names.
///
/// An endpoint is `tcp/HOST:PORT` or `quic/HOST:PORT`. With `quic/` the files of the section `tls` also protect the
/// links, and the certificate of a node has to contain the host name by which other nodes connect to it. `tcp/` may
/// leave this host only with that section, whose TLS then runs from end to end, or with `dangerous_plaintext`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ZenohSettings {
    /// Endpoints at which other peers connect to this peer. Default: none.
    pub listen: Vec<String>,
    /// Peers or routers to which this node connects as a peer. Default: none. With `tcp/` one endpoint is enough,
    /// because the peer at that endpoint reports the endpoints of the other peers.
    pub connect: Vec<String>,
    /// Routers; one of them is enough. With this key the node is a client of the routers, and neither listens nor
    /// connects to anything else. Default: none.
    pub routers: Vec<String>,
}

/// A preset of [`Timings`], and the durations that differ from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimingsSettings {
    /// Preset for the durations that are not set. Default: [`TimingsPreset::Default`]; with a lease in Kubernetes
    /// [`TimingsPreset::Wan`], since each renewal is a write to the API server.
    pub preset: Option<TimingsPreset>,
    /// d: longest time from the sending of a message until its receiver has handled it.
    pub delay_bound: Option<Duration>,
    /// T: time for which a candidate waits for members that do not answer.
    pub deadline: Option<Duration>,
    /// H: time between two heartbeats of a leader.
    pub heartbeat: Option<Duration>,
    /// L: length of a silence after which members consider the leader gone.
    pub detection: Option<Duration>,
    /// S: additional time for which each lower rank waits before it starts an election.
    pub step: Option<Duration>,
    /// J: random part of a wait that several agents begin at the same moment.
    pub jitter: Option<Duration>,
    /// E: length of one round of questions in quorum mode.
    pub round: Option<Duration>,
    /// D: length of the lease of the quorum mode.
    pub lease: Option<Duration>,
    /// P: length of the promise of the quorum mode.
    pub promise: Option<Duration>,
}

/// Returns settings in which all durations are set, so that the preset does not matter.
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

/// Limits that differ from the default [`Limits`](crate::remote::Limits) of the bridge. The method of the same name of
/// [`LimitsBuilder`](crate::remote::LimitsBuilder) explains the meaning, default and range of each field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitsSettings {
    /// Longest time from a new connection until both sides are ready.
    pub handshake: Option<Duration>,
    /// Longest frame, in bytes.
    pub frame: Option<usize>,
    /// Largest number of connections that other nodes have made.
    pub inbound: Option<usize>,
    /// Largest number of bytes per second that a peer may send.
    pub rate: Option<usize>,
    /// Number of bytes that a peer may send at once on top of the rate.
    pub burst: Option<usize>,
    /// Largest number of bytes that may wait to be sent to a peer.
    pub queue: Option<usize>,
    /// Length of a silence after which this side sends a ping.
    pub ping_after: Option<Duration>,
    /// Length of a silence after which a peer is considered gone.
    pub silence: Option<Duration>,
    /// First pause between two attempts to dial.
    pub dial_min: Option<Duration>,
    /// Longest pause between two attempts to dial.
    pub dial_max: Option<Duration>,
    /// Time without a link after which a peer's last incarnation is forgotten.
    pub forget: Option<Duration>,
}
