//! The registry of a group, behind its lock: names, members, routes, and the members to notify.
//!
//! Decided here: the cost of a change. Joins, leaves and scores are gathered, and merged with a single sort when a
//! member next asks for a snapshot. Changes of presence touch neither the order nor the routes; many of them at once
//! are gathered in the same way. A change notifies the members that have asked for a snapshot since the last change.

mod epochs;
mod merge;
mod open;
mod records;
mod report;

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    sync::{Arc, Weak},
};

use crate::protocol::{
    AgentId, Incarnation, Leader, Member, Members, NotifyOrder, PeerMessage, Requirements, Score,
};

use super::{
    JoinError, Pace, Snapshot,
    rank_set::RankSet,
    signal::Signal,
    snapshot::{Delivery, NodeDigest, Route},
};
use bully_core::driver::{MemberReports as _, MembersReports as _};
use epochs::check_alike;

pub(super) struct Registry<M: PeerMessage> {
    /// Every name in use, and the names whose holder ended for good.
    names: BTreeMap<AgentId, NameRecord>,
    /// The requirements that all members share, from the first agent of the latest epoch; `None` before there was an
    /// agent.
    requirements: Option<Requirements>,
    /// Every new incarnation is later than this incarnation.
    floor: Incarnation,
    /// The agents whose votes are lost with this process.
    volatile: BTreeSet<AgentId>,
    /// The agents that have made a record durable, with the rules under which they made it.
    records: BTreeMap<AgentId, Requirements>,
    /// The timings of the last agent that started in this process.
    pub(super) pace: Option<Pace>,
    /// Whether the group was ever open to other hosts.
    was_opened: bool,
    /// The digest of the name by which other nodes know this process.
    node: NodeDigest,
    /// The signals for readers that watch the membership without being members, such as bridges.
    signals: Vec<Weak<Signal>>,

    members: Arc<Members>,
    /// The routes to the members: each route has the index of its member in `members`.
    routes: Arc<[Arc<Route<M>>]>,
    /// Indexes of `members`, highest rank first.
    order: Vec<usize>,
    /// The inverse of `order`: the position in `order` of each of `members`.
    positions: Vec<usize>,

    /// Entries that are not yet merged into the fields above.
    staged: BTreeMap<AgentId, MemberEntry<M>>,
    /// The members that have left, with their last known state. They are not among the `staged` entries.
    left: BTreeMap<AgentId, MemberEntry<M>>,
    hints: Vec<Hint>,

    version: u64,
    /// The last snapshot that was made.
    current: Option<Arc<Snapshot<M>>>,
    freshness: Freshness,
    /// The members that have seen the newest membership, by their positions in `order`. The next change notifies them.
    up_to_date: RankSet,
    /// The members that are notified a turn later than the member of the highest rank.
    due: RankSet,
    is_due: bool,
    /// Arranges that `notify_remaining` is called after this turn of the arbiter; returns `false` if that is not
    /// possible.
    later: Later,
}

/// Arranges for a call of [`Registry::notify_remaining`] after the present turn, if the thread has an arbiter.
pub(super) type Later = Box<dyn Fn() -> bool + Send>;

#[derive(Clone, Copy, Debug)]
struct NameRecord {
    incarnation: Incarnation,
    state: NameState,
    /// The epoch of the voters that the holder of the name follows, by the holder's last report.
    epoch: u64,
}

impl NameRecord {
    /// Returns whether the member whose last incarnation is `last` still holds the name, so that no later agent has it.
    fn is_held_by(self, last: Incarnation) -> bool {
        self.state == NameState::Held && self.incarnation == last
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameState {
    /// The name is kept for an agent that is about to join.
    Reserved,
    /// A member holds the name.
    Held,
    /// A member held the name and ended for good: the name can be taken again.
    Free,
}

/// The age of the last snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Freshness {
    /// The snapshot has all known facts.
    Current,
    /// Scores or presences in the snapshot are out of date. Messages may still be sent by the snapshot's routes.
    OldDetails,
    /// The snapshot lacks a change of the members, or of the routes to them.
    OldRoutes,
}

/// A report about the leader.
#[derive(Debug)]
enum Hint {
    Leads(Leader),
    LeadsNoMore(AgentId, Incarnation),
}

#[derive(Debug)]
struct MemberEntry<M: PeerMessage> {
    member: Member,
    route: Arc<Route<M>>,
}

impl<M: PeerMessage> Registry<M> {
    pub(super) fn new(later: Later) -> Self {
        Self {
            names: BTreeMap::new(),
            requirements: None,
            floor: Incarnation::default(),
            volatile: BTreeSet::new(),
            records: BTreeMap::new(),
            pace: None,
            was_opened: false,
            node: NodeDigest::default(),
            signals: Vec::new(),
            members: Arc::new(Members::new(true)),
            routes: Arc::default(),
            order: Vec::new(),
            positions: Vec::new(),
            staged: BTreeMap::new(),
            left: BTreeMap::new(),
            hints: Vec::new(),
            version: 0,
            current: None,
            freshness: Freshness::OldRoutes,
            up_to_date: RankSet::default(),
            due: RankSet::default(),
            is_due: false,
            later,
        }
    }

