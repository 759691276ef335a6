//! The lists of voters that a leader has to ask for marks (the progress of schedules): the list of its own epoch, and
//! earlier lists, because their voters may know marks that the present voters do not know yet.
//!
//! ```text
//!   epoch 4: a b c      "report": 03:00 begun     stored by a and c
//!   epoch 5: a b d      b and d are a quorum, and know nothing of it: so a quorum of a b c is asked as well,
//!                       and what it knows is written to a quorum of a b d before anything begins
//! ```
//!
//! A leader writes the mark of a schedule only after it has asked the voters of all lists that matter. If an agent
//! holds a mark from a leader of some epoch, the voters of that epoch know all earlier marks, and earlier lists do not
//! matter any more. Decided here: which lists matter, and when enough voters of these lists have answered. Not here:
//! the consequence when too few former voters are left (`machine/`).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::protocol::{AgentId, Epochs, Leaders, Requirements, Term};

/// The voters of one epoch.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct QuorumList {
    pub(super) voters: BTreeSet<AgentId>,
    /// Number of voters that a reading needs; `write` is the number that a write needs. Any `read` voters and any
    /// `write` voters have a voter in common.
    pub(super) read: usize,
    pub(super) write: usize,
}

impl QuorumList {
    /// Returns the voters whose acknowledgement counts, if each term has at most one leader.
    pub(super) fn of(requirements: &Requirements) -> Option<Self> {
        let electorate = requirements.voters?;
        let names = requirements.names.as_ref()?;
        if requirements.leaders != Leaders::PerTerm {
            return None;
        }
        let read = usize::try_from(electorate.vote_quorum).unwrap_or(usize::MAX);
        let read = read.min(names.len());
        Some(Self {
            voters: names.iter().cloned().collect(),
            read,
            // A reading may leave out all voters but `read`. A write needs one voter more than that, so that a reading
            // and a write have a voter in common.
            write: names.len().saturating_sub(read).saturating_add(1),
        })
    }

    /// Returns the number of voters in `held`.
    fn count(&self, held: &BTreeSet<AgentId>) -> usize {
        held.intersection(&self.voters).count()
    }
}

/// The lists that an agent knows, by their epochs. The last list is valid now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VoterLists {
    epochs: Epochs,
    lists: BTreeMap<u64, QuorumList>,
}

/// Largest number of lists that an agent remembers: a leader of each epoch makes the earlier lists unnecessary.
const MOST: usize = 8;

impl VoterLists {
    pub(super) const fn new(epochs: Epochs, lists: BTreeMap<u64, QuorumList>) -> Self {
        Self { epochs, lists }
    }

    /// Returns the list of a group whose voters never change.
    #[cfg(test)]
    pub(super) fn only(list: QuorumList) -> Self {
        Self::new(Epochs::Apart, [(0, list)].into())
    }

    pub(super) const fn lists(&self) -> &BTreeMap<u64, QuorumList> {
        &self.lists
    }

    /// Notes a list, unless its epoch is known already or is past. Returns whether the list was noted.
    pub(super) fn note(&mut self, epoch: u64, list: QuorumList) -> bool {
        let is_later = self
            .lists
            .keys()
            .next_back()
            .is_none_or(|last| *last < epoch);
        if is_later {
            self.lists.insert(epoch, list);
            self.forget();
        }
        is_later
    }

    /// Adds lists that other agents know: this agent may have been down in their epochs.
    pub(super) fn fill(&mut self, others: &[(u64, QuorumList)]) {
        let Some(last) = self.lists.keys().next_back().copied() else {
            return;
        };
        let missed = others.iter().filter(|(epoch, _)| *epoch < last);
        for (epoch, list) in missed {
            self.lists.entry(*epoch).or_insert_with(|| list.clone());
        }
        self.forget();
    }

    fn forget(&mut self) {
        while self.lists.len() > MOST {
            self.lists.pop_first();
        }
    }

    /// Returns the lists that a leader of the term `term` asks. If the list of the term's epoch is unknown, no number
    /// of answers is enough.
    pub(super) fn up_to(&self, term: Term) -> Self {
        let Some(epoch) = self.epochs.of(term) else {
            return self.clone();
        };
        let lists = self.lists.range(..=epoch);
        let mut lists: BTreeMap<_, _> = lists.map(|(of, list)| (*of, list.clone())).collect();
        if !lists.contains_key(&epoch) {
            lists.clear();
        }
        Self::new(self.epochs, lists)
    }

    /// Returns all voters that are asked in a reading.
    pub(super) fn asked(&self) -> BTreeSet<AgentId> {
        self.lists
            .values()
            .flat_map(|list| list.voters.iter().cloned())
            .collect()
    }

    pub(super) fn voters(&self) -> impl Iterator<Item = &AgentId> {
        self.present().into_iter().flat_map(|list| &list.voters)
    }

    fn present(&self) -> Option<&QuorumList> {
        self.lists.values().next_back()
    }

