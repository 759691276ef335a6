//! Who takes part in one election, and where the messages of each go.
//!
//! ```text
//!   join, leave, crash, restart, score          MembersChanged, to those who have
//!   ───────────────────────────────▶ Group ───▶ looked since the last change
//!                                      ▲                      │
//!                                      └──────────────────────┘
//!                                       snapshot(): one Arc for all
//! ```
//!
//! Decided here: that the membership is *pulled*. A change costs one small message to each member
//! that is up to date, and nothing to one that has been told already; a thousand agents that
//! join in one turn of the arbiter are merged and sorted once. All share one snapshot: nobody
//! keeps a map of its peers.
//!
//! In which order the members are notified is the election's to choose, by
//! [`Requirements::notify`]: all in one turn, or the highest in rank that is up one turn before the
//! others. The group keeps the ranks for that, and draws nothing else from them.
//!
//! A report counts only for whom it speaks: what is said here of an agent of this process changes
//! nothing about a member of that name elsewhere, and what another host says is said through its
//! own [`Remote`].
//!
//! Not here: what a membership means to an election ([`Members`]), and how a letter crosses to
//! another host; a bridge adds members by [`Remote::apply`] that look like any other.

mod bell;
mod counters;
mod error;
mod mail;
mod message;
mod quiet;
mod registry;
#[cfg_attr(
    not(feature = "testkit"),
    expect(unreachable_pub, reason = "tests name it")
)]
mod remote;
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
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak, atomic::AtomicBool},
};

use actix::{Actor, Addr, Arbiter, Context, Handler, Recipient};

use crate::protocol::{
    AgentId, Incarnation, Leader, Member, MemberKind, Members, PeerMessage, Requirements, Score, To,
};

pub use counters::Counts;
pub use error::{GroupError, Holder, JoinError, OpenError};
pub(crate) use mail::{FromAfar, Size};
pub use message::{Envelope, MembersChanged};
pub(crate) use snapshot::Handed;
pub use unshared::Unshared;

// For those who drive members: see the macro below.
#[cfg(not(feature = "testkit"))]
use wire::Wire;
#[cfg(not(feature = "testkit"))]
pub(crate) use {
    remote::{Remote, Update},
    snapshot::Snapshot,
    watch::Watch,
    wire::Link,
};
#[cfg(feature = "testkit")]
pub use {
    remote::{Remote, Update},
    snapshot::Snapshot,
    watch::Watch,
    wire::{Link, Wire},
};

use mail::{Counted, Mailbox, Plain};
use registry::Registry;
use snapshot::{Office, Route};

/// The participants of one election; several may live in one process. Clones are the same group.
///
/// Applications make one and give it to their agents.
pub struct Group<M: PeerMessage>(Arc<Shared<M>>);

struct Shared<M: PeerMessage> {
    name: AgentId,
    office: Arc<Office<M>>,
    registry: Mutex<Registry<M>>,
}

impl<M: PeerMessage> Group<M> {
    /// An empty group.
    ///
    /// # Errors
    /// [`GroupError::Name`] when the name breaks the rules of an agent's name.
    pub fn new(name: &str) -> Result<Self, GroupError> {
        Self::make(name, None)
    }

    /// The group's name.
    pub fn name(&self) -> &str {
        self.0.name.as_str()
    }

    /// The members as they are now.
    pub fn members(&self) -> Arc<Members> {
        self.registry().members()
    }

    /// What became of the letters so far.
    pub fn counters(&self) -> Counts {
        self.0.office.counters.read()
    }

    /// The newest membership, for those who are not members.
    pub(crate) fn newest(&self) -> Arc<Snapshot<M>> {
        self.registry().snapshot(&self.0.office)
    }

    /// A membership that has all members and their routes as they are now; scores and presence
    /// may be out of date.
    pub(crate) fn routes(&self) -> Arc<Snapshot<M>> {
        self.registry().routes(&self.0.office)
    }

    /// The same for an agent whose mailbox holds as much of other hosts as the [`Size`] of each
    /// letter says.
    pub(crate) fn join_counted<A>(
        &self,
        id: &AgentId,
        kind: MemberKind,
        score: Option<Score>,
        addr: Addr<A>,
    ) -> bool
    where
        A: Actor<Context = Context<A>>
            + Handler<Envelope<M>>
            + Handler<FromAfar<M>>
            + Handler<MembersChanged>,
    {
        self.join_by(id, kind, score, Box::new(Counted::new(addr)))
    }

