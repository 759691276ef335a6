//! The bridge as an actor: it manages the peers; the tasks of the connections do the rest.
//!
//! Decided here: how the effects of a peer's machine are carried out, and which events the groups and the application
//! receive. After a crash the peers' machines begin anew, but the records of the peers' agents are kept. So these
//! agents stay members while the links are made again.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use actix::{
    Actor, ActorContext, ActorFutureExt, AsyncContext, Context, Handler, MessageResult,
    ResponseActFuture, Supervised, WrapFuture,
};
use tokio::sync::oneshot;
use tracing::{debug, info};

use super::expiry;
use crate::remote::{
    BridgeBuilder, BridgeEvent, Closed, NodeId,
    bridge::{
        accept::accept,
        gate,
        message::{
            Accepted, AddPeer, ConnectionEnded, ConnectionOutcome, DrainLinks, LinkReady, Relink,
            RemovePeer, Stop,
        },
        peers::{
            Backoff, ConnId, LinkLoss, Origin, PeerChange, PeerEffect, PeerInput, PeerMachine,
            ReadyLink,
        },
        shared::{BridgeState, PeerState, lock},
        status::{LinkStatus, Traffic},
        task::TaskGuard,
    },
    link::{Connection, Setup},
};

/// Carries groups to other hosts. The agents of the other hosts become members, like the agents of this process.
///
/// ```no_run
/// use actix_bully::{Group, agent::BullyAgent, remote::{Peer, RemoteBridge}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # actix::System::new().block_on(async {
/// let group = Group::new("shop")?;
/// let bridge = RemoteBridge::builder("host-a")
///     .listen("127.0.0.1:7400")
///     .peer(Peer::new("host-b", "127.0.0.1:7401"))
///     .carry(&group)
///     .start()?;
/// let agent = BullyAgent::builder("api-1").join(&group).start()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub struct RemoteBridge {
    shared: Arc<BridgeState>,
    peers: BTreeMap<NodeId, WatchedPeer>,
    /// For each ready connection, the sender of the order to close it.
    links: BTreeMap<ConnId, oneshot::Sender<Closed>>,
    tasks: BTreeMap<ConnId, TaskGuard>,
    acceptor: Option<TaskGuard>,
    /// The callers that wait until a drain has closed all links; `None` before the drain begins.
    drained: Option<Vec<oneshot::Sender<()>>>,
    /// Whether the actor begins after a crash.
    is_restarted: bool,
}

struct WatchedPeer {
    peer: Arc<PeerState>,
    machine: PeerMachine,
    /// Number of the present wait before a dial. The end of an earlier wait has a lower number and is ignored.
    waits: u64,
}

impl RemoteBridge {
    /// Begins a builder for the bridge of the node `node`. The name is checked when the bridge starts.
    pub fn builder(node: &str) -> BridgeBuilder {
        BridgeBuilder::new(node)
    }

    pub(crate) fn new(shared: Arc<BridgeState>) -> Self {
        Self {
            shared,
            peers: BTreeMap::new(),
            links: BTreeMap::new(),
            tasks: BTreeMap::new(),
            acceptor: None,
            drained: None,
            is_restarted: false,
        }
    }

    fn listen(&mut self, ctx: &mut Context<Self>) {
        let accepting = accept(Arc::clone(&self.shared), ctx.address());
        self.acceptor = Some(TaskGuard::spawn(accepting));
    }

    fn watch(&mut self, peer: Arc<PeerState>, ctx: &mut Context<Self>) {
        let backoff = Backoff::of(&self.shared.limits);
        let machine = PeerMachine::new(backoff, peer.address.is_some(), peer.agents().latest);
        let (node, unseen) = (peer.node.clone(), Arc::clone(&peer));
        let watched = WatchedPeer {
            peer,
            machine,
            waits: 0,
        };
        self.peers.insert(node.clone(), watched);
        self.step(&node, PeerInput::Start, ctx);
        ctx.run_later(NEVER_SEEN, move |bridge, _| bridge.check_seen(&unseen));
    }

