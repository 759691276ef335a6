//! Starts a bridge: checks everything first, then changes something.
//!
//! Decided here: the order of a start (names, peers, listening, groups, actor), and that a failure leaves nothing
//! behind. Not here: which calls contradict each other (`calls.rs`), and how a bridge listens (`network.rs`).

mod calls;
mod network;

pub(super) use network::check_address;

use std::sync::Arc;

use actix::{Recipient, clock::Instant};

use crate::{
    clock::{SystemWallClock, WallClock},
    group::Group,
    protocol::Incarnation,
    supervisor::{Guardian, RestartPolicy, Supervision},
};
use bully_register::calls::OneOf;

use super::{Peer, memory};
use crate::remote::{
    BridgeError, BridgeHandle, ClusterId, Credential, Introduction, Limits, NodeId,
    NodeIncarnation, RemoteBridge, RemoteMessage,
    bridge::shared::{BridgeParts, BridgeState},
    carry::{Carried, GroupCarrier, WallMillis},
    transport::{Security, Tcp, Transport},
    wire::Versions,
};

/// Settings of a bridge, made by [`RemoteBridge::builder`].
#[must_use = "a builder does nothing until `start` is called"]
pub struct BridgeBuilder {
    node: String,
    cluster: String,
    listen: Option<String>,
    peers: Vec<Peer>,
    carried: Vec<MakeCarried>,
    /// The groups for application messages that belong to the carried groups.
    companions: Vec<MakeCarried>,
    limits: Limits,
    /// The network. Default: [`Tcp`].
    transport: Option<Arc<dyn Transport>>,
    pub(super) security: Option<Arc<dyn Security>>,
    pub(super) credential: OneOf<Arc<dyn Credential>>,
    pub(super) is_dangerous: bool,
    incarnation: Option<NodeIncarnation>,
    versions: Versions,
    memory: OneOf<memory::NodeMemory>,
    seed: Option<u64>,
    /// The wall clock. Default: the host's wall clock.
    wall: Option<WallMillis>,
    policy: RestartPolicy,
    parent: Option<Recipient<Supervision<NodeId>>>,
    #[cfg(feature = "sentinel")]
    pub(super) sentinel: Option<crate::remote::sentinel::Sentinel>,
}

/// A function that makes a carried group. It is called at the start, when the limits are known.
type MakeCarried = Box<dyn FnOnce(&Limits) -> Arc<dyn Carried>>;

impl BridgeBuilder {
    pub(crate) fn new(node: &str) -> Self {
        Self {
            node: node.to_owned(),
            cluster: "default".to_owned(),
            listen: None,
            peers: Vec::new(),
            carried: Vec::new(),
            companions: Vec::new(),
            limits: Limits::default(),
            transport: None,
            security: None,
            credential: OneOf::none(),
            is_dangerous: false,
            incarnation: None,
            versions: Versions::OURS,
            memory: OneOf::none(),
            seed: None,
            wall: None,
            policy: RestartPolicy::default(),
            parent: None,
            #[cfg(feature = "sentinel")]
            sentinel: None,
        }
    }

    /// Sets the cluster. Nodes of different clusters refuse each other. Default: `default`.
    pub fn cluster(mut self, name: &str) -> Self {
        name.clone_into(&mut self.cluster);
        self
    }

    /// Announces exactly these versions of the protocol, in place of the versions of this release.
    #[cfg(feature = "testkit")]
    pub fn versions(mut self, versions: Versions) -> Self {
        self.versions = versions;
        self
    }

    /// Sets the address at which other nodes dial this node: an address of this host; port 0 means any free port.
    /// Default: none; then this node has to dial.
    pub fn listen(mut self, address: &str) -> Self {
        self.listen = Some(address.to_owned());
        self
    }

    /// Adds a peer; may be called several times.
    pub fn peer(mut self, peer: Peer) -> Self {
        self.peers.push(peer);
        self
    }

