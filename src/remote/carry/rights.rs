//! The agents for which a peer may send messages, and their highest role.
//!
//! Decided here: which names a pattern covers; and if several grants cover an agent, the highest of their roles counts.
//! The rights are checked once for each agent that a peer announces; a message then contains the announced number of
//! its agent. A message must be within the rights of its sender. Not here: which node a peer is; a certificate or the
//! table of peers decides that.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering::Acquire},
};

use crate::protocol::{MemberKind, MinimumRole};

/// The highest role that an agent of a peer may take. Each role includes the roles listed before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MayBe {
    /// The agent learns which agent leads. In elections without a quorum, and with voters without disks, an observer
    /// may report a later term that it has followed: the leader then takes a term above the reported term. If the
    /// observer asks for other voters, the leader refuses. Any other election message of the observer ends the link.
    Observer,
    /// The agent may also vote, but has no score. Other agents ask it for its vote. If the agent claims to be a
    /// candidate or the leader, the link ends, and no agent receives the claim.
    Voter,
    /// The agent may also be elected.
    Leader,
}

impl MayBe {
    /// Returns whether this role includes the role that a message needs.
    #[must_use]
    pub(crate) const fn covers(self, needed: MinimumRole) -> bool {
        match needed {
            MinimumRole::Observer => true,
            MinimumRole::Voter => matches!(self, Self::Voter | Self::Leader),
            MinimumRole::Leader => matches!(self, Self::Leader),
        }
    }

    /// Returns the role that an agent needs if it is announced with this kind, and with or without a score.
    #[must_use]
    pub(crate) fn needed_by(kind: MemberKind, has_score: bool) -> Self {
        match (kind, has_score) {
            (MemberKind::Observer, _) => Self::Observer,
            (MemberKind::Voter, false) => Self::Voter,
            (MemberKind::Voter, true) => Self::Leader,
        }
    }
}

/// Returns whether a pattern covers a name: `*` covers all names, `api-*` the names with a prefix, and any other text one
/// name. Names never contain a `*`, so every name can be written as a pattern.
fn covers(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == pattern,
    }
}

/// The agents that one peer may announce, and the highest role of each. A new value grants nothing.
///
/// ```
/// use actix_bully::remote::{MayBe, Rights};
/// let rights = Rights::none()
///     .grant("shop", "api-*", MayBe::Leader)
///     .grant("shop", "witness", MayBe::Voter);
/// assert_ne!(rights, Rights::none()); // "db" of "shop" is granted nothing
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rights(Vec<Grant>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Grant {
    groups: String,
    agents: String,
    may_be: MayBe,
}

impl Rights {
    /// Returns rights that grant nothing.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Returns rights that grant every agent of every group, as a leader.
    #[must_use]
    pub fn all() -> Self {
        Self::none().grant("*", "*", MayBe::Leader)
    }

    /// Adds agents of groups: `*` means all names, `api-*` names with a prefix, any other text one name.
    #[must_use]
    pub fn grant(mut self, groups: &str, agents: &str, may_be: MayBe) -> Self {
        self.0.push(Grant {
            groups: groups.to_owned(),
            agents: agents.to_owned(),
            may_be,
        });
        self
    }

    /// Returns the highest role of an agent of a group; `None` if the peer may not send messages for it at all.
    #[must_use]
    pub(crate) fn of(&self, group: &str, agent: &str) -> Option<MayBe> {
        let covers = |grant: &&Grant| covers(&grant.groups, group) && covers(&grant.agents, agent);
        self.0.iter().filter(covers).map(|grant| grant.may_be).max()
    }
}

/// The present rights of a peer. A decree may add rights while links run.
#[derive(Debug)]
pub(crate) struct LiveRights {
    now: Mutex<Rights>,
    version: AtomicU64,
}

impl LiveRights {
    pub(crate) const fn new(rights: Rights) -> Self {
        Self {
            now: Mutex::new(rights),
            version: AtomicU64::new(0),
        }
    }

    pub(crate) fn get(&self) -> Rights {
        let now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        now.clone()
    }

    pub(crate) fn set(&self, rights: Rights) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = rights;
        self.version
            .fetch_add(1, std::sync::atomic::Ordering::Release);
    }

    /// Returns a number that grows with each change. A caller that reads it before [`get`](Self::get) misses no change.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_may_nothing_that_was_not_granted() {
        assert_eq!(Rights::none().of("shop", "api-1"), None);
        assert_eq!(Rights::all().of("shop", "api-1"), Some(MayBe::Leader));
        let rights = Rights::none().grant("shop", "api-*", MayBe::Voter);
        assert_eq!(rights.of("shop", "api-"), Some(MayBe::Voter));
        for (group, agent) in [("shop", "ap"), ("shop", "xapi-1"), ("shops", "api-1")] {
            assert_eq!(rights.of(group, agent), None, "{group} {agent}");
        }
    }

    #[test]
    fn the_most_generous_grant_counts() {
        let rights = Rights::none()
            .grant("*", "a", MayBe::Leader)
            .grant("*", "*", MayBe::Observer);
        assert_eq!(rights.of("g", "a"), Some(MayBe::Leader));
        assert_eq!(rights.of("g", "b"), Some(MayBe::Observer));
    }

    #[test]
    fn an_agent_that_could_win_must_be_allowed_to() {
        assert_eq!(MayBe::needed_by(MemberKind::Voter, true), MayBe::Leader);
        assert_eq!(MayBe::needed_by(MemberKind::Voter, false), MayBe::Voter);
        assert_eq!(
            MayBe::needed_by(MemberKind::Observer, true),
            MayBe::Observer
        );
    }
}
