//! A list of members that is cheap to copy and to change a little.
//!
//! A crash changes one member, perhaps of a thousand, and every agent gets a new snapshot. So recent changes are kept
//! beside the list, and merged into it from time to time.

use std::{
    hash::{Hash, Hasher},
    sync::Arc,
};

use super::Member;

/// Members in the order of a list. A change never moves a member to another index.
#[derive(Clone, Debug, Default)]
pub(super) struct Roster {
    list: Arc<Vec<Member>>,
    /// The indices of the changed members in the list. `changed` has the present members at these indices.
    places: Vec<usize>,
    changed: Vec<Member>,
    /// Number of members with a text about themselves.
    abouts: usize,
}

/// Largest number of changes that are kept beside the list. It is small, because each look-up walks these changes.
const MOST: usize = 8;

impl Roster {
    pub(super) fn new(list: Vec<Member>) -> Self {
        Self {
            abouts: list.iter().filter(|member| member.about.is_some()).count(),
            list: Arc::new(list),
            places: Vec::new(),
            changed: Vec::new(),
        }
    }

    /// Returns whether any member has a text about itself.
    pub(super) fn has_abouts(&self) -> bool {
        self.abouts > 0
    }

    /// Returns the members in the order of their names. Only the names are reliable: the other fields may be out of
    /// date.
    pub(super) fn names(&self) -> &[Member] {
        &self.list
    }

    pub(super) fn get(&self, at: usize) -> Option<&Member> {
        self.beside(at).or_else(|| self.list.get(at))
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &Member> {
        self.list
            .iter()
            .enumerate()
            .map(|(at, member)| self.beside(at).unwrap_or(member))
    }

    /// Changes the member at the index `at`. Returns the result of `change`: whether anything changed.
    pub(super) fn change(&mut self, at: usize, change: impl FnOnce(&mut Member) -> bool) -> bool {
        // The change is made on a copy, because a report without a change must not take a place beside the list.
        let Some(mut member) = self.get(at).cloned() else {
            return false;
        };
        let had_about = member.about.is_some();
        if !change(&mut member) {
            return false;
        }
        let abouts = self.abouts.saturating_sub(had_about.into());
        self.abouts = abouts.saturating_add(member.about.is_some().into());
        let beside = self.places.iter().position(|place| *place == at);
        if let Some(slot) = beside.and_then(|beside| self.changed.get_mut(beside)) {
            *slot = member;
        } else {
            self.places.push(at);
            self.changed.push(member);
        }
        if self.places.len() > MOST {
            *self = Self::new(self.to_vec());
        }
        true
    }

    /// Returns whether a change of the member at this index can be kept beside the list.
    pub(super) fn has_room(&self, at: usize) -> bool {
        self.places.len() < MOST || self.beside(at).is_some()
    }

    pub(super) fn to_vec(&self) -> Vec<Member> {
        self.iter().cloned().collect()
    }

    fn beside(&self, at: usize) -> Option<&Member> {
        let beside = self.places.iter().position(|place| *place == at)?;
        self.changed.get(beside)
    }
}

impl PartialEq for Roster {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Roster {}

impl Hash for Roster {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Only the members are hashed, because equality ignores how a roster is split into a list and changes.
        self.list.len().hash(state);
        self.iter().for_each(|member| member.hash(state));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::MemberReports as _;
    use crate::protocol::{About, AgentId, Incarnation, MemberKind};

    #[test]
    fn a_changed_roster_is_what_a_changed_list_is() {
        let member = |k: usize| {
            Member::unseen(
                AgentId::new(&format!("a{k}")).unwrap(),
                MemberKind::Voter,
                None,
            )
        };
        let mut list: Vec<Member> = (0..30).map(member).collect();
        let mut roster = Roster::new(list.clone());
        let before = roster.clone();
        for step in 0..100u64 {
            let at = usize::try_from(step * 7 % 31).unwrap();
            let end = |m: &mut Member| {
                m.ended = Some(Incarnation(step));
                m.about = step.is_multiple_of(3).then(|| About::new("text").unwrap());
                true
            };
            assert_eq!(roster.change(at, end), list.get_mut(at).is_some_and(end));
            assert_eq!(roster.to_vec(), list);
            assert_eq!(roster, Roster::new(list.clone()), "equal lists");
            assert!((0..31).all(|at| roster.get(at) == list.get(at)));
            let abouts = list.iter().filter(|m| m.about.is_some()).count();
            assert_eq!((roster.abouts, roster.has_abouts()), (abouts, abouts > 0));
            assert!(!roster.change(at, |_| false));
        }
        assert_eq!(
            before.to_vec(),
            (0..30).map(member).collect::<Vec<_>>(),
            "a copy is its own"
        );
    }

    /// A further change merges all changes into the list.
    #[test]
    fn a_few_changes_have_room_beside_the_list() {
        let name = |k| AgentId::new(&format!("a{k}")).unwrap();
        let member = |k: usize| Member::unseen(name(k), MemberKind::Voter, None);
        let mut roster = Roster::new((0..30).map(member).collect());
        for at in 0..MOST {
            assert!(roster.has_room(at), "{at}");
            assert!(roster.change(at, |m| m.mark_up(Incarnation(1))));
        }
        assert!(roster.has_room(0) && !roster.has_room(MOST));
        assert!(roster.change(MOST, |m| m.mark_up(Incarnation(1))));
        assert!((0..30).all(|at| roster.has_room(at)), "all are in the list");
    }
}
