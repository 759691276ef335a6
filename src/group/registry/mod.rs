//! The books of a group, behind its lock: names, members, routes, and who must be told.
//!
//! Decided here: what a change costs. Joins, leaves and scores are gathered and merged once, when
//! somebody next looks (one sort, however many there are); presence changes touch neither the
//! order nor the routes, and many at once are gathered likewise. On a change those are told who have looked since the last one.

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
    JoinError, Snapshot, Unshared,
    bell::Bell,
    quiet::Quiet,
    snapshot::{Office, Route},
};

pub(super) struct Registry<M: PeerMessage> {
    /// Every name in use, and those whose holder ended for good.
    names: BTreeMap<AgentId, Seat>,
    /// What all of them share, as the first one said it; `None` before there was one.
    requirements: Option<Requirements>,
    /// Every life that is handed out is later than this one.
    floor: Incarnation,
    /// Those whose votes are forgotten with this process.
    volatile: BTreeSet<AgentId>,
    /// Those who have made a record durable, and by which rules.
    records: BTreeMap<AgentId, Requirements>,
    /// Whether other hosts were ever let in.
    was_opened: bool,
    /// Who watches the membership for others.
    bells: Vec<Weak<Bell>>,

    members: Arc<Members>,
    /// Parallel to `members`.
    routes: Arc<[Arc<Route<M>>]>,
    /// Places in `members`, most important first; and the inverse.
    order: Vec<usize>,
    place: Vec<usize>,

    /// Not yet merged into the above.
    staged: BTreeMap<AgentId, Entry<M>>,
    /// Who has left, as last known. Nobody is here and among the staged.
    left: BTreeMap<AgentId, Entry<M>>,
    hints: Vec<Hint>,

    version: u64,
    /// The last one that was made.
    current: Option<Arc<Snapshot<M>>>,
    shows: Shows,
    quiet: Quiet,
    /// To be told a turn later than the highest in rank.
    due: Quiet,
    is_due: bool,
    /// Calls `tell_rest` after this turn; says whether it will.
    later: Later,
}

/// Arranges for a call of [`Registry::tell_rest`] after the present turn, if there are turns here.
pub(super) type Later = Box<dyn Fn() -> bool + Send>;

#[derive(Clone, Copy, Debug)]
struct Seat {
    incarnation: Incarnation,
    holder: Holder,
}

impl Seat {
    /// Whether the member whose last life is `last` has it, and nobody who came after.
    fn is_held_by(self, last: Incarnation) -> bool {
        self.holder == Holder::There && self.incarnation == last
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    /// The name is kept for somebody who is about to join.
    Coming,
    /// A member.
    There,
    /// A member that ended for good: the name can be taken again.
    Gone,
}

/// What the last snapshot shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shows {
    /// All that is known.
    All,
    /// Scores or presences that are out of date; letters go by it.
    OldNews,
    /// Others than those who are members now, or other ways to them.
    OtherRoutes,
}

/// What is said about the leader.
#[derive(Debug)]
enum Hint {
    Leads(Leader),
    LeadsNoMore(AgentId, Incarnation),
}