    /// Reports the peer if it never had a link. An operator may have removed the peer meanwhile, and added it again.
    fn check_seen(&self, peer: &Arc<PeerState>) {
        let watched = self.peers.get(&peer.node);
        if watched.is_some_and(|watched| Arc::ptr_eq(&watched.peer, peer)) && peer.tells_unseen() {
            let (node, address) = (peer.node.clone(), peer.address.clone());
            info!(peer = %node, addr = address.as_deref(), "peer never seen so far");
            let event = BridgeEvent::NeverSeen { node, address };
            self.shared.events.tell(event);
        }
    }

    /// Takes one step of a peer's machine, and carries out the effects. Returns the reason to close the connection of
    /// this step, if it must be closed.
    fn step(&mut self, node: &NodeId, input: PeerInput, ctx: &mut Context<Self>) -> Option<Closed> {
        let about = match input {
            PeerInput::Ready(link) => Some(link.conn),
            PeerInput::Start
            | PeerInput::Closed { .. }
            | PeerInput::DialFailed(_)
            | PeerInput::WaitOver
            | PeerInput::Removed => None,
        };
        let watched = self.peers.get_mut(node)?;
        let effects = watched.machine.handle(input);
        let peer = Arc::clone(&watched.peer);
        // The stage is set before the effects: a listener that receives an event and then asks for the stage must get
        // the stage that belongs to the event.
        let stage = watched.machine.stage();
        *lock(&peer.stage) = stage;
        #[cfg(feature = "metrics")]
        self.shared.sample_link(&peer);
        let is_linked = matches!(stage, LinkStatus::Linked { .. });
        if !is_linked && peer.agents().unlink(self.shared.now()) {
            // The names of this peer's agents are free now, so agents of other nodes that were refused such a name try
            // again.
            self.shared.retry_all();
        }
        let mut verdict = None;
        for effect in effects {
            match effect {
                PeerEffect::Dial => self.dial(&peer, ctx),
                PeerEffect::Wait { min, max } => self.wait(node, min, max, ctx),
                PeerEffect::Report(report) => self.report(&peer, report),
                PeerEffect::Replace(conn) if Some(conn) == about => {
                    verdict = Some(Closed::Replaced);
                }
                PeerEffect::CloseStale(conn) if Some(conn) == about => {
                    verdict = Some(Closed::Stale);
                }
                PeerEffect::Replace(conn) => self.close(conn, Closed::Replaced),
                PeerEffect::CloseStale(conn) => self.close(conn, Closed::Stale),
                PeerEffect::Dismiss(conn) => self.close(conn, Closed::Leaving),
            }
        }
        verdict
    }

    fn dial(&mut self, peer: &Arc<PeerState>, ctx: &mut Context<Self>) {
        Traffic::add(&mut lock(&self.shared.traffic).dials, 1);
        // A separate task, because name servers that do not answer must not delay the dial.
        TaskGuard::spawn(gate::expect(Arc::clone(&self.shared), Arc::clone(peer))).detach();
        self.connect(Setup::Dial(Arc::clone(peer)), ctx);
    }

    fn connect(&mut self, setup: Setup, ctx: &mut Context<Self>) {
        let (conn, nonce) = self.shared.begin();
        let connection = Connection {
            shared: Arc::clone(&self.shared),
            bridge: ctx.address(),
            conn,
            nonce,
        };
        let task = TaskGuard::spawn(connection.run(setup));
        self.tasks.insert(conn, task);
    }

    fn wait(&mut self, node: &NodeId, min: Duration, max: Duration, ctx: &mut Context<Self>) {
        let Some(watched) = self.peers.get_mut(node) else {
            return;
        };
        watched.waits = watched.waits.saturating_add(1);
        let (wait, node) = (watched.waits, node.clone());
        let nanos = |span: Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        let drawn = Duration::from_nanos(self.shared.draw(nanos(min), nanos(max)));
        ctx.run_later(drawn, move |bridge, ctx| {
            let is_current = |watched: &WatchedPeer| watched.waits == wait;
            if bridge.peers.get(&node).is_some_and(is_current) {
                bridge.step(&node, PeerInput::WaitOver, ctx);
            }
        });
    }