    /// Adds a group to carry; may be called several times, for groups of any elections. Start the bridge before the
    /// group's agents. From the start of the bridge on, the agents of this process get incarnations by which peers can
    /// distinguish them from the agents of an earlier process.
    ///
    /// If the agents of two nodes follow different rules, or have different voters in the same epoch, no message of the
    /// group crosses between the two nodes, and [`BridgeEvent::Mismatch`](crate::remote::BridgeEvent::Mismatch) reports
    /// it. Between members of different epochs messages cross, so that the members learn of the later epoch.
    ///
    /// Messages of applications ([`Messages`](crate::leader::Messages)) cross as well. A peer may send them for each
    /// agent for which it has rights in the group.
    pub fn carry<M: RemoteMessage>(mut self, group: &Group<M>) -> Self {
        self.carried.push(carry(group.clone()));
        self.companions.extend(group.companion().map(carry));
        self
    }

    /// Sets all limits. Default: [`Limits::default`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the network by which peers are reached, such as a network of your own or the network of the crate
    /// `actix-bully-zenoh`; see [`transport`](crate::remote::transport). Default: [`Tcp`].
    pub fn transport(mut self, transport: impl Transport + 'static) -> Self {
        self.transport = Some(Arc::new(transport));
        self
    }

    /// Uses mutual TLS on every connection. Renewed files are read before the next handshake, or within an hour.
    /// Default: connections are not encrypted; then only loopback addresses are accepted, unless
    /// [`dangerous_plaintext`](Self::dangerous_plaintext) is called.
    #[cfg(feature = "tls")]
    #[cfg_attr(docsrs, doc(cfg(feature = "tls")))]
    pub fn tls(mut self, config: crate::remote::tls::TlsConfig) -> Self {
        self.security = Some(Arc::new(config));
        self
    }

    /// Sets the proof that both ends of every connection give each other after they have sent the names of their nodes.
    /// Default: none.
    #[cfg(feature = "testkit")]
    pub fn credential(mut self, credential: impl Credential + 'static) -> Self {
        self.credential.make("credential", Arc::new(credential));
        self
    }

    /// Sets a secret that all nodes of the cluster share: a node without the secret is not linked. The secret proves,
    /// without TLS, which node connects. It encrypts nothing. See [`secret`](crate::remote::secret).
    #[cfg(feature = "secret")]
    #[cfg_attr(docsrs, doc(cfg(feature = "secret")))]
    pub fn secret(mut self, secret: crate::remote::secret::Secret) -> Self {
        self.credential.make("secret", Arc::new(secret));
        self
    }

    /// Allows messages to leave this host without encryption. Any process on the network can read them, and can use the
    /// name of any node.
    pub fn dangerous_plaintext(mut self) -> Self {
        self.is_dangerous = true;
        self
    }

    /// Sets the incarnation of this node; it must be larger after each restart. Default: from the wall clock. The
    /// node's agents take their own incarnations from the numbers that begin at the node's incarnation: one number for
    /// each start and restart of an agent. So the next incarnation of the node must be larger than every number that an
    /// agent took (the default leaves 2^16 numbers for each millisecond). Otherwise peers consider an agent an earlier
    /// incarnation, and ignore its messages.
    ///
    /// Peers refuse an incarnation that is earlier than the last incarnation that they met, until they
    /// [forget](crate::remote::LimitsBuilder::forget) the last incarnation, after ten minutes by default. So after a
    /// start with a clock that is ahead, or after the clock was set back, peers refuse this node for that time. A node
    /// with a disk avoids the refusal by [`remember_in`](Self::remember_in) with the store of its votes, or by
    /// [`remember`](Self::remember); a node without a disk cannot.
    pub fn incarnation(mut self, incarnation: NodeIncarnation) -> Self {
        self.incarnation = Some(incarnation);
        self
    }

    /// Sets a small file in which this node keeps its last incarnation. Each start uses a later incarnation, even if
    /// the wall clock was set back. The first start creates the file; the folder of the file must exist. Each node
    /// needs a file of its own. Default: none.
    pub fn remember(mut self, path: impl Into<std::path::PathBuf>) -> Self {
        let file = memory::NodeMemory::File(path.into());
        self.memory.make("remember", file);
        self
    }

