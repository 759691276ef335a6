//! The members of a group, and the known state of each member: one immutable snapshot, which all agents of a process
//! share.
//!
//! Decided here: how reports about incarnations combine (a later incarnation ends the earlier incarnations, a stale
//! report changes nothing), and which member is next in rank. Not here: how a machine uses the snapshot.
//!
//! The snapshot is a hint that saves messages. Its ranks may be out of date; only the incarnations that are marked as
//! ended are facts.

use std::{collections::BTreeSet, sync::Arc};

use crate::driver::{MemberReports as _, MembersReports};

use super::{
    About, AgentId, Incarnation, Leader, Member, Score, StoreId, Term, disowned::Disowners,
    name_index::NameIndex, roster::Roster,
};

/// All members of one election at one moment, ordered by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Members {
    list: Roster,
    by_name: Arc<NameIndex>,
    /// The indices in `list` of the voters with a score, highest rank first.
    by_rank: Arc<[u32]>,
    /// Number of entries at the front of `by_rank` that are not up.
    absent: usize,
    closed: bool,
    /// The members whose hosts refuse this process, because they know a later process of its name. Usually empty.
    pub(super) disowners: Arc<Disowners>,
    leader: Option<Leader>,
    term: Term,
}

impl Members {
    /// Makes an empty group. `closed` means that no bridge leads to other hosts, so that only members that are listed
    /// as up can be reached.
    pub fn new(closed: bool) -> Self {
        Self {
            closed,
            ..Self::default()
        }
    }

    /// Adds members. A new entry replaces a present entry of the same name; of two new entries with one name, the later
    /// entry counts. The list is sorted only once for any number of new members.
    pub fn join(&mut self, members: impl IntoIterator<Item = Member>) {
        let members: Vec<Member> = members.into_iter().collect();
        let places = members.iter().map(|member| self.index_of(&member.id));
        if let Some(places) = places.collect::<Option<Vec<usize>>>() {
            return self.replace(&places, members);
        }
        let mut list = self.list.to_vec();
        list.extend(members);
        list.sort_by(|a, b| a.id.cmp(&b.id)); // stable: the later of two comes last
        list.dedup_by(|later, earlier| {
            let same = later.id == earlier.id;
            if same {
                std::mem::swap(later, earlier);
            }
            same
        });
        self.reindex(list);
    }

    /// Removes a member; returns whether it was in the list.
    pub fn leave(&mut self, id: &AgentId) -> bool {
        let Some(at) = self.index_of(id) else {
            return false;
        };
        let mut list = self.list.to_vec();
        list.remove(at);
        self.reindex(list);
        self.disown(id, false);
        true
    }

    /// Notes that a member is up in this incarnation, which ends its earlier incarnations. A stale report changes
    /// nothing.
    pub fn up(&mut self, id: &AgentId, incarnation: Incarnation) -> bool {
        self.change(id, |m| m.mark_up(incarnation))
    }

    /// Notes that this process has seen the end of a member's incarnation, and that the incarnation's leadership is
    /// revoked. This incarnation and all earlier incarnations have ended.
    pub fn down(&mut self, id: &AgentId, incarnation: Incarnation) -> bool {
        self.change(id, |m| m.mark_down(incarnation))
    }

    /// Returns whether only members that are listed as up can be reached.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Returns the leader at the time of the snapshot, unless its incarnation has ended since. It is a hint.
    pub fn leader(&self) -> Option<&Leader> {
        self.leader
            .as_ref()
            .filter(|l| self.get(&l.id).is_some_and(|m| !m.is_gone(l.incarnation)))
    }

    /// Returns the highest term that the snapshot has noted. It is a hint.
    pub fn term(&self) -> Term {
        self.term
    }

    /// Returns the member with this name.
    pub fn get(&self, id: &AgentId) -> Option<&Member> {
        self.list.get(self.index_of(id)?)
    }

    /// Returns the text that this incarnation of a member published about itself.
    pub fn about(&self, id: &AgentId, incarnation: Incarnation) -> Option<&About> {
        // This check comes first, because an agent calls this function in each step, and most groups have no such text.
        let known = self.list.has_abouts().then(|| self.get(id))?;
        known?.about_in(incarnation)
    }

    /// Returns the index of the member with this name in [`iter`](Self::iter).
    pub fn index_of(&self, id: &AgentId) -> Option<usize> {
        self.by_name.find(id, self.list.names())
    }

    /// Returns the member at this index of [`iter`](Self::iter).
    pub fn at(&self, index: usize) -> Option<&Member> {
        self.list.get(index)
    }