    /// Reserves a name; returns the incarnation that its holder begins.
    pub(super) fn reserve(
        &mut self,
        id: &AgentId,
        group: &AgentId,
        mine: Requirements,
    ) -> Result<Incarnation, JoinError> {
        let epoch = mine.epoch;
        let is_unused = || {
            self.names
                .values()
                .all(|name| name.state == NameState::Free)
        };
        match &self.requirements {
            // If no name is in use, the members of the former epoch are gone, so the next epoch may begin.
            Some(theirs) if theirs.are_like(&mine) || !is_unused() => {
                check_alike(id, group, theirs, &mine)?;
                if theirs.epoch < mine.epoch {
                    self.requirements = Some(mine);
                }
            }
            Some(_) | None => self.requirements = Some(mine),
        }
        if let Some(holder) = self.holder(id, None) {
            let (id, group) = (id.clone(), group.clone());
            return Err(JoinError::Taken { id, group, holder });
        }
        let known = self.names.get(id);
        let last = known.map_or(self.floor, |name| name.incarnation.max(self.floor));
        let name = NameRecord {
            incarnation: last.next(),
            state: NameState::Reserved,
            epoch,
        };
        self.names.insert(id.clone(), name);
        Ok(name.incarnation)
    }

    /// Makes an agent a member, if its name was reserved for the agent's incarnation. Returns whether the name was
    /// reserved for it. The agent may have ended on another thread, and the name may be reserved for its successor by
    /// now: messages to the successor must not go to the ended agent.
    pub(super) fn join(&mut self, member: Member, route: Route<M>) -> bool {
        let name = self.names.get_mut(&member.id);
        let is_reserved = |name: &&mut NameRecord| {
            name.state == NameState::Reserved && Some(name.incarnation) == member.incarnation
        };
        let Some(name) = name.filter(is_reserved) else {
            return false;
        };
        name.state = NameState::Held;
        self.enlist(member, &Arc::new(route));
        self.changed();
        true
    }

    /// Begins the incarnation after `last`, unless another agent has the name since.
    pub(super) fn restart(
        &mut self,
        id: &AgentId,
        last: Incarnation,
        score: Option<Score>,
    ) -> Option<Incarnation> {
        let name = self.names.get_mut(id);
        let name = name.filter(|name| name.is_held_by(last))?;
        name.incarnation = name.incarnation.max(self.floor).next();
        let incarnation = name.incarnation;
        let mark = |member: &mut Member| {
            member.score = score;
            let about = member.about.take(); // the text stays valid, because the agent is the same
            let is_up = member.mark_up(incarnation);
            member.about = about;
            is_up
        };
        self.mark(id, None, mark);
        self.changed();
        Some(incarnation)
    }

    /// Notes that a member ended for good: it stays listed, and its name may be taken again.
    pub(super) fn retire(&mut self, id: &AgentId, last: Incarnation) {
        let name = self.names.get_mut(id);
        if let Some(name) = name.filter(|name| name.is_held_by(last)) {
            name.state = NameState::Free;
            self.volatile.remove(id);
        }
    }

    /// Removes a member, or a reserved name; returns whether it was removed.
    pub(super) fn leave(&mut self, id: &AgentId, last: Incarnation) -> bool {
        if self
            .names
            .get(id)
            .is_none_or(|name| name.incarnation != last)
        {
            return false;
        }
        self.names.remove(id);
        self.volatile.remove(id);
        // The name is forgotten, so the floor makes sure that its next holder begins a later incarnation.
        self.floor = self.floor.max(last);
        if self.remove(id, None) {
            self.changed();
        }
        true
    }

    pub(super) fn set_closed(&mut self, closed: bool) {
        if self.members.is_closed() != closed {
            Arc::make_mut(&mut self.members).set_closed(closed);
            self.changed();
        }
    }

    /// Notes that a leadership has ended.
    pub(super) fn forget_leader(&mut self, id: &AgentId, incarnation: Incarnation) {
        self.hint(Hint::LeadsNoMore(id.clone(), incarnation));
    }

