//! Finds a member by its name in a few steps, for a list of any length.
//!
//! The index is a table with open addressing over the hash that each [`AgentId`] contains. No code walks the table, so
//! its order decides nothing.

use super::{AgentId, Member};

/// The indices of a list of members, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct NameIndex {
    /// An index plus one, or 0 for an empty slot. At most half of the slots are taken.
    slots: Vec<u32>,
}

impl NameIndex {
    pub(super) fn new(list: &[Member]) -> Self {
        // Half of the slots stay free, so that a search soon meets an empty slot and ends.
        let room = list.len().saturating_mul(2).next_power_of_two();
        let mut index = Self {
            slots: vec![0; room],
        };
        for (place, member) in (1u32..).zip(list) {
            let free = index
                .probe(&member.id)
                .find(|at| index.slots.get(*at) == Some(&0));
            if let Some(slot) = free.and_then(|at| index.slots.get_mut(at)) {
                *slot = place;
            }
        }
        index
    }

    /// Returns the index in `list` of the member with this name. `list` must be the list from which the table was made.
    pub(super) fn find(&self, id: &AgentId, list: &[Member]) -> Option<usize> {
        for at in self.probe(id) {
            let place = usize::try_from(*self.slots.get(at)?).ok()?.checked_sub(1)?;
            if list.get(place)?.id == *id {
                return Some(place);
            }
        }
        None
    }

    /// Returns the slots that may hold a name, in the order in which they are tried.
    fn probe(&self, id: &AgentId) -> impl Iterator<Item = usize> + use<> {
        let mask = self.slots.len().wrapping_sub(1);
        let first = usize::try_from(id.hash()).unwrap_or(0);
        (0..self.slots.len()).map(move |step| first.wrapping_add(step) & mask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::MemberKind;

    #[test]
    fn every_name_is_found_and_no_other() {
        let member = |k: usize| {
            Member::unseen(
                AgentId::new(&format!("agent-{k}")).unwrap(),
                MemberKind::Voter,
                None,
            )
        };
        for len in [0, 1, 2, 3, 100, 1_000] {
            let list: Vec<Member> = (0..len).map(member).collect();
            let index = NameIndex::new(&list);
            for (place, member) in list.iter().enumerate() {
                assert_eq!(index.find(&member.id, &list), Some(place));
            }
            assert_eq!(index.find(&member(len).id, &list), None);
        }
        assert_eq!(NameIndex::default().find(&member(0).id, &[]), None);
    }
}
