//! The membership at one moment, together with the route to each member. Agents send by these routes.
//!
//! Decided here: which members receive a message, and how the message is put into their mailboxes. All agents share one
//! snapshot; no agent keeps addresses of its own.

use std::{
    borrow::Borrow,
    ptr, slice,
    sync::{
        Arc,
        atomic::{
            AtomicBool,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
};

use tracing::debug;

use crate::protocol::{AgentId, Incarnation, Member, Members, PeerMessage, Presence, To};

use super::{
    Envelope, Holder, LocalWire, RemoteLink,
    counters::Counters,
    mailbox::{Mailbox, PutOutcome, Size},
};

/// All members of a group at one moment, and the route to each of them.
#[derive(Debug)]
pub struct Snapshot<M: PeerMessage> {
    pub(super) version: u64,
    pub(super) members: Arc<Members>,
    /// The routes to the members, in the order of the members.
    pub(super) routes: Arc<[Arc<Route<M>>]>,
    pub(super) delivery: Arc<Delivery<M>>,
    /// The node of this process.
    pub(super) node: NodeDigest,
}

/// The node of a member: the digest of the node's name, or of an empty name if no bridge carries the group.
///
/// Each node numbers incarnations for itself, so two nodes may use the same number. A node and one of its incarnations
/// together identify one incarnation of an agent, and never of another agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeDigest(pub(crate) u64);

impl NodeDigest {
    /// Hashes the name with FNV-1a, 64 bits.
    pub(crate) fn of(node: &str) -> Self {
        let mix =
            |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        Self(node.bytes().fold(0xcbf2_9ce4_8422_2325, mix))
    }
}

/// The means of delivery that all snapshots of a group share.
#[derive(Debug)]
pub(super) struct Delivery<M: PeerMessage> {
    pub(super) wire: Option<Arc<dyn LocalWire<M>>>,
    pub(super) counters: Counters,
}

/// The route to one member.
#[derive(Debug)]
pub(super) enum Route<M: PeerMessage> {
    /// An actor of this process.
    Local { mailbox: Box<dyn Mailbox<M>> },
    /// The route to another host. All members on that host share the route.
    Remote {
        node: Arc<str>,
        digest: NodeDigest,
        link: Arc<dyn RemoteLink<M>>,
        /// Whether the host can be reached.
        is_up: AtomicBool,
    },
}

impl<M: PeerMessage> Route<M> {
    /// Returns whether both routes lead to the same process. Within one process, incarnations can be compared.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Local { .. }, Self::Local { .. }) => true,
            (Self::Remote { .. }, Self::Remote { .. }) => ptr::eq(self, other),
            (Self::Local { .. }, Self::Remote { .. })
            | (Self::Remote { .. }, Self::Local { .. }) => false,
        }
    }

    pub(super) const fn is_local(&self) -> bool {
        matches!(self, Self::Local { .. })
    }

    /// Notes whether the host can be reached.
    pub(super) fn set_up(&self, up: bool) {
        if let Self::Remote { is_up, .. } = self {
            is_up.store(up, Release);
        }
    }

    /// Returns whether the route leads to another host that can be reached.
    pub(super) fn is_up(&self) -> bool {
        matches!(self, Self::Remote { is_up, .. } if is_up.load(Acquire))
    }

    pub(super) fn holder(&self) -> Holder {
        match self {
            Self::Local { .. } => Holder::Here,
            Self::Remote { node, .. } => Holder::Node(Arc::clone(node)),
        }
    }
}

impl<M: PeerMessage> Snapshot<M> {
    /// Returns a number that grows with every change of the membership, but not with a hint about the leader.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns the members.
    pub fn members(&self) -> &Arc<Members> {
        &self.members
    }

    /// Delivers a message to each receiver that is not confirmed to be down, except the sender.
    ///
    /// A message that [is repeated](PeerMessage::is_repeated) is dropped if the mailbox is full; every other
    /// message is queued in any case. Dropped messages are counted.
    ///
    /// Returns the number of members of this process that had no room for the message.
    pub fn deliver(&self, from: &AgentId, incarnation: Incarnation, to: &To, message: M) -> usize {
        let envelope = Envelope {
            from: from.clone(),
            incarnation,
            message,
        };
        match to {
            To::One(id) if id == from => 0,
            To::One(id) => self
                .route(id)
                .map_or(0, |(member, route)| self.post_one(member, route, envelope)),
            To::Set(ids) => {
                let routes = ids.iter().filter_map(|id| self.route(id));
                let routes = routes.filter(|(member, _)| member.id != *from);
                self.post_all(routes, &envelope, false)
            }
            To::All => {
                let sender = self.members.index_of(from);
                let routes = self.members.iter().zip(&*self.routes).enumerate();
                let others = routes.filter(|(at, _)| Some(*at) != sender);
                let routes = others.map(|(_, route)| route);
                self.post_all(routes, &envelope, true)
            }
        }
    }

