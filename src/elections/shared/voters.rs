//! The voters of an election that counts majorities, as its configuration names them.
//!
//! Decided here: that a name is listed once, and that an agent takes part as the list says. Not here:
//! how many of them make a quorum.

use std::sync::Arc;

use crate::protocol::{AgentId, MemberKind, MembershipError};

/// The names of the voters, in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::elections) struct Voters(pub(in crate::elections) Arc<[AgentId]>);

impl Voters {
    pub(in crate::elections) fn new(ids: impl IntoIterator<Item = AgentId>) -> Self {
        let mut ids: Vec<_> = ids.into_iter().collect();
        // For the search; and the same names in another order are the same voters.
        ids.sort();
        Self(ids.into())
    }

    /// A name that is listed more than once.
    pub(in crate::elections) fn duplicate(&self) -> Option<&AgentId> {
        let pairs = self.0.iter().zip(self.0.iter().skip(1));
        pairs.filter(|(a, b)| a == b).map(|(id, _)| id).next()
    }

    pub(in crate::elections) fn contains(&self, id: &AgentId) -> bool {
        self.0.binary_search(id).is_ok()
    }

    /// More than half of the voters.
    pub(in crate::elections) fn majority(&self) -> usize {
        (self.0.len() / 2).saturating_add(1)
    }

    /// Checks that an agent takes part as the list says.
    pub(in crate::elections) fn check(
        &self,
        who: &AgentId,
        kind: MemberKind,
    ) -> Result<(), MembershipError> {
        let id = who.clone();
        match (kind, self.contains(who)) {
            (MemberKind::Voter, false) => Err(MembershipError::NotListed { id }),
            (MemberKind::Observer, true) => Err(MembershipError::ListedObserver { id }),
            (MemberKind::Voter, true) | (MemberKind::Observer, false) => Ok(()),
        }
    }
}