    fn join_by(
        &self,
        id: &AgentId,
        kind: MemberKind,
        score: Option<Score>,
        mailbox: Box<dyn Mailbox<M>>,
    ) -> bool {
        let route = Route::Local { mailbox };
        let member = |incarnation| Member::up(id.clone(), kind, score, incarnation);
        self.registry().join(id, route, member)
    }

    /// Notes that a member has made a record durable: who takes its name next has to know it.
    pub(crate) fn note_record(&self, id: &AgentId) {
        self.registry().note_record(id);
    }

    /// Whether somebody of that name has made a record durable by these rules.
    pub(crate) fn had_record(&self, id: &AgentId, requirements: &Requirements) -> bool {
        self.registry().had_record(id, requirements)
    }

    /// What the election of the group's agents in this process promises, and asks of all of them;
    /// `None` while no agent has a place. What an agent stores, and by which clock, is its own: here
    /// stands what was asked of the first one.
    pub fn requirements(&self) -> Option<Requirements> {
        self.registry().requirements()
    }

    fn make(name: &str, wire: Option<Arc<dyn Wire<M>>>) -> Result<Self, GroupError> {
        let name = AgentId::new(name).map_err(GroupError::Name)?;
        let counters = counters::Counters::default();
        Ok(Self(Arc::new_cyclic(|shared| Shared {
            name,
            office: Arc::new(Office { wire, counters }),
            registry: Mutex::new(Registry::new(tell_rest_later(Weak::clone(shared)))),
        })))
    }