    /// Puts a message of a member into its own mailbox, without a network. Returns whether there was room.
    pub(crate) fn post_own(&self, from: &AgentId, incarnation: Incarnation, message: M) -> bool {
        let Some((member, route)) = self.route(from) else {
            return true;
        };
        let Route::Local { mailbox } = &**route else {
            return true;
        };
        let kind = message.kind();
        let envelope = Envelope {
            from: from.clone(),
            incarnation,
            message,
        };
        self.had_room(member, kind, mailbox.put(envelope))
    }

    /// Delivers a message from another host to members of this process that are not confirmed to be down; to all such
    /// members if `to` is `None`. The message never goes to another host. The caller [counts](Self::count_sent) the
    /// messages. Returns the number of messages.
    pub(crate) fn hand(
        &self,
        envelope: Envelope<M>,
        to: Option<&[impl Borrow<AgentId>]>,
        size: Size,
    ) -> Handed {
        let mut handed = Handed::default();
        match to {
            None => {
                for (member, route) in self.members.iter().zip(&*self.routes) {
                    if route.is_local() {
                        handed.note(self.hand_in(member, route, envelope.clone(), size));
                    }
                }
            }
            // The only receiver gets the message itself, which saves one clone.
            Some([one]) => {
                if let Some((member, route)) = self.route(one.borrow()) {
                    handed.note(self.hand_in(member, route, envelope, size));
                }
            }
            Some(several) => {
                let each = several.iter().map(Borrow::borrow);
                for (member, route) in each.filter_map(|id| self.route(id)) {
                    handed.note(self.hand_in(member, route, envelope.clone(), size));
                }
            }
        }
        handed
    }

    /// Counts messages that were handed over.
    pub(crate) fn count_sent(&self, messages: u64) {
        self.delivery.counters.sent.fetch_add(messages, Relaxed);
    }

    /// Returns the members of this process.
    pub fn here(&self) -> impl Iterator<Item = &Member> {
        let routes = self.members.iter().zip(&*self.routes);
        routes
            .filter(|(_, route)| matches!(***route, Route::Local { .. }))
            .map(|(member, _)| member)
    }

    /// Returns the node of a member, as far as this process knows it.
    pub(crate) fn node_of(&self, id: &AgentId) -> Option<NodeDigest> {
        self.route(id).map(|(_, route)| match &**route {
            Route::Local { .. } => self.node,
            Route::Remote { digest, .. } => *digest,
        })
    }

    pub(crate) fn node(&self) -> NodeDigest {
        self.node
    }

    /// Returns whether a member is reached by `route`.
    pub(super) fn is_routed(&self, id: &AgentId, route: &Route<M>) -> bool {
        self.route(id).is_some_and(|(_, its)| its.is(route))
    }

    /// Counts a message that its receiver dropped because the sender is not a member.
    pub fn count_stranger(&self) {
        self.delivery.counters.strangers.fetch_add(1, Relaxed);
    }

    /// Counts a message that its receiver dropped because the sender's incarnation has ended.
    pub fn count_stale(&self) {
        self.delivery.counters.stale.fetch_add(1, Relaxed);
    }

    fn route(&self, id: &AgentId) -> Option<(&Member, &Arc<Route<M>>)> {
        let at = self.members.index_of(id)?;
        self.members.at(at).zip(self.routes.get(at))
    }