    /// Keeps a hint for agents that join later. No member is notified, and nothing is copied until an agent joins.
    fn hint(&mut self, hint: Hint) {
        // The number of hints is limited, because a group that no agent joins would gather hints for ever.
        if self.hints.len() >= A_FEW {
            self.apply_hints();
        }
        self.hints.push(hint);
    }

    pub(super) fn raise_floor(&mut self, floor: Incarnation) {
        self.floor = self.floor.max(floor);
    }

    /// Returns the newest membership.
    pub(super) fn members(&mut self) -> Arc<Members> {
        self.merge();
        self.apply_hints();
        Arc::clone(&self.members)
    }

    /// Returns the newest membership with the routes to all members, made once for each version.
    pub(super) fn snapshot(&mut self, delivery: &Arc<Delivery<M>>) -> Arc<Snapshot<M>> {
        if let Some(current) = self
            .current
            .as_ref()
            .filter(|_| self.freshness == Freshness::Current)
        {
            return Arc::clone(current);
        }
        self.merge();
        self.apply_hints();
        self.freshness = Freshness::Current;
        let snapshot = Arc::new(Snapshot {
            version: self.version,
            members: Arc::clone(&self.members),
            routes: Arc::clone(&self.routes),
            delivery: Arc::clone(delivery),
            node: self.node,
        });
        self.current = Some(Arc::clone(&snapshot));
        snapshot
    }

    /// Returns the last membership that was made, or a new membership if its routes are out of date. A change of a
    /// score or a presence is merged when a member looks, not for each message.
    pub(super) fn routes(&mut self, delivery: &Arc<Delivery<M>>) -> Arc<Snapshot<M>> {
        match self
            .current
            .as_ref()
            .filter(|_| self.freshness != Freshness::OldRoutes)
        {
            Some(current) => Arc::clone(current),
            None => self.snapshot(delivery),
        }
    }

    /// Notes that `id` has seen the newest membership.
    pub(super) fn note_up_to_date(&mut self, id: &AgentId) {
        let at = self.members.index_of(id);
        if let Some(position) = at.and_then(|at| self.positions.get(at)) {
            self.up_to_date.insert(*position);
        }
    }

    /// Notifies the members that have seen the membership before this change, in the order that their election
    /// [requires](Requirements::notify).
    fn changed(&mut self) {
        self.version += 1;
        self.freshness = self.freshness.max(Freshness::OldDetails);
        for signal in self.signals.iter().filter_map(Weak::upgrade) {
            signal.give();
        }
        self.up_to_date.move_to(&mut self.due);
        let order = self.requirements.as_ref().map(|theirs| theirs.notify);
        // The likely successor is notified first: the other members then receive its announcement before they learn of
        // the end of their leader, and need not ask. A member that is not up cannot announce itself.
        let stops_at_first = order == Some(NotifyOrder::HighestRankFirst);
        while let Some(position) = self.due.pop() {
            self.notify(position);
            if stops_at_first && self.is_up(position) {
                break;
            }
        }
        self.is_due = !self.due.is_empty();
        // Outside of an arbiter there is no later turn, so the other members are notified now.
        if self.is_due && !(self.later)() {
            self.notify_remaining();
        }
    }

    /// Notifies the members that are still to be notified.
    pub(super) fn notify_remaining(&mut self) {
        if !mem::take(&mut self.is_due) {
            return;
        }
        let mut due = mem::take(&mut self.due);
        for position in due.drain() {
            self.notify(position);
        }
        self.due = due;
    }

    fn notify(&self, position: usize) {
        let at = self.order.get(position);
        let route = at.and_then(|at| self.routes.get(*at));
        if let Some(Route::Local { mailbox }) = route.map(|route| &**route) {
            mailbox.notify();
        }
    }

    /// Returns whether the member at `position` is up, by the newest report, even if that report is not merged yet.
    fn is_up(&self, position: usize) -> bool {
        let at = self.order.get(position);
        let known = at.and_then(|at| self.members.at(*at));
        known.is_some_and(|known| {
            self.entry(&known.id)
                .is_some_and(|(member, _)| member.is_up())
        })
    }

    fn apply_hints(&mut self) {
        for hint in self.hints.drain(..) {
            let members = Arc::make_mut(&mut self.members);
            match hint {
                Hint::Leads(leader) => members.note_leader(leader),
                Hint::LeadsNoMore(id, incarnation) => members.forget_leader(&id, incarnation),
            }
        }
    }
}

/// Largest number of members that are removed one by one, and of hints that wait until they are applied.
const A_FEW: usize = 4;