    /// Returns all members, ordered by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Member> {
        self.list.iter()
    }

    /// Returns the voters, ordered by name.
    pub fn voters(&self) -> impl Iterator<Item = &Member> {
        self.iter().filter(|m| m.is_voter())
    }

    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.list.names().len()
    }

    /// Returns whether the group has no members.
    pub fn is_empty(&self) -> bool {
        self.list.names().is_empty()
    }

    /// Returns the voters with a score, highest rank first, whether they are up or not.
    pub fn by_rank(&self) -> impl Iterator<Item = &Member> {
        self.ranked(0)
    }

    /// Returns the voters with a score that are up, highest rank first.
    pub fn eligible(&self) -> impl Iterator<Item = &Member> {
        self.ranked(self.absent).filter(|m| m.is_up())
    }

    fn ranked(&self, from: usize) -> impl Iterator<Item = &Member> {
        let places = self.by_rank.get(from..).unwrap_or_default();
        places
            .iter()
            .filter_map(|at| self.list.get(usize::try_from(*at).ok()?))
    }

    /// Returns the number of members that are up, may be elected, and rank above an agent with this score and name. The
    /// member `but` is not counted.
    ///
    /// The count stops at `limit`, so the cost does not grow with the group.
    pub fn ahead_of(
        &self,
        score: Score,
        id: &AgentId,
        but: Option<&AgentId>,
        limit: usize,
    ) -> usize {
        self.ranked(self.absent)
            .take_while(|m| m.outranks(score, id))
            // The asking agent's own entry is left out: the entry may be out of date, and its rank higher than the
            // agent's present rank.
            .filter(|m| m.is_up() && Some(&m.id) != but && m.id != *id)
            .take(limit)
            .count()
    }

    /// Replaces members that are in the list already. The names and their order stay the same; the ranks change only if
    /// a score or a kind changes.
    fn replace(&mut self, places: &[usize], members: Vec<Member>) {
        let mut are_ranks_new = false;
        let mut set = |known: &mut Member, member: Member| {
            are_ranks_new |= (known.score, known.kind) != (member.score, member.kind);
            *known = member;
        };
        if members.len() <= A_FEW {
            for (at, member) in places.iter().zip(members) {
                self.list.change(*at, |known| {
                    set(known, member);
                    true
                });
            }
        } else {
            let mut list = self.list.to_vec();
            for (at, member) in places.iter().zip(members) {
                if let Some(known) = list.get_mut(*at) {
                    set(known, member);
                }
            }
            self.list = Roster::new(list);
        }
        if are_ranks_new {
            self.rerank();
        } else {
            self.count_absent();
        }
    }

    fn change(&mut self, id: &AgentId, change: impl FnOnce(&mut Member) -> bool) -> bool {
        let Some(at) = self.index_of(id) else {
            return false;
        };
        let changed = self.list.change(at, change);
        if changed {
            self.count_absent();
        }
        changed
    }

    fn reindex(&mut self, list: Vec<Member>) {
        self.by_name = Arc::new(NameIndex::new(&list));
        self.list = Roster::new(list);
        self.rerank();
    }

    fn count_absent(&mut self) {
        self.absent = self.by_rank().take_while(|m| !m.is_up()).count();
    }

    fn rerank(&mut self) {
        let mut places: Vec<(Option<Score>, u32)> = (0u32..)
            .zip(self.list.iter())
            .filter(|(_, m)| m.is_voter() && m.score.is_some())
            .map(|(at, m)| (m.score, at))
            .collect();
        places.sort_unstable_by(|a, b| b.cmp(a)); // places follow the names, so there is no tie
        self.by_rank = places.into_iter().map(|(_, at)| at).collect();
        self.count_absent();
    }
}

/// Largest number of members that are replaced one by one. For more members the list is copied once.
const A_FEW: usize = 4;

impl MembersReports for Members {
    fn note_leader(&mut self, leader: Leader) {
        if leader.term >= self.term {
            self.term = leader.term;
            self.leader = Some(leader);
        }
    }

    fn forget_leader(&mut self, id: &AgentId, incarnation: Incarnation) {
        self.leader
            // The end of an earlier incarnation does not end the leadership of a later incarnation.
            .take_if(|l| l.id == *id && l.incarnation <= incarnation);
    }

    fn set_closed(&mut self, closed: bool) {
        self.closed = closed;
    }

    fn disown(&mut self, id: &AgentId, is_refused: bool) -> bool {
        if self.disowners.contains(id) == is_refused {
            return false;
        }
        let disowners = Arc::make_mut(&mut self.disowners);
        if is_refused {
            disowners.insert(id.clone());
        } else {
            disowners.remove(id);
        }
        true
    }

    fn keep_disowners(&mut self, of: &Self) {
        let mut disowners = BTreeSet::clone(&of.disowners);
        disowners.retain(|id| self.get(id).is_some());
        self.disowners = Arc::new(disowners);
    }

    fn end_told(&mut self, id: &AgentId, incarnation: Incarnation) -> bool {
        self.change(id, |m| m.mark_end_told(incarnation))
    }

    fn suspect(&mut self, id: &AgentId, incarnation: Incarnation) -> bool {
        self.change(id, |m| m.mark_suspect(incarnation))
    }

    fn set_score(&mut self, id: &AgentId, score: Option<Score>) -> bool {
        let changed = self.change(id, |m| std::mem::replace(&mut m.score, score) != score);
        if changed {
            self.rerank();
        }
        changed
    }

