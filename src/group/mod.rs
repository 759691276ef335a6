//! The members of one election, and the routes of their messages.
//!
//! ```text
//!   join, leave, crash, restart, score          MembersChanged, to the members that
//!   ───────────────────────────────▶ Group ───▶ have looked since the last change
//!                                      ▲                      │
//!                                      └──────────────────────┘
//!                                       snapshot(): one Arc for all
//! ```
//!
//! Decided here: members *pull* the membership. A change costs one small message to each member that has the newest
//! membership, and nothing for a member that was notified before and has not looked since. A thousand agents that join
//! in one turn of the arbiter are merged and sorted once. All members share one snapshot: no agent keeps a map of the
//! other agents.
//!
//! The election chooses the order in which the members are notified, by [`Requirements::notify`]: all in one turn, or
//! the member of the highest rank that is up one turn before the other members. The group keeps the ranks for this
//! purpose only.
//!
//! A report counts only for the members of its own route: a report about an agent of this process does not change a
//! member with the same name on another host. Another host reports through its own `Remote`.
//!
//! Not here: the meaning of a membership to an election ([`Members`]), and the transport of a message to another host.
//! A bridge adds members by `Remote::apply`; they look like all other members.

use bully_core::driver::MemberReports as _;
mod about;
mod apart;
mod companion;
mod counters;
mod error;
mod kept;
mod later;
mod mailbox;
mod message;
mod namesakes;
mod peers;
mod rank_set;
mod registry;
#[cfg_attr(
    not(feature = "testkit"),
    expect(unreachable_pub, reason = "tests name it")
)]
mod remote;
mod signal;
#[cfg_attr(
    not(feature = "testkit"),
    expect(unreachable_pub, reason = "tests name it")
)]
mod snapshot;
mod sync;
#[cfg(test)]
mod tests;
mod unshared;
#[cfg_attr(
    not(feature = "testkit"),
    expect(unreachable_pub, reason = "tests name it")
)]
mod watch;
#[cfg_attr(
    not(feature = "testkit"),
    expect(unreachable_pub, reason = "tests name it")
)]
mod wire;

use std::{
    fmt, mem,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak, atomic::AtomicBool},
};

use actix::{Actor, Addr, Context, Handler, Recipient};

use crate::protocol::{
    AgentId, Incarnation, Leader, Member, MemberKind, Members, PeerMessage, Requirements, Score, To,
};

pub(crate) use apart::WeakGroup;
pub(crate) use companion::{AppMessage, companion_of, companion_requirements};
pub use counters::Counts;
pub use error::{GroupError, Holder, JoinError, OpenError};
pub(crate) use kept::Attachments;
pub(crate) use mailbox::{HeldBytes, RemoteEnvelope, Size};
pub use message::Envelope;
pub(crate) use peers::{PeerReport, PeerReporter, ReachableMember};
pub(crate) use snapshot::{Handed, NodeDigest};

for_tests! {
    use {message::MembersChanged, peers::Pace};
}

// These names are public only for tests: see the macro `drive_members` below.
#[cfg(not(feature = "testkit"))]
use wire::LocalWire;
#[cfg(not(feature = "testkit"))]
pub(crate) use {
    remote::{Remote, Update},
    snapshot::Snapshot,
    watch::MembershipWatch,
    wire::RemoteLink,
};
#[cfg(feature = "testkit")]
pub use {
    remote::{Remote, Update},
    snapshot::Snapshot,
    watch::MembershipWatch,
    wire::{LocalWire, RemoteLink},
};

use mailbox::{CountedMailbox, PlainMailbox};
use peers::Reporters;
use registry::Registry;
use snapshot::{Delivery, Route};

/// The participants of one election; several participants may live in one process. Clones are the same group.
///
/// An application makes one group and gives it to its agents.
pub struct Group<M: PeerMessage>(Arc<GroupState<M>>);

struct GroupState<M: PeerMessage> {
    name: AgentId,
    delivery: Arc<Delivery<M>>,
    reporters: Reporters,
    registry: Mutex<Registry<M>>,
    companion: OnceLock<Option<Group<AppMessage>>>,
    kept: Attachments,
}