/// A member, and the way to it.
#[derive(Debug)]
struct Entry<M: PeerMessage> {
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
            was_opened: false,
            bells: Vec::new(),
            members: Arc::new(Members::new(true)),
            routes: Arc::default(),
            order: Vec::new(),
            place: Vec::new(),
            staged: BTreeMap::new(),
            left: BTreeMap::new(),
            hints: Vec::new(),
            version: 0,
            current: None,
            shows: Shows::OtherRoutes,
            quiet: Quiet::default(),
            due: Quiet::default(),
            is_due: false,
            later,
        }
    }

    /// Keeps a name; says which life its holder begins.
    pub(super) fn reserve(
        &mut self,
        id: &AgentId,
        group: &AgentId,
        mine: Requirements,
    ) -> Result<Incarnation, JoinError> {
        let nobody = || self.names.values().all(|seat| seat.holder == Holder::Gone);
        match &self.requirements {
            Some(theirs) if theirs.are_like(&mine) || !nobody() => {
                check_alike(id, group, theirs, &mine)?;
            }
            Some(_) | None => self.requirements = Some(mine),
        }
        if let Some(holder) = self.holder(id, None) {
            let (id, group) = (id.clone(), group.clone());
            return Err(JoinError::Taken { id, group, holder });
        }
        let seat = self.names.get(id);
        let last = seat.map_or(self.floor, |seat| seat.incarnation.max(self.floor));
        let seat = Seat {
            incarnation: last.next(),
            holder: Holder::Coming,
        };
        self.names.insert(id.clone(), seat);
        Ok(seat.incarnation)
    }

    /// Fills a place that was kept; says whether it was.
    pub(super) fn join(
        &mut self,
        id: &AgentId,
        route: Route<M>,
        member: impl FnOnce(Incarnation) -> Member,
    ) -> bool {
        let Some(seat) = self.names.get_mut(id) else {
            return false;
        };
        if mem::replace(&mut seat.holder, Holder::There) != Holder::Coming {
            return false;
        }
        let member = member(seat.incarnation);
        self.seat(member, &Arc::new(route));
        self.changed();
        true
    }

    /// The life after `last` begins, unless the name has been given away since.
    pub(super) fn restart(
        &mut self,
        id: &AgentId,
        last: Incarnation,
        score: Option<Score>,
    ) -> Option<Incarnation> {
        let seat = self
            .names
            .get_mut(id)
            .filter(|seat| seat.is_held_by(last))?;
        seat.incarnation = seat.incarnation.max(self.floor).next();
        let incarnation = seat.incarnation;
        let mark = |member: &mut Member| {
            member.score = score;
            member.mark_up(incarnation)
        };
        self.mark(id, None, mark);
        self.changed();
        Some(incarnation)
    }

    /// A member ended for good: it stays listed, and its name may be taken again.
    pub(super) fn retire(&mut self, id: &AgentId, last: Incarnation) {
        let seat = self.names.get_mut(id);
        if let Some(seat) = seat.filter(|seat| seat.is_held_by(last)) {
            seat.holder = Holder::Gone;
            self.volatile.remove(id);
        }
    }

    /// Removes a member, or a name that was kept; says whether there was one.
    pub(super) fn leave(&mut self, id: &AgentId, last: Incarnation) -> bool {
        if self
            .names
            .get(id)
            .is_none_or(|seat| seat.incarnation != last)
        {
            return false;
        }
        self.names.remove(id);
        self.volatile.remove(id);
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

    /// Notes that a leadership is over.
    pub(super) fn forget_leader(&mut self, id: &AgentId, incarnation: Incarnation) {
        self.hint(Hint::LeadsNoMore(id.clone(), incarnation));
    }

    /// For those who come later: nobody is told, and nothing is copied until somebody comes.
    fn hint(&mut self, hint: Hint) {
        if self.hints.len() >= A_FEW {
            self.apply_hints();
        }
        self.hints.push(hint);
    }

    pub(super) fn raise_floor(&mut self, floor: Incarnation) {
        self.floor = self.floor.max(floor);
    }

    /// The newest membership.
    pub(super) fn members(&mut self) -> Arc<Members> {
        self.merge();
        self.apply_hints();
        Arc::clone(&self.members)
    }

    /// The newest membership with the ways to everybody, made once for each version.
    pub(super) fn snapshot(&mut self, office: &Arc<Office<M>>) -> Arc<Snapshot<M>> {
        if let Some(current) = self.current.as_ref().filter(|_| self.shows == Shows::All) {
            return Arc::clone(current);
        }
        self.merge();
        self.apply_hints();
        self.shows = Shows::All;
        let snapshot = Arc::new(Snapshot {
            version: self.version,
            members: Arc::clone(&self.members),
            routes: Arc::clone(&self.routes),
            office: Arc::clone(office),
        });
        self.current = Some(Arc::clone(&snapshot));
        snapshot
    }

    /// The last membership that was made, unless letters would go astray by it: what is only news
    /// of somebody's score or presence is merged when a member looks, not for each letter.
    pub(super) fn routes(&mut self, office: &Arc<Office<M>>) -> Arc<Snapshot<M>> {
        match self
            .current
            .as_ref()
            .filter(|_| self.shows != Shows::OtherRoutes)
        {
            Some(current) => Arc::clone(current),
            None => self.snapshot(office),
        }
    }

    /// Notes that `id` has seen the newest membership.
    pub(super) fn note_quiet(&mut self, id: &AgentId) {
        let place = self.members.index_of(id).and_then(|at| self.place.get(at));
        if let Some(place) = place {
            self.quiet.insert(*place);
        }
    }

    /// Tells those who have seen the membership as it was until now.
    ///
    /// In the order that their election [asks for](Requirements::notify).
    fn changed(&mut self) {
        self.version += 1;
        self.shows = self.shows.max(Shows::OldNews);
        for bell in self.bells.iter().filter_map(Weak::upgrade) {
            bell.ring();
        }
        self.quiet.move_to(&mut self.due);
        let order = self.requirements.as_ref().map(|theirs| theirs.notify);
        let stops_at_first = order == Some(NotifyOrder::HighestRankFirst);
        while let Some(place) = self.due.pop() {
            if self.tell(place) && stops_at_first {
                break;
            }
        }
        self.is_due = !self.due.is_empty();
        if self.is_due && !(self.later)() {
            self.tell_rest();
        }
    }

    /// Tells everybody who has not been told yet.
    pub(super) fn tell_rest(&mut self) {
        if !mem::take(&mut self.is_due) {
            return;
        }
        let mut due = mem::take(&mut self.due);
        for place in due.drain() {
            self.tell(place);
        }
        self.due = due;
    }

    /// Says whether this one is up, and so may be the only one that is told in this turn.
    fn tell(&self, place: usize) -> bool {
        let Some(at) = self.order.get(place).copied() else {
            return false;
        };
        if let Some(Route::Local { mailbox }) = self.routes.get(at).map(|route| &**route) {
            mailbox.poke();
        }
        self.members.at(at).is_some_and(Member::is_up)
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

/// Whether one that would join shares what the members share.
fn check_alike(
    id: &AgentId,
    group: &AgentId,
    theirs: &Requirements,
    mine: &Requirements,
) -> Result<(), JoinError> {
    let (id, group) = (id.clone(), group.clone());
    if theirs.rules != mine.rules {
        return Err(JoinError::Rules {
            id,
            group,
            theirs: theirs.rules,
            mine: mine.rules,
        });
    }
    if theirs.epoch != mine.epoch {
        return Err(JoinError::Epoch {
            id,
            group,
            theirs: theirs.epoch,
            mine: mine.epoch,
        });
    }
    if theirs.voters != mine.voters {
        return Err(JoinError::Voters {
            id,
            group,
            epoch: mine.epoch,
            theirs: theirs.voters.map(Box::new),
            mine: mine.voters.map(Box::new),
            unshared: Box::new(Unshared::between(
                theirs.names.as_deref().unwrap_or_default(),
                mine.names.as_deref().unwrap_or_default(),
            )),
        });
    }
    Ok(())
}

/// Up to this many are removed, or noted, one by one.
const A_FEW: usize = 4;