    /// Keeps the last incarnation as [`remember`](Self::remember) does, but in the store of this node's votes, without
    /// another file. Open the store once: give clones of one `Arc` to the agent and to this method. Refused together
    /// with [`remember`](Self::remember).
    pub fn remember_in(mut self, store: Arc<dyn crate::store::Incarnations>) -> Self {
        let store = memory::NodeMemory::Store(store);
        self.memory.make("remember_in", store);
        self
    }

    /// Sets the seed of the bridge's random numbers: the jitter, and this side's half of each link's name. Default:
    /// another seed at each start. Set it only in tests.
    #[cfg(feature = "testkit")]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets the wall clock by which the terms of voters without a disk are checked, in milliseconds since the beginning
    /// of 1970. Default: the host's wall clock.
    #[cfg(feature = "testkit")]
    pub fn wall_clock(mut self, now: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        self.wall = Some(WallMillis::new(now));
        self
    }

    /// Sets how the bridge is restarted after a crash. Default: [`RestartPolicy::transient`].
    pub fn restart_policy(mut self, policy: RestartPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets the actor that receives reports of crashes and restarts of the bridge. Default: none.
    pub fn parent(mut self, parent: Recipient<Supervision<NodeId>>) -> Self {
        self.parent = Some(parent);
        self
    }

    /// Starts the bridge on the current arbiter.
    ///
    /// # Errors
    /// [`BridgeError`]. Nothing was changed then.
    ///
    /// # Panics
    /// Outside of the event loop, like every start of an actor.
    pub fn start(mut self) -> Result<BridgeHandle, BridgeError> {
        // Checked before an address is bound: a socket that begins to listen without a runtime panics.
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(BridgeError::NoRuntime);
        }
        let node = node_id(&self.node)?;
        self.check_calls()?;
        self.check_security(&node)?;
        self.warn_of_strangers();
        let ends = self.ends()?;
        let cluster = ClusterId::new(&self.cluster).map_err(BridgeError::Cluster)?;
        let transport = self.transport.take();
        let transport = transport.unwrap_or_else(|| Arc::new(Tcp::default()));
        let listener = self.open_network(&*transport, &node, &cluster)?;
        let local = listener.as_ref().and_then(|listener| listener.local_addr());
        // The companions (groups for application messages) come last, so they do not change the numbers of other
        // groups.
        let all = self.carried.drain(..).chain(self.companions.drain(..));
        let carried = all.map(|carry| carry(&self.limits));
        let carried = check_groups(carried.collect())?;
        let incarnation = self.begin_incarnation()?;
        let shared = Arc::new(BridgeState::new(BridgeParts {
            me: Introduction {
                versions: self.versions,
                ..Introduction::new(node.clone(), cluster, incarnation)
            },
            limits: self.limits,
            transport,
            security: self.security,
            credential: self.credential.get()?.cloned(),
            carried,
            listener,
            seed: self.seed.unwrap_or_else(|| fastrand::u64(..)),
            began: Instant::now(),
            wall: self.wall.unwrap_or_else(|| WallMillis::new(wall_millis)),
            is_dangerous: self.is_dangerous,
            ends,
        }));
        for peer in self.peers {
            let node = peer.check(&shared, self.is_dangerous)?;
            if !shared.configure(&node, peer) {
                return Err(BridgeError::PeerTaken { node });
            }
        }
        open(&shared.carried, &node, Incarnation(incarnation.0))?;
        let ending = FinishOnDrop(Arc::clone(&shared));
        let mut guardian = Guardian::builder(node)
            .policy(self.policy)
            .on_exit(move |_| ending.crashed());
        if let Some(parent) = self.parent {
            guardian = guardian.parent(parent);
        }
        let first = RemoteBridge::new(Arc::clone(&shared));
        let addr = guardian.start(|_| first);
        shared.follow_voters(addr.downgrade());
        Ok(BridgeHandle {
            addr,
            shared,
            local,
        })
    }