    fn close(&mut self, conn: ConnId, why: Closed) {
        if let Some(close) = self.links.remove(&conn) {
            close.send(why).ok(); // if the link has ended by itself, its task reports the end
        }
    }

    fn report(&mut self, peer: &PeerState, report: PeerChange) {
        let node = peer.node.clone();
        match report {
            PeerChange::Gone | PeerChange::Restarted => peer.agents().suspect(),
            PeerChange::Up | PeerChange::Relinked | PeerChange::OutOfReach => {}
        }
        let event = match report {
            PeerChange::Relinked => return debug!(peer = %node, "peer linked again"),
            PeerChange::Up => BridgeEvent::PeerUp { node },
            PeerChange::Gone => BridgeEvent::PeerLost { node },
            PeerChange::Restarted => BridgeEvent::PeerRestarted { node },
            PeerChange::OutOfReach => BridgeEvent::PeerUnreachable { node },
        };
        info!(node = %self.shared.me.node, peer = %peer.node, now = ?report, "peer changed");
        self.shared.events.tell(event);
    }

    /// Answers the waiting callers when all links have ended.
    fn check_drained(&mut self) {
        let Some(waiting) = &mut self.drained else {
            return;
        };
        if self.tasks.is_empty() {
            for waiter in waiting.drain(..) {
                waiter.send(()).ok(); // the caller may have given up
            }
        }
    }
}

impl Actor for RemoteBridge {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        if self.is_restarted {
            self.shared.events.tell(BridgeEvent::Restarted);
        }
        self.listen(ctx);
        expiry::watch(Arc::clone(&self.shared), ctx);
        #[cfg(feature = "metrics")]
        super::sample::watch(Arc::clone(&self.shared), ctx);
        for peer in self.shared.peers() {
            self.watch(peer, ctx);
        }
    }
}

impl Supervised for RemoteBridge {
    fn restarting(&mut self, _: &mut Context<Self>) {
        let next = Self::new(Arc::clone(&self.shared));
        *self = Self {
            is_restarted: true,
            ..next
        };
    }
}

impl Handler<Accepted> for RemoteBridge {
    type Result = ();

    fn handle(&mut self, Accepted(arrival, pass): Accepted, ctx: &mut Context<Self>) {
        if self.drained.is_none() {
            self.connect(Setup::Accept(arrival, pass), ctx);
        }
    }
}

impl Handler<LinkReady> for RemoteBridge {
    type Result = MessageResult<LinkReady>;

    fn handle(&mut self, opened: LinkReady, ctx: &mut Context<Self>) -> Self::Result {
        let LinkReady {
            conn,
            origin,
            link,
            close,
        } = opened;
        if self.drained.is_some() {
            return MessageResult(Err(Closed::Leaving));
        }
        let node = link.peer.clone();
        // The handshake accepted the peer, but an operator may have removed the peer meanwhile.
        let Some(watched) = self.peers.get_mut(&node) else {
            return MessageResult(Err(Closed::Auth));
        };
        let peer = Arc::clone(&watched.peer);
        let (now, forget) = (self.shared.now(), self.shared.forgets_after());
        if peer.agents().latest_at(now, forget) < Some(link.incarnation) {
            // The peer had no link for so long that its last incarnation is forgotten: a lower number is accepted.
            watched.machine.forget_later_than(link.incarnation);
        }
        let ready = ReadyLink {
            conn,
            incarnation: link.incarnation,
            id: link.link,
            origin,
        };
        if let Some(why) = self.step(&node, PeerInput::Ready(ready), ctx) {
            return MessageResult(Err(why));
        }
        Traffic::add(&mut lock(&self.shared.traffic).links, 1);
        peer.health.linked();
        let mut agents = peer.agents();
        agents.begin(link.incarnation, link.link);
        self.shared.ends.met(&link);
        self.links.insert(conn, close);
        MessageResult(Ok(()))
    }
}

