//! The state that all parts of one bridge share, through all its restarts.
//!
//! Decided here: which state outlasts a crash of the actor: the identity of this side, the agents of every peer, and
//! all counters. Links do not outlast a crash; they are made again.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use actix::{WeakAddr, clock::Instant};
use fastrand::Rng;
use tokio::sync::Mutex as AsyncMutex;
use tracing::{
    debug,
    field::{debug, display},
    info, warn,
};

use crate::group::companion_of;
use crate::{
    metrics::BridgeMeter,
    protocol::{AgentId, Leaders, Requirements, Term, Time},
};

use crate::remote::{
    BridgeCounters, Closed, Credential, Farewell, GroupRules, GroupStanding, Introduction, Limits,
    NodeId, Nonce, Peer, RemoteBridge,
    advice::advice,
    bridge::{
        decreed::PeerBook,
        ends::Ends,
        events::{BridgeEvent, Events},
        gate::Gate,
        health::PeerHealth,
        leaders::LeadersHeard,
        noise::Noise,
        peers::ConnId,
        status::{LinkStatus, Traffic},
    },
    carry::{Carried, GroupTermGuard, LiveRights, Lost, NodeRoute, PeerAgents, WallMillis},
    transport::{Listener, Security, Transport},
    wire::Opening,
};

/// The state of a bridge that its restarts keep.
pub(crate) struct BridgeState {
    pub(crate) me: Introduction,
    pub(crate) limits: Limits,
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) security: Option<Arc<dyn Security>>,
    pub(crate) credential: Option<Arc<dyn Credential>>,
    pub(crate) carried: Vec<Arc<dyn Carried>>,
    /// One guard of terms for each group, in the order of the groups.
    guards: Vec<GroupTermGuard>,
    /// The listener, which the listening task holds locked. It contains `None` if the bridge does not listen.
    pub(super) listener: Arc<AsyncMutex<Option<Box<dyn Listener>>>>,
    pub(super) is_over: AtomicBool,
    pub(super) is_told: AtomicBool,
    pub(crate) gate: Arc<Gate>,
    pub(crate) counters: BridgeCounters,
    pub(crate) traffic: Mutex<Traffic>,
    pub(crate) leaders: LeadersHeard,
    pub(crate) instruments: BridgeMeter,
    pub(crate) ends: Ends,
    pub(crate) events: Events,
    peers: Mutex<BTreeMap<NodeId, Arc<PeerState>>>,
    pub(crate) book: Mutex<PeerBook>,
    /// The actor, as soon as it runs.
    pub(crate) actor: OnceLock<WeakAddr<RemoteBridge>>,
    /// Whether messages may leave the host without encryption.
    pub(crate) is_dangerous: bool,
    rng: Mutex<Rng>,
    /// The reports of refused connections so far.
    noise: Mutex<Noise>,
    /// Groups for which the warning of two possible leaders was already given.
    warned: Mutex<BTreeSet<usize>>,
    serial: AtomicU64,
    began: Instant,
}

/// The state of one peer.
#[derive(Debug)]
pub(crate) struct PeerState {
    pub(crate) node: NodeId,
    pub(crate) address: Option<String>,
    pub(crate) rights: LiveRights,
    pub(crate) agents: Mutex<PeerAgents>,
    /// The routes of the peer into the groups, in the order in which the bridge carries the groups.
    pub(crate) routes: Vec<Arc<dyn NodeRoute>>,
    /// Whether an agent of this peer was refused in any group because another agent has its name.
    refusals: Arc<AtomicBool>,
    pub(crate) stage: Mutex<LinkStatus>,
    /// Whether the bridge has reported that the peer was never seen. Kept here, so that the bridge does not repeat the
    /// report after a crash.
    told_unseen: AtomicBool,
    /// Facts about the peer for people.
    pub(crate) health: PeerHealth,
}