impl<M: PeerMessage> Group<M> {
    /// Makes an empty group.
    ///
    /// # Errors
    /// [`GroupError::Name`] when the name breaks the rules of an agent's name, [`GroupError::Reserved`] when the name
    /// has the suffix of the names that this crate makes.
    pub fn new(name: &str) -> Result<Self, GroupError> {
        Self::make(name, None)
    }

    /// Returns the group's name.
    pub fn name(&self) -> &str {
        self.0.name.as_str()
    }

    /// Returns the present members.
    pub fn members(&self) -> Arc<Members> {
        self.registry().members()
    }

    /// Returns the counts of messages so far: sent, and lost for each reason.
    pub fn counters(&self) -> Counts {
        self.0.delivery.counters.read()
    }

    /// Returns the values that upper layers keep with the group in this process.
    pub(crate) fn kept(&self) -> &Attachments {
        &self.0.kept
    }

    /// Returns the newest membership, for a reader that does not take part in the election.
    pub(crate) fn newest(&self) -> Arc<Snapshot<M>> {
        self.registry().snapshot(&self.0.delivery)
    }

    /// Returns a membership for delivery: no present member and no route is missing. It may still contain a member that
    /// has left, and its scores may be old.
    pub(crate) fn routes(&self) -> Arc<Snapshot<M>> {
        self.registry().routes(&self.0.delivery)
    }

    /// Adds an agent as a member. Its mailbox holds bytes of other hosts up to the limit in each message's [`Size`].
    pub(crate) fn join_counted<A>(&self, member: Member, addr: Addr<A>) -> bool
    where
        A: Actor<Context = Context<A>>
            + Handler<Envelope<M>>
            + Handler<RemoteEnvelope<M>>
            + Handler<MembersChanged>,
    {
        let mailbox = Box::new(CountedMailbox::new(addr));
        self.registry().join(member, Route::Local { mailbox })
    }

    /// Notes that a member has made a record durable. From now on an agent with its name must not start without a
    /// record.
    pub(crate) fn note_record(&self, id: &AgentId) {
        self.registry().note_record(id);
    }

    /// Returns whether an agent with the name `id` has made a record durable by the rules in `requirements`.
    pub(crate) fn had_record(&self, id: &AgentId, requirements: &Requirements) -> bool {
        self.registry().had_record(id, requirements)
    }

    fn make(name: &str, wire: Option<Arc<dyn LocalWire<M>>>) -> Result<Self, GroupError> {
        let name = AgentId::new(name).map_err(GroupError::Name)?;
        if companion_of(name.as_str()).is_some() {
            return Err(GroupError::Reserved { name });
        }
        Ok(Self::of_name(name, wire))
    }

    fn of_name(name: AgentId, wire: Option<Arc<dyn LocalWire<M>>>) -> Self {
        let counters = counters::Counters::default();
        Self(Arc::new_cyclic(|shared| GroupState {
            name,
            delivery: Arc::new(Delivery { wire, counters }),
            reporters: Reporters::default(),
            registry: Mutex::new(Registry::new(later::notify_later(Weak::clone(shared)))),
            companion: OnceLock::new(),
            kept: Attachments::default(),
        }))
    }