    /// Returns whether the present voters in `held` are enough: for a write if `is_write`, otherwise for a reading.
    pub(super) fn is_enough(&self, held: &BTreeSet<AgentId>, is_write: bool) -> bool {
        self.present().is_some_and(|list| {
            let needed = if is_write { list.write } else { list.read };
            list.count(held) >= needed
        })
    }

    /// Returns whether enough former voters have answered too, so that at least one of them knows each mark that was
    /// written. `written` is the latest term of a leader whose mark an agent holds.
    pub(super) fn is_all_read(&self, held: &BTreeSet<AgentId>, written: Option<Term>) -> bool {
        let written = self.written_in(written);
        let from = written.unwrap_or(0);
        let Some(last) = self.lists.keys().next_back() else {
            return true;
        };
        // If no agent holds a mark, the epoch of the last write is unknown, so all known lists matter.
        let first = self
            .lists
            .range(from..)
            .next()
            .map_or(*last, |(epoch, _)| *epoch);
        // If the list of an epoch is missing, a leader of that epoch may have written a mark that was not read.
        let is_known = written.is_none() || first == from.min(*last);
        let mut matter = self.lists.range(first..);
        let count = u64::try_from(self.lists.range(first..).count()).unwrap_or(u64::MAX);
        let is_whole = last.checked_sub(first) == count.checked_sub(1);
        is_known && is_whole && matter.all(|(_, list)| list.count(held) >= list.read)
    }

    /// Returns whether `written`, the term of the leader that wrote a mark, belongs to the present epoch.
    pub(super) fn is_of_present(&self, written: Option<Term>) -> bool {
        let last = self.lists.keys().next_back().copied();
        self.lists.len() < 2 || last == self.written_in(written)
    }

    fn written_in(&self, written: Option<Term>) -> Option<u64> {
        written.and_then(|term| self.epochs.of(term))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Electorate, Rules};

    #[test]
    fn every_reading_and_every_writing_have_a_voter_in_common() {
        const RULES: Rules = Rules::new("x");
        for count in 1..8 {
            let names: Vec<_> = (0..count)
                .map(|name| AgentId::new(&name.to_string()).unwrap())
                .collect();
            for votes in count / 2 + 1..=count {
                let requirements = Requirements {
                    leaders: Leaders::PerTerm,
                    voters: Some(Electorate::new(&names, votes, count)),
                    names: Some(names.as_slice().into()),
                    ..Requirements::new(RULES)
                };
                let QuorumList { read, write, .. } = QuorumList::of(&requirements).unwrap();
                assert_eq!((read, read + write), (votes, count + 1));
            }
        }
        assert_eq!(QuorumList::of(&Requirements::new(RULES)), None);
    }

    /// Returns the voters with these names, of which each is a letter.
    fn held(names: &str) -> BTreeSet<AgentId> {
        let names = names.chars().map(|name| name.to_string());
        names.map(|name| AgentId::new(&name).unwrap()).collect()
    }

    fn list(names: &str) -> QuorumList {
        let voters = held(names);
        let read = voters.len() / 2 + 1;
        QuorumList {
            write: voters.len() + 1 - read,
            read,
            voters,
        }
    }

    /// Returns the lists of the voters a b c, then a b c d, then b c d.
    fn changed() -> VoterLists {
        let mut lists = VoterLists::new(Epochs::Learned { term_bits: 40 }, BTreeMap::new());
        for (epoch, names) in [(1, "abc"), (2, "abcd"), (3, "bcd")] {
            assert!(lists.note(epoch, list(names)));
        }
        lists
    }

    #[test]
    fn a_quorum_of_each_list_since_the_last_writing_is_asked() {
        let term = |epoch: Option<u64>| epoch.map(|epoch| Term(epoch << 40 | 7));
        let mut lists = changed();
        assert!(!lists.note(2, list("x")), "an epoch has one list");
        for (names, written, is_read) in [
            ("bd", None, false),
            ("bd", Some(2), false),
            ("bd", Some(3), true),
            ("abc", None, true),
            ("abc", Some(2), true),
        ] {
            let is_all = lists.is_all_read(&held(names), term(written));
            assert_eq!(is_all, is_read, "{names}, {written:?}");
            assert_eq!(lists.is_of_present(term(written)), written == Some(3));
        }
        let unknown = lists.up_to(Term(4 << 40 | 1));
        assert!(!unknown.is_enough(&held("abcd"), false));
        let before = lists.up_to(Term(2 << 40 | 1)).lists;
        assert_eq!(before.keys().copied().collect::<Vec<_>>(), [1, 2]);

        // No agent remembers the list of epoch 4, whose voters may have written something.
        lists.note(5, list("bcde"));
        assert!(!lists.is_all_read(&held("abcde"), term(Some(3))));
        assert!(lists.is_all_read(&held("abcde"), term(Some(5))));
        lists.fill(&[(4, list("bcd")), (9, list("x"))]);
        assert!(lists.is_all_read(&held("abcde"), term(Some(3))));
        let first = lists.is_all_read(&held("abcde"), term(Some(0)));
        assert!(!first, "the list of epoch 0 is missing");
    }
}