impl Handler<ConnectionEnded> for RemoteBridge {
    type Result = ();

    fn handle(&mut self, ended: ConnectionEnded, ctx: &mut Context<Self>) {
        let ConnectionEnded {
            conn,
            node,
            origin,
            outcome,
        } = ended;
        self.links.remove(&conn);
        if let Some(task) = self.tasks.remove(&conn) {
            task.detach(); // the task may still be sending a goodbye
        }
        let input = match outcome {
            ConnectionOutcome::Failed(why) if origin == Origin::Dialled => {
                Some(PeerInput::DialFailed(why))
            }
            // Any process may have made this inbound connection, so its failure is no sign about a peer.
            ConnectionOutcome::Failed(_) => None,
            ConnectionOutcome::Closed { why, lasted } => {
                let how = LinkLoss::of(why);
                Some(PeerInput::Closed { conn, how, lasted })
            }
        };
        if let Some((node, input)) = node.zip(input) {
            self.step(&node, input, ctx);
        }
        self.check_drained();
    }
}

impl Handler<AddPeer> for RemoteBridge {
    type Result = ();

    fn handle(&mut self, AddPeer(node): AddPeer, ctx: &mut Context<Self>) {
        let watched = self.peers.get(&node).map(|watched| &watched.peer);
        let is_new = |peer: &_| watched.is_none_or(|known| !Arc::ptr_eq(known, peer));
        if let Some(peer) = self.shared.peer(&node).filter(is_new) {
            self.watch(peer, ctx);
        }
    }
}

impl Handler<RemovePeer> for RemoteBridge {
    type Result = ();

    fn handle(&mut self, RemovePeer(node): RemovePeer, ctx: &mut Context<Self>) {
        self.step(&node, PeerInput::Removed, ctx);
        self.peers.remove(&node);
    }
}

impl Handler<DrainLinks> for RemoteBridge {
    type Result = ResponseActFuture<Self, ()>;

    fn handle(&mut self, DrainLinks: DrainLinks, ctx: &mut Context<Self>) -> Self::Result {
        let (done, wait) = oneshot::channel();
        self.acceptor = None;
        self.drained.get_or_insert_default().push(done);
        let links = &self.links;
        // A connection that is not ready gets no goodbye. To wait for it could delay the drain for the time of a
        // handshake.
        self.tasks.retain(|conn, _| links.contains_key(conn));
        let nodes: Vec<_> = self.peers.keys().cloned().collect();
        // Ends the peers' state machines, which would dial again after the drain has closed the links.
        for node in nodes {
            self.step(&node, PeerInput::Removed, ctx);
        }
        self.check_drained();
        Box::pin(wait.into_actor(self).map(|_, _, _| ()))
    }
}

impl Handler<Relink> for RemoteBridge {
    type Result = ();

    fn handle(&mut self, Relink: Relink, _: &mut Context<Self>) {
        for (_, close) in std::mem::take(&mut self.links) {
            close.send(Closed::Lost).ok(); // the link may have ended by itself
        }
    }
}

impl Handler<Stop> for RemoteBridge {
    type Result = ();

    fn handle(&mut self, Stop: Stop, ctx: &mut Context<Self>) {
        ctx.stop();
    }
}

impl std::fmt::Debug for RemoteBridge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RemoteBridge")
            .field("node", &self.shared.me.node)
            .field("peers", &self.peers.keys())
            .finish_non_exhaustive()
    }
}

/// Time after which the bridge reports a configured peer that was never seen, counted from the start of the watch.
/// Chosen: with a second, each start of a cluster reports hosts that start later; with minutes, a wrong address shows
/// late.
const NEVER_SEEN: Duration = Duration::from_secs(10);