    fn registry(&self) -> MutexGuard<'_, Registry<M>> {
        // No code that can panic in the middle of a change runs under the lock, so the state is complete after a panic.
        self.0
            .registry
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The methods for code that drives a group's members: agents, bridges, and their tests. The macro takes the methods'
/// visibility: applications do not need the methods, but tests call them from outside.
macro_rules! drive_members {
    ($vis:vis) => {
        impl<M: PeerMessage> Group<M> {
            /// Returns the newest membership for the member `reader`, which is notified of the next change.
            $vis fn snapshot(&self, reader: &AgentId) -> Arc<Snapshot<M>> {
                let mut registry = self.registry();
                let snapshot = registry.snapshot(&self.0.delivery);
                registry.note_up_to_date(reader);
                snapshot
            }

            /// Delivers a message by the newest membership; see [`Snapshot::deliver`].
            $vis fn deliver(&self, from: &AgentId, incarnation: Incarnation, to: &To, message: M) {
                self.newest().deliver(from, incarnation, to, message);
            }

            /// Reserves a name for an agent that is about to [`join`](Self::join), and returns the incarnation that
            /// begins.
            ///
            /// # Errors
            /// [`JoinError::Taken`] when the name is in use. A name whose holder left or ended for good is free: its
            /// next holder begins a later incarnation. A name of a host that is not connected is free as well: the new
            /// agent takes it over, and that host's agent with this name is not a member here any more, unless the name
            /// becomes free again. [`JoinError::Rules`], [`JoinError::Epoch`] and [`JoinError::Voters`] when other
            /// names are reserved for agents that follow other rules, or have other voters.
            $vis fn reserve(
                &self,
                id: &AgentId,
                requirements: Requirements,
            ) -> Result<Incarnation, JoinError> {
                self.registry().reserve(id, &self.0.name, requirements)
            }

            /// Returns the requirements that the group's agents in this process share; `None` while no name is reserved
            /// for an agent. Each agent has its own store and clock: about these, the result has the requirements of
            /// the first agent.
            $vis fn requirements(&self) -> Option<Requirements> {
                self.registry().requirements()
            }

            /// Notes the present epoch and kind (voter or observer) of a member of this process, after its election has
            /// changed them. Bridges report both to their peers. An incarnation that has ended changes nothing.
            ///
            /// # Errors
            /// [`JoinError::Voters`] when another member has other voters in the same epoch, and the other errors of
            /// [`reserve`](Self::reserve) except [`JoinError::Taken`].
            $vis fn advance(
                &self,
                id: &AgentId,
                incarnation: Incarnation,
                kind: MemberKind,
                requirements: Requirements,
            ) -> Result<(), JoinError> {
                let mut registry = self.registry();
                registry.advance(id, &self.0.name, incarnation, kind, requirements)
            }

            /// Adds a member whose name was reserved for its incarnation. Returns whether this call has added the
            /// member. Messages go to `inbox`, hints of changes to `changes`. Messages of other hosts are dropped if
            /// the mailbox is full.
            $vis fn join(
                &self,
                member: Member,
                inbox: Recipient<Envelope<M>>,
                changes: Recipient<MembersChanged>,
            ) -> bool {
                let mailbox = Box::new(PlainMailbox { inbox, changes });
                self.registry().join(member, Route::Local { mailbox })
            }

            /// Begins the incarnation after `last` of a member, with `score`; `None` if the member left since.
            $vis fn restart(
                &self,
                id: &AgentId,
                last: Incarnation,
                score: Option<Score>,
            ) -> Option<Incarnation> {
                self.registry().restart(id, last, score)
            }

            /// Notes that the end of a member's incarnation in this process is confirmed, and its leadership revoked.
            $vis fn down(&self, id: &AgentId, incarnation: Incarnation) -> bool {
                let mark = |member: &mut Member| member.mark_down(incarnation);
                self.registry().report(id, mark)
            }

            /// Notes that the end of a member's incarnation in this process is suspected.
            $vis fn suspect(&self, id: &AgentId, incarnation: Incarnation) -> bool {
                let mark = |member: &mut Member| member.mark_suspect(incarnation);
                self.registry().report(id, mark)
            }

            /// Notes that a member ended for good; its last incarnation was `last`. The member stays listed; its name
            /// may be taken again.
            $vis fn retire(&self, id: &AgentId, last: Incarnation) {
                self.registry().retire(id, last);
            }

            /// Removes a member that leaves, or a reserved name that is not needed; its last incarnation was `last`.
            /// Returns whether it was removed: an agent that has taken the name in the meantime stays.
            $vis fn leave(&self, id: &AgentId, last: Incarnation) -> bool {
                self.registry().leave(id, last)
            }

            /// Makes the route of the node `node`. The route adds and changes the members on that node.
            $vis fn remote(&self, node: &str, link: Arc<dyn RemoteLink<M>>) -> Remote<M> {
                let route = Route::Remote {
                    node: node.into(),
                    digest: NodeDigest::of(node),
                    link,
                    is_up: AtomicBool::new(false),
                };
                Remote::new(self.clone(), Arc::new(route))
            }

            /// Notes another score of a member in this process, unless `by` is not the member's present incarnation.
            $vis fn set_score(&self, id: &AgentId, by: Incarnation, score: Option<Score>) {
                let mark = |it: &mut Member| it.incarnation == Some(by) && mem::replace(&mut it.score, score) != score;
                self.registry().report(id, mark);
            }

            /// Notes that a member in this process leads, for agents that join later. No member is notified.
            $vis fn note_leader(&self, leader: Leader) {
                self.registry().note_leader(leader, None);
            }

            /// Notes that the leadership of the incarnation `incarnation` has ended. No member is notified.
            $vis fn forget_leader(&self, id: &AgentId, incarnation: Incarnation) {
                self.registry().forget_leader(id, incarnation);
            }

            /// Opens or closes the group to other hosts; a new group is closed.
            $vis fn set_closed(&self, closed: bool) {
                self.registry().set_closed(closed);
            }

            /// Opens the group to other hosts, which know this process by the name `node`: for a bridge, before the
            /// group's agents start. Every incarnation that begins from now on is later than `floor`, so that no host
            /// mistakes an agent of a restarted process for the agent before.
            ///
            /// A group that was open before may be opened again although it has agents.
            ///
            /// # Errors
            /// [`OpenError::TooLate`] when the group has an agent already, [`OpenError::Volatile`] when other hosts
            /// would rely on data that an agent keeps in memory. Nothing was changed.
            $vis fn open(&self, node: &str, floor: Incarnation) -> Result<(), OpenError> {
                self.registry().open(NodeDigest::of(node), floor)
            }

            /// If the group is closed to other hosts, notes that a member's votes are lost with this process, and
            /// returns `true`: the group then cannot be [opened](Self::open) while it has that member. Returns `false`
            /// if the group is open.
            $vis fn note_volatile(&self, id: &AgentId) -> bool {
                self.registry().note_volatile(id)
            }

            /// Watches the membership like a member, without being a member: `on_change` is called at the next change,
            /// and again at the first change after each [`MembershipWatch::look`].
            ///
            /// `on_change` is called under the group's lock: it must neither block nor use the group.
            $vis fn watch(&self, on_change: impl Fn() + Send + Sync + 'static) -> MembershipWatch<M> {
                let watch = MembershipWatch::new(self.clone(), Box::new(on_change));
                self.registry().watch(watch.signal());
                watch
            }
        }
    };
}
#[cfg(feature = "testkit")]
drive_members!(pub);
#[cfg(not(feature = "testkit"))]
drive_members!(pub(crate));

/// The methods for tests only.
#[cfg(feature = "testkit")]
impl<M: PeerMessage> Group<M> {
    /// Makes an empty group whose local messages all go through `wire`.
    ///
    /// # Errors
    /// Like [`new`](Self::new).
    pub fn with_wire(name: &str, wire: Arc<dyn LocalWire<M>>) -> Result<Self, GroupError> {
        Self::make(name, Some(wire))
    }