    /// Returns the incarnation of this start. It is called after all other steps of a start that can fail, because an
    /// incarnation that was stored cannot be taken back.
    fn begin_incarnation(&self) -> Result<NodeIncarnation, BridgeError> {
        let by_clock = self.incarnation.unwrap_or_else(by_wall_clock);
        match self.memory.get()? {
            None => Ok(by_clock),
            Some(memory::NodeMemory::File(path)) => {
                memory::begin(path, by_clock).map_err(|reason| BridgeError::Memory {
                    path: path.clone(),
                    reason,
                })
            }
            Some(memory::NodeMemory::Store(store)) => memory::begin_in(&**store, by_clock)
                .map_err(|reason| BridgeError::MemoryStore { reason }),
        }
    }

    fn check_security(&self, node: &NodeId) -> Result<(), BridgeError> {
        match self
            .security
            .as_ref()
            .map(|security| security.vouches_for())
        {
            Some(found) if found != node => {
                let (found, node) = (found.clone(), node.clone());
                Err(BridgeError::OtherNode { found, node })
            }
            Some(_) | None => Ok(()),
        }
    }

    fn warn_of_strangers(&self) {
        if !self.is_proven() {
            tracing::warn!(
                node = %self.node,
                "peers do not prove their names: any process that reaches this bridge, on loopback of any local user, can send messages as any of them, and two agents may lead even in quorum mode: use .secret(..) or .tls(..), in a configuration `secret_file` or the section `tls`"
            );
        }
    }
}

pub(super) fn node_id(name: &str) -> Result<NodeId, BridgeError> {
    NodeId::new(name).map_err(|reason| BridgeError::Node {
        name: name.to_owned(),
        reason,
    })
}

fn check_groups(carried: Vec<Arc<dyn Carried>>) -> Result<Vec<Arc<dyn Carried>>, BridgeError> {
    if carried.is_empty() {
        return Err(BridgeError::NoGroup);
    }
    let mut names: Vec<_> = carried.iter().map(|carried| carried.name()).collect();
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair.first() == pair.last());
    if let Some([name, ..]) = twice {
        let name = (*name).to_owned();
        return Err(BridgeError::TwoGroups { name });
    }
    Ok(carried)
}

fn carry<M: RemoteMessage>(group: Group<M>) -> MakeCarried {
    Box::new(|limits| Arc::new(GroupCarrier::new(group, limits)))
}

/// Opens all groups to other hosts. If a group cannot be opened, no group stays open.
fn open(
    carried: &[Arc<dyn Carried>],
    node: &NodeId,
    floor: Incarnation,
) -> Result<(), BridgeError> {
    for (at, group) in carried.iter().enumerate() {
        if let Err(reason) = group.open(node.as_str(), floor) {
            carried.iter().take(at).for_each(|opened| opened.close());
            let group = group.name().to_owned();
            return Err(BridgeError::Open { group, reason });
        }
    }
    Ok(())
}

/// Returns an incarnation from the milliseconds of the wall clock, and random bits that separate two starts in one
/// millisecond. With a wrong clock, peers refuse this node until they forget its last incarnation, unless the node
/// remembers that incarnation.
fn by_wall_clock() -> NodeIncarnation {
    let millis = wall_millis().min(u64::MAX >> CHANCE);
    NodeIncarnation(millis << CHANCE | u64::from(fastrand::u16(..)))
}

/// Of all clocks of a host, only the wall clock continues after a restart.
fn wall_millis() -> u64 {
    SystemWallClock.now().as_millis()
}

/// Number of random bits in an incarnation.
const CHANCE: u32 = 16;

/// Ends the bridge for good when it is dropped. The supervisor keeps this value through all restarts.
struct FinishOnDrop(Arc<BridgeState>);

impl FinishOnDrop {
    fn crashed(&self) {
        tracing::debug!(node = %self.0.me.node, "bridge's incarnation ended");
    }
}

impl Drop for FinishOnDrop {
    fn drop(&mut self) {
        self.0.finish();
    }
}