    fn registry(&self) -> MutexGuard<'_, Registry<M>> {
        // Nothing that can panic half-way runs under the lock.
        self.0
            .registry
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// What drives a group's members: agents, bridges, and tests of either. Its visibility is given:
/// applications have no use for it, tests need it from outside.
macro_rules! drive_members {
    ($vis:vis) => {
        impl<M: PeerMessage> Group<M> {
            /// The newest membership for the member `reader`, which will be told of the next change.
            $vis fn snapshot(&self, reader: &AgentId) -> Arc<Snapshot<M>> {
                let mut registry = self.registry();
                let snapshot = registry.snapshot(&self.0.office);
                registry.note_quiet(reader);
                snapshot
            }

            /// Delivers a letter by the newest membership; see [`Snapshot::deliver`].
            $vis fn deliver(&self, from: &AgentId, incarnation: Incarnation, to: &To, message: M) {
                self.newest().deliver(from, incarnation, to, message);
            }

            /// Keeps a name for somebody who is about to [`join`](Self::join); says which life begins.
            ///
            /// # Errors
            /// [`JoinError::Taken`] when the name is in use. One whose holder left or ended for good is
            /// not: its next holder begins a later life. Nor is one of another host that is not linked: it
            /// is taken over, and that host's agent of the name is no member here any more, unless the
            /// name becomes free again. [`JoinError::Rules`], [`JoinError::Epoch`]
            /// and [`JoinError::Voters`] when other names are kept for those who follow other rules, or have
            /// other voters.
            $vis fn reserve(
                &self,
                id: &AgentId,
                requirements: Requirements,
            ) -> Result<Incarnation, JoinError> {
                self.registry().reserve(id, &self.0.name, requirements)
            }

            /// Makes the holder of a reserved name a member that is up; says whether this was the call
            /// that did. Letters go to `inbox`, the news of changes to `pokes`. Those from other hosts are
            /// dropped where the mailbox is full.
            $vis fn join(
                &self,
                id: &AgentId,
                kind: MemberKind,
                score: Option<Score>,
                inbox: Recipient<Envelope<M>>,
                pokes: Recipient<MembersChanged>,
            ) -> bool {
                self.join_by(id, kind, score, Box::new(Plain { inbox, pokes }))
            }

            /// Begins the life after `last` of a member, with this score; `None` when it left since.
            $vis fn restart(
                &self,
                id: &AgentId,
                last: Incarnation,
                score: Option<Score>,
            ) -> Option<Incarnation> {
                self.registry().restart(id, last, score)
            }

            /// The life of a member in this process has ended for certain, and whatever it led is revoked.
            $vis fn down(&self, id: &AgentId, incarnation: Incarnation) -> bool {
                let mark = |member: &mut Member| member.mark_down(incarnation);
                self.registry().report(id, mark)
            }

            /// The life of a member in this process is thought to be over.
            $vis fn suspect(&self, id: &AgentId, incarnation: Incarnation) -> bool {
                let mark = |member: &mut Member| member.mark_suspect(incarnation);
                self.registry().report(id, mark)
            }

            /// A member ended for good, its last life was `last`. It stays listed; its name may be taken
            /// again.
            $vis fn retire(&self, id: &AgentId, last: Incarnation) {
                self.registry().retire(id, last);
            }

            /// A member leaves, or a reserved name is not needed after all; its last life was `last`. Says
            /// whether there was one: who took the name since is not touched.
            $vis fn leave(&self, id: &AgentId, last: Incarnation) -> bool {
                self.registry().leave(id, last)
            }

            /// The route of another node, by that name: adds and changes the members that live there.
            $vis fn remote(&self, node: &str, link: Arc<dyn Link<M>>) -> Remote<M> {
                let route = Route::Remote {
                    node: node.into(),
                    link,
                    is_up: AtomicBool::new(false),
                };
                Remote::new(self.clone(), Arc::new(route))
            }

            /// A member in this process has another score.
            $vis fn set_score(&self, id: &AgentId, score: Option<Score>) {
                let mark = |member: &mut Member| mem::replace(&mut member.score, score) != score;
                self.registry().report(id, mark);
            }

            /// Notes that a member in this process leads, for those who come later. Nobody is told.
            $vis fn note_leader(&self, leader: Leader) {
                self.registry().note_leader(leader, None);
            }

            /// Notes that this leadership is over. Nobody is told.
            $vis fn forget_leader(&self, id: &AgentId, incarnation: Incarnation) {
                self.registry().forget_leader(id, incarnation);
            }

            /// Opens or closes the group to other hosts; a new group is closed.
            $vis fn set_closed(&self, closed: bool) {
                self.registry().set_closed(closed);
            }

            /// Opens the group to other hosts: for a bridge, before the group's agents start. Every life
            /// that begins from now on is later than `floor`, so that nobody takes an agent of a
            /// restarted process for the one before.
            ///
            /// A group that was open before may be opened again whoever is there.
            ///
            /// # Errors
            /// [`OpenError::TooLate`] when an agent is there already, [`OpenError::Volatile`] when one
            /// keeps in memory what others would rely on. Nothing was changed.
            $vis fn open(&self, floor: Incarnation) -> Result<(), OpenError> {
                self.registry().open(floor)
            }

            /// Notes that a member's votes are forgotten with this process, as long as the group is
            /// closed; says whether it is. Afterwards it cannot be [opened](Self::open) while that member
            /// is there.
            $vis fn note_volatile(&self, id: &AgentId) -> bool {
                self.registry().note_volatile(id)
            }

            /// Watches the membership as a member does, without being one: `ring` is called at the next
            /// change, and again at the first change after each [`Watch::look`].
            ///
            /// It is called under the group's lock: it must neither block nor use the group.
            $vis fn watch(&self, ring: impl Fn() + Send + Sync + 'static) -> Watch<M> {
                let watch = Watch::new(self.clone(), Box::new(ring));
                self.registry().watch(watch.bell());
                watch
            }
        }
    };
}
#[cfg(feature = "testkit")]
drive_members!(pub);
#[cfg(not(feature = "testkit"))]
drive_members!(pub(crate));

/// What only tests do.
#[cfg(feature = "testkit")]
impl<M: PeerMessage> Group<M> {
    /// An empty group whose local letters all go through `wire`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_wire(name: &str, wire: Arc<dyn Wire<M>>) -> Result<Self, GroupError> {
        Self::make(name, Some(wire))
    }

    /// The life of a member in this process is up.
    pub fn up(&self, id: &AgentId, incarnation: Incarnation) -> bool {
        let mark = |member: &mut Member| member.mark_up(incarnation);
        self.registry().report(id, mark)
    }

    /// Delivers a letter from another host to members of this process, to all of them when none
    /// is named; see [`Snapshot::deliver_here`].
    pub fn deliver_here(&self, letter: &Envelope<M>, to: Option<&[AgentId]>) {
        let snapshot = self.routes();
        snapshot.deliver_here(letter, to);
    }

    /// Every life that begins from now on is later than `floor`.
    ///
    /// For a bridge, whose other side must never take a restarted process for the former one.
    pub fn raise_incarnations(&self, floor: Incarnation) {
        self.registry().raise_floor(floor);
    }
}

/// On an arbiter: after the tasks that are awake now.
fn tell_rest_later<M: PeerMessage>(group: Weak<Shared<M>>) -> registry::Later {
    Box::new(move || {
        let group = Weak::clone(&group);
        Arbiter::try_current().is_some_and(|arbiter| {
            arbiter.spawn(async move {
                if let Some(shared) = group.upgrade() {
                    Group(shared).registry().tell_rest();
                }
            })
        })
    })
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