    /// Like [`with_wire`](Self::with_wire). Messages between applications go through the wire `applications`.
    pub(crate) fn with_wires(
        name: &str,
        wire: Arc<dyn LocalWire<M>>,
        applications: Arc<dyn LocalWire<AppMessage>>,
    ) -> Result<Self, GroupError> {
        let group = Self::with_wire(name, wire)?;
        // The companion is made at this first call; later callers get the same companion.
        group.companion_by(Some(applications));
        Ok(group)
    }

    /// Notes that the incarnation of a member in this process is up.
    pub fn up(&self, id: &AgentId, incarnation: Incarnation) -> bool {
        let mark = |member: &mut Member| member.mark_up(incarnation);
        self.registry().report(id, mark)
    }

    /// Delivers a message from another host to members of this process; to all members here if `to` is `None`.
    pub fn deliver_here(&self, envelope: &Envelope<M>, to: Option<&[AgentId]>) {
        let snapshot = self.routes();
        let size = Size::of(size_of::<M>(), mailbox::MAILBOX);
        let Handed { sent, .. } = snapshot.hand(envelope.clone(), to, size);
        snapshot.count_sent(sent);
    }
}

impl<M: PeerMessage> Clone for Group<M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<M: PeerMessage> fmt::Debug for Group<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group")
            .field("name", &self.0.name)
            .finish_non_exhaustive()
    }
}