/// The parts of which a bridge is made.
pub(crate) struct BridgeParts {
    pub(crate) me: Introduction,
    pub(crate) limits: Limits,
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) security: Option<Arc<dyn Security>>,
    pub(crate) credential: Option<Arc<dyn Credential>>,
    pub(crate) carried: Vec<Arc<dyn Carried>>,
    pub(crate) listener: Option<Box<dyn Listener>>,
    pub(crate) seed: u64,
    pub(crate) began: Instant,
    pub(crate) wall: WallMillis,
    pub(crate) is_dangerous: bool,
    pub(crate) ends: Ends,
}

impl BridgeState {
    pub(crate) fn new(parts: BridgeParts) -> Self {
        let guard = |_| GroupTermGuard::new(parts.wall.clone());
        let guards = parts.carried.iter().map(guard).collect();
        let instruments = BridgeMeter::new(parts.me.node.as_str());
        let leaders = LeadersHeard::new(parts.carried.len());
        Self {
            gate: Arc::new(Gate::new(&parts.limits)),
            me: parts.me,
            limits: parts.limits,
            transport: parts.transport,
            security: parts.security,
            credential: parts.credential,
            carried: parts.carried,
            guards,
            listener: Arc::new(AsyncMutex::new(parts.listener)),
            is_over: AtomicBool::new(false),
            is_told: AtomicBool::new(false),
            counters: BridgeCounters::new(),
            traffic: Mutex::default(),
            leaders,
            instruments,
            ends: parts.ends,
            events: Events::default(),
            peers: Mutex::default(),
            book: Mutex::default(),
            actor: OnceLock::new(),
            is_dangerous: parts.is_dangerous,
            rng: Mutex::new(Rng::with_seed(parts.seed)),
            noise: Mutex::default(),
            warned: Mutex::default(),
            serial: AtomicU64::new(0),
            began: parts.began,
        }
    }

    /// Returns the time of the bridge's own clock.
    pub(crate) fn now(&self) -> Time {
        Time::ZERO.after(self.began.elapsed())
    }

    /// Returns the instant at which the bridge's own clock shows the time `at`.
    pub(crate) fn instant(&self, at: Time) -> Instant {
        // The span is limited to 68 years, because the sum below could overflow. No deadline is later than that.
        let far = Duration::from_secs(1 << 31);
        let span = at.since(Time::ZERO).min(far);
        self.began.checked_add(span).unwrap_or(self.began)
    }

    /// Begins a connection. Returns its number, and this side's half of the link's name.
    ///
    /// The half begins with the number of the connection, and a link's name begins with the half of the node with the
    /// lower name. So the later a link was begun by the node with the lower name, the higher is the link's name. Of two
    /// links between two incarnations, the link with the higher name stays.
    pub(crate) fn begin(&self) -> (ConnId, Nonce) {
        let serial = self.serial.fetch_add(1, Relaxed);
        let count = u32::try_from(serial).unwrap_or(u32::MAX);
        let chance = lock(&self.rng).u32(..);
        let half = u64::from(count) << 32 | u64::from(chance);
        (ConnId(serial), Nonce(half.to_be_bytes()))
    }

    /// Returns a random point between `min` and `max`, in nanoseconds.
    pub(crate) fn draw(&self, min: u64, max: u64) -> u64 {
        // The generator panics if the range is empty.
        lock(&self.rng).u64(min..=max.max(min))
    }

    pub(crate) fn peer(&self, node: &NodeId) -> Option<Arc<PeerState>> {
        lock(&self.peers).get(node).cloned()
    }

    pub(crate) fn peers(&self) -> Vec<Arc<PeerState>> {
        lock(&self.peers).values().cloned().collect()
    }

