//! The voters of an election that counts majorities, as in its configuration.
//!
//! Decided here: a name is listed once, and a listed agent takes part as a voter. Not here: the number of voters in a
//! quorum, except the usual majority.

use crate::protocol::{AgentId, MemberKind, MembershipError, SettingError};

/// Returns the voters in the order of their names, so that a machine asks them in the same order on every host.
pub fn in_order(voters: impl IntoIterator<Item = AgentId>) -> Vec<AgentId> {
    let mut voters: Vec<_> = voters.into_iter().collect();
    voters.sort();
    voters
}

/// Checks that there are voters, and that no name is listed twice.
///
/// # Errors
/// [`SettingError`] of the setting `voters`.
pub fn check_voters(voters: &[AgentId]) -> Result<(), SettingError> {
    if voters.is_empty() {
        let reason = "there are no voters: name at least one, better three";
        return Err(SettingError::new("voters", reason));
    }
    let is_again = |(at, id): &(usize, &AgentId)| voters.iter().take(*at).any(|other| other == *id);
    match voters.iter().enumerate().find(is_again) {
        Some((_, id)) => Err(SettingError::new(
            "voters",
            format_args!("the voter {id} is listed twice: give each its own name"),
        )),
        None => Ok(()),
    }
}

/// Returns the smallest number that is more than half of the voters.
pub const fn majority(voters: &[AgentId]) -> usize {
    (voters.len() / 2).saturating_add(1)
}

/// Checks that an agent on the list of voters takes part as a voter, and any other agent as an observer.
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
