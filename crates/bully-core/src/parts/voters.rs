//! The voters of an election that counts majorities, as its configuration names them.
//!
//! Decided here: a name is listed once, and an agent takes part as listed. Not here: the number of voters of a quorum,
//! except the usual majority.

use crate::protocol::{AgentId, MemberKind, MembershipError};

/// The voters in the order of their names: a machine asks them in the same order wherever it runs.
pub fn in_order(voters: impl IntoIterator<Item = AgentId>) -> Vec<AgentId> {
    let mut voters: Vec<_> = voters.into_iter().collect();
    voters.sort();
    voters
}

/// A name that is listed more than once.
pub fn duplicate_voter(voters: &[AgentId]) -> Option<&AgentId> {
    let is_again = |(at, id): &(usize, &AgentId)| voters.iter().take(*at).any(|other| other == *id);
    let mut all = voters.iter().enumerate();
    all.find(is_again).map(|(_, id)| id)
}

/// More than half of the voters.
pub const fn majority(voters: &[AgentId]) -> usize {
    (voters.len() / 2).saturating_add(1)
}

/// Checks that an agent takes part as listed.
///
/// # Errors
/// [`MembershipError::NotListed`] or [`MembershipError::ListedObserver`].
pub fn check_listed(
    voters: &[AgentId],
    agent: &AgentId,
    kind: MemberKind,
) -> Result<(), MembershipError> {
    let id = agent.clone();
    match (kind, voters.contains(agent)) {
        (MemberKind::Voter, false) => Err(MembershipError::NotListed { id }),
        (MemberKind::Observer, true) => Err(MembershipError::ListedObserver { id }),
        (MemberKind::Voter, true) | (MemberKind::Observer, false) => Ok(()),
    }
}