    /// Adds a peer. Returns whether it was new.
    pub(crate) fn add(&self, node: &NodeId, peer: Peer) -> bool {
        let mut peers = lock(&self.peers);
        if peers.contains_key(node) {
            return false;
        }
        let lost = |group| self.lost(node, group);
        let now = self.now();
        let agents = PeerAgents::new(node.as_str(), &self.carried, &self.limits, now, lost);
        let peer = PeerState {
            routes: agents.routes(),
            node: node.clone(),
            address: self.transport.address_of(node, peer.address),
            rights: LiveRights::new(peer.rights),
            refusals: Arc::clone(agents.refusals()),
            agents: Mutex::new(agents),
            stage: Mutex::new(LinkStatus::Waiting),
            told_unseen: AtomicBool::new(false),
            health: PeerHealth::default(),
        };
        peers.insert(node.clone(), Arc::new(peer));
        true
    }

    /// Removes a peer, and its agents from all groups.
    pub(crate) fn remove(&self, node: &NodeId) {
        let peer = lock(&self.peers).remove(node);
        if let Some(peer) = peer {
            self.gate.forget(node);
            self.ends.forget(node);
            // Closed first, because the peer's link may still be read, and would announce the removed agents again.
            peer.agents().close();
            (0..self.carried.len()).for_each(|group| peer.agents().remove(group));
            self.retry_all();
        }
    }

    /// Notes that a name became free in a group: an agent that was refused this name may get it now.
    pub(crate) fn retry(&self, group: usize) {
        for peer in self.peers() {
            // Few peers have a refused agent. The other peers do not have to be locked for this.
            if peer.refusals.load(Relaxed) {
                peer.agents().retry(group);
            }
        }
    }

    /// Does the same as [`retry`](Self::retry), in all groups.
    pub(crate) fn retry_all(&self) {
        (0..self.carried.len()).for_each(|group| self.retry(group));
    }

    /// Returns a callback that reports the names that agents of this node lose in a group.
    fn lost(&self, node: &NodeId, group: usize) -> Lost {
        let (events, node) = (self.events.clone(), node.clone());
        let group = self.told_name(group);
        Box::new(move |agent, by| {
            if let Some(group) = group.clone() {
                warn!(peer = %node, %group, %agent, %by, "name taken over from a peer");
                let (node, agent, by) = (node.clone(), agent.clone(), by.clone());
                events.tell(BridgeEvent::NameTakenOver {
                    node,
                    group,
                    agent,
                    by,
                });
            }
        })
    }

    /// Returns whether this side carries the group by the rules that the peer has announced. If no agent runs here yet,
    /// every rule is accepted.
    pub(crate) fn standing(&self, group: usize, opening: &Opening<'_>) -> GroupStanding {
        let carried = self.carried.get(group);
        match carried.and_then(|carried| carried.requirements()) {
            Some(mine) if !GroupRules::opened(opening).meet(&mine) => GroupStanding::Mismatch,
            Some(_) => GroupStanding::Carried(group),
            None => {
                // The guard of terms learns the peer's epoch here. Otherwise the peer's first term in the epoch would
                // seem much too high, and would end the link.
                if let Some(guard) = self.guards.get(group) {
                    guard.count_from(opening.rules, opening.epoch);
                }
                GroupStanding::Carried(group)
            }
        }
    }

    /// Counts and reports the reason why a link ended or never became ready.
    pub(crate) fn ended(&self, node: Option<&NodeId>, from: &str, why: Closed, names: Vec<String>) {
        self.counters.count(why.name());
        let peer = node.map(display);
        // No event for a dialled peer that does not answer: `PeerUnreachable` or `NeverSeen` reports it.
        let is_mute = why == Closed::HandshakeTimeout && node.is_some();
        // Two nodes that start together dial each other, and one of the two links replaces the other.
        if matches!(why, Closed::Lost | Closed::Silent | Closed::Replaced) || is_mute {
            return debug!(peer, addr = from, reason = %why, "link ended");
        }
        if why == Closed::Leaving {
            return info!(peer, addr = from, reason = %why, "link ended");
        }
        // Number of reports that were left out before, if a report may be made now.
        let Some(left_out) = lock(&self.noise).may_tell(self.now(), from) else {
            return;
        };
        if left_out > 0 {
            self.events.tell(BridgeEvent::LeftOut { events: left_out });
        }
        match advice(why) {
            None if why == Closed::Goodbye(Farewell::Replaced) => {
                debug!(peer, addr = from, reason = %why, left_out, "link ended");
            }
            // The link ended as intended, so there is no advice.
            None => info!(peer, addr = from, reason = %why, left_out, "link ended"),
            Some(advice) => {
                let names = (!names.is_empty()).then(|| debug(&names));
                warn!(peer, addr = from, reason = %why, names, advice, left_out, "link refused");
            }
        }
        self.events.tell(BridgeEvent::Refused {
            node: node.cloned(),
            from: from.to_owned(),
            name: why.name(),
            reason: why.to_string(),
            names,
        });
    }