    fn set_store(&mut self, id: &AgentId, store: Option<StoreId>) -> bool {
        self.change(id, |m| std::mem::replace(&mut m.store, store) != store)
    }

    fn has_room(&self, at: usize) -> bool {
        self.list.has_room(at)
    }

    fn set(&mut self, at: usize, member: Member) {
        self.list.change(at, |known| {
            *known = member;
            true
        });
        self.count_absent();
    }

    fn places_by_rank(&self) -> impl Iterator<Item = usize> {
        let places = self.by_rank.iter();
        places.filter_map(|at| usize::try_from(*at).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::MemberKind;

    fn id(name: &str) -> AgentId {
        AgentId::new(name).unwrap()
    }

    fn group(scores: &[(&str, i32)]) -> Members {
        let mut members = Members::new(true);
        let up = |(name, score): &(&str, i32)| {
            Member::up(
                id(name),
                MemberKind::Voter,
                Some((*score).into()),
                Incarnation(1),
            )
        };
        members.join(scores.iter().map(up));
        members
    }

    #[test]
    fn members_are_ordered_by_name_and_by_rank() {
        let mut members = group(&[("c", 1), ("a", 7), ("b", 7)]);
        members.join([Member::up(
            id("z"),
            MemberKind::Observer,
            Some(99.into()),
            Incarnation(1),
        )]);
        let names = |list: Vec<&Member>| list.iter().map(|m| m.id.to_string()).collect::<String>();
        assert_eq!(names(members.iter().collect()), "abcz");
        assert_eq!(
            names(members.by_rank().collect()),
            "bac",
            "an observer has no rank"
        );
        members.join([Member::up(id("a"), MemberKind::Voter, None, Incarnation(1))]);
        assert_eq!(
            names(members.by_rank().collect()),
            "bc",
            "joining again replaces"
        );
        assert_eq!(members.len(), 4);
        assert!(!members.is_empty() && Members::new(false).is_empty());
    }

    #[test]
    fn those_ahead_are_up_and_outrank() {
        let mut members = group(&[("a", 1), ("b", 2), ("c", 3), ("d", 4)]);
        let (score, a) = (1.into(), id("a"));
        assert_eq!(members.ahead_of(score, &a, None, 8), 3);
        assert_eq!(members.ahead_of(score, &a, None, 2), 2);
        assert_eq!(members.ahead_of(score, &a, Some(&id("d")), 8), 2);
        members.down(&id("c"), Incarnation(1));
        assert_eq!(members.ahead_of(score, &a, Some(&id("d")), 8), 1);
    }

    #[test]
    fn a_later_incarnation_ends_the_earlier_one_and_stale_reports_change_nothing() {
        let mut members = group(&[("a", 1)]);
        let a = id("a");
        assert!(members.up(&a, Incarnation(3)));
        assert!(members.get(&a).unwrap().is_gone(Incarnation(1)));
        assert!(
            !members.get(&a).unwrap().has_ended(Incarnation(1)),
            "superseded, not yet revoked"
        );
        assert!(!members.suspect(&a, Incarnation(1)), "a former incarnation");
        assert!(!members.up(&a, Incarnation(2)), "a former incarnation");
        assert!(
            members.down(&a, Incarnation(1)),
            "the revocation of a former incarnation is a change"
        );
        assert!(members.get(&a).unwrap().is_up());
        assert!(members.suspect(&a, Incarnation(3)));
        assert!(
            members.up(&a, Incarnation(3)),
            "a suspicion can be withdrawn"
        );
        assert!(members.down(&a, Incarnation(3)));
        assert!(!members.up(&a, Incarnation(3)), "an end cannot");
        assert!(!members.suspect(&a, Incarnation(3)));
        assert!(members.up(&a, Incarnation(4)));
        assert!(!members.up(&id("x"), Incarnation(1)), "not a member");
    }

    #[test]
    fn a_suspicion_is_a_change_once_for_each_incarnation() {
        let mut members = group(&[("a", 1)]);
        let mut suspect = |number| members.suspect(&id("a"), Incarnation(number));
        assert!(suspect(4) && !suspect(4) && suspect(5));
    }

    #[test]
    fn the_leader_is_noted_in_term_order_and_hidden_when_gone() {
        let mut members = group(&[("a", 1), ("b", 2)]);
        let leader = |name, term| Leader {
            id: id(name),
            incarnation: Incarnation(1),
            term: Term(term),
        };
        members.note_leader(leader("b", 5));
        members.note_leader(leader("a", 4));
        assert_eq!(members.leader(), Some(&leader("b", 5)));
        members.suspect(&id("b"), Incarnation(1));
        assert_eq!((members.leader(), members.term()), (None, Term(5)));
        members.up(&id("b"), Incarnation(1));
        members.forget_leader(&id("a"), Incarnation(1));
        members.forget_leader(&id("b"), Incarnation(0));
        assert_eq!(members.leader(), Some(&leader("b", 5)), "other leaderships");
        members.forget_leader(&id("b"), Incarnation(1));
        assert_eq!((members.leader(), members.term()), (None, Term(5)));
    }
}