    fn post_all<'a>(
        &'a self,
        routes: impl Iterator<Item = (&'a Member, &'a Arc<Route<M>>)>,
        envelope: &Envelope<M>,
        are_all: bool,
    ) -> usize {
        let mut by_link = ByLink::default();
        let (mut posted, mut full) = (0, 0);
        for (to, route) in routes {
            match &**route {
                Route::Remote { link, .. } if to.presence != Presence::Down => {
                    posted += 1;
                    by_link.add(link, &to.id);
                }
                Route::Remote { .. } => {}
                Route::Local { .. } => {
                    let had_room = self.hand_over(to, route, envelope.clone());
                    posted += u64::from(had_room.is_some());
                    full += usize::from(had_room == Some(false));
                }
            }
        }
        self.count_sent(posted);
        for (link, to) in by_link.0 {
            if are_all {
                link.carry_to_all(&to, envelope.clone());
            } else {
                link.carry(&to, envelope.clone());
            }
        }
        full
    }

    /// Sends to one receiver, without a list of receivers.
    fn post_one(&self, to: &Member, route: &Route<M>, envelope: Envelope<M>) -> usize {
        let had_room = match route {
            Route::Remote { link, .. } if to.presence != Presence::Down => {
                link.carry(slice::from_ref(&to.id), envelope);
                Some(true)
            }
            Route::Remote { .. } => None,
            Route::Local { .. } => self.hand_over(to, route, envelope),
        };
        self.count_sent(u64::from(had_room.is_some()));
        usize::from(had_room == Some(false))
    }

    /// Hands a message to a member of this process. Returns whether there was room; `None` if the member is on another
    /// host or down.
    fn hand_over(&self, to: &Member, route: &Route<M>, envelope: Envelope<M>) -> Option<bool> {
        match route {
            Route::Local { mailbox } if to.presence != Presence::Down => {
                let kind = envelope.message.kind();
                Some(match &self.delivery.wire {
                    Some(wire) => {
                        wire.carry(&to.id, envelope, &mailbox.inbox());
                        true
                    }
                    None => self.had_room(to, kind, mailbox.put(envelope)),
                })
            }
            Route::Local { .. } | Route::Remote { .. } => None,
        }
    }

    /// Hands a message from another host to a member of this process. Returns whether there was room; `None` if the
    /// member is on another host or down.
    fn hand_in(
        &self,
        to: &Member,
        route: &Route<M>,
        envelope: Envelope<M>,
        size: Size,
    ) -> Option<bool> {
        let Route::Local { mailbox } = route else {
            return None;
        };
        if to.presence == Presence::Down {
            return None;
        }
        let kind = envelope.message.kind();
        match &self.delivery.wire {
            Some(wire) => {
                wire.carry(&to.id, envelope, &mailbox.inbox());
                Some(true)
            }
            None => Some(self.had_room(to, kind, mailbox.put_remote(envelope, size))),
        }
    }

    /// Counts a message that was lost. Returns whether the mailbox had room: a closed mailbox does not count as full.
    fn had_room(&self, to: &Member, kind: &'static str, put: PutOutcome) -> bool {
        match put {
            PutOutcome::Queued => true,
            PutOutcome::Full => {
                self.count_full(&to.id, kind);
                false
            }
            PutOutcome::Closed => {
                self.count_closed(&to.id, kind);
                true
            }
        }
    }

    /// Counts a message that was dropped because the member's mailbox was full.
    pub(crate) fn count_full(&self, to: &AgentId, kind: &'static str) {
        self.delivery.counters.full.fetch_add(1, Relaxed);
        debug!(peer = %to, kind, "message dropped: mailbox full");
    }

    fn count_closed(&self, to: &AgentId, kind: &'static str) {
        self.delivery.counters.closed.fetch_add(1, Relaxed);
        debug!(peer = %to, kind, "message dropped: mailbox closed");
    }
}

/// The result of handing a message from another host to members of this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Handed {
    /// Number of members to which the message was sent.
    pub(crate) sent: u64,
    /// Number of members that had no room for the message.
    pub(crate) full: u64,
}

impl Handed {
    fn note(&mut self, had_room: Option<bool>) {
        let count = match had_room {
            None => return,
            Some(true) => &mut self.sent,
            Some(false) => &mut self.full,
        };
        *count = count.saturating_add(1);
    }
}

/// The receivers of one message on other hosts, grouped by link. Each link carries the message once.
struct ByLink<M>(Vec<(Arc<dyn RemoteLink<M>>, Vec<AgentId>)>);

impl<M> Default for ByLink<M> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<M> ByLink<M> {
    fn add(&mut self, link: &Arc<dyn RemoteLink<M>>, to: &AgentId) {
        let same =
            |known: &Arc<dyn RemoteLink<M>>| ptr::addr_eq(Arc::as_ptr(known), Arc::as_ptr(link));
        match self.0.iter_mut().find(|(known, _)| same(known)) {
            Some((_, receivers)) => receivers.push(to.clone()),
            None => self.0.push((Arc::clone(link), vec![to.clone()])),
        }
    }
}