    /// Notes the rules that the agents of a group in this process follow from now on.
    pub(crate) fn follow(&self, group: usize, requirements: &Requirements, votes: bool) {
        self.warn_of_two_leaders(group, requirements.leaders);
        if let Some(guard) = self.guards.get(group) {
            guard.follow(requirements, votes);
        }
    }

    /// Checks whether a peer may send this term of a leader in a group. Returns whether the message with this term is
    /// delivered.
    pub(crate) fn admit(&self, group: usize, term: Term) -> Result<bool, Closed> {
        self.terms(group)
            .map_or(Ok(true), |guard| Ok(guard.admit(term, None)?))
    }

    pub(crate) fn terms(&self, group: usize) -> Option<&GroupTermGuard> {
        self.guards.get(group)
    }

    /// Warns once for each group whose hosts may have two leaders if they lose contact. Within a process no partition
    /// can happen, so a user may never have seen two leaders before.
    fn warn_of_two_leaders(&self, group: usize, leaders: Leaders) {
        let is_safe = matches!(leaders, Leaders::PerTerm | Leaders::PerInstant);
        if is_safe || !lock(&self.warned).insert(group) {
            return;
        }
        let group = self.carried.get(group).map(|carried| carried.name());
        match leaders {
            Leaders::PerTerm | Leaders::PerInstant => {}
            Leaders::PerSide => warn!(
                group,
                "group reaches other hosts, and each side of a partition elects a leader: use the quorum election (.quorum(..), in a configuration the section `quorum`) where that must not happen"
            ),
            Leaders::Unpromised => warn!(
                group,
                "group reaches other hosts, and two of its agents may lead at once, even in one term: use the quorum election (.quorum(..), in a configuration the section `quorum`) where that must not happen"
            ),
        }
    }

    /// Reports a name that an agent of a peer may not have.
    pub(crate) fn name_taken(&self, node: &NodeId, group: usize, agent: AgentId) {
        if let Some(group) = self.told_name(group) {
            let node = node.clone();
            self.events
                .tell(BridgeEvent::NameTaken { node, group, agent });
        }
    }

    /// Returns the name of a group, if events report this group. Events of a companion group (for application messages)
    /// would only repeat the events of its group.
    fn told_name(&self, group: usize) -> Option<AgentId> {
        let name = self.carried.get(group)?.name();
        let is_told = companion_of(name).is_none();
        is_told.then(|| AgentId::new(name).ok())?
    }
}

impl PeerState {
    pub(crate) fn agents(&self) -> MutexGuard<'_, PeerAgents> {
        lock(&self.agents)
    }

    /// Returns whether the peer never had a link and the bridge has not reported that yet. The first such call counts
    /// as the report.
    pub(crate) fn tells_unseen(&self) -> bool {
        self.agents().latest.is_none() && !self.told_unseen.swap(true, Relaxed)
    }
}

impl std::fmt::Debug for BridgeState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BridgeState")
            .field("me", &self.me)
            .finish_non_exhaustive()
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A crashed actor may have held this lock. The state outlasts the crash, so the lock is used anyway.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
