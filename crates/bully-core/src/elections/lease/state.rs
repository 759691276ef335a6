//! The roles, and the data of each role.
//!
//! Nothing is decided here. Read [`machine`](super::machine) next: the inputs that change the role.

use super::leader::Leading;
use crate::protocol::{Leader, Role, Term, Time, View};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum State {
    /// The agent knows no leader, and waits for its slot if it can be elected.
    Vacant,
    /// The agent follows the holder of the lease.
    Following(Following),
    /// The agent has asked for the lease, and does not know the outcome yet.
    Taking {
        /// The number of the attempt.
        request: u64,
    },
    /// The agent holds the lease, and considers itself leader until the lease ends.
    Leading(Leading),
}

/// The leader that an agent follows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Following {
    pub leader: Leader,
    /// Whether the leader is or was a member of this process's group. Only then does its absence mean that it left.
    pub was_member: bool,
}

impl State {
    /// Returns the view at this time. `own` returns this agent as the leader of a term.
    pub(super) fn view(&self, now: Time, highest: Term, own: impl FnOnce(Term) -> Leader) -> View {
        match self {
            Self::Leading(leading) if leading.has_lease(now) => {
                View::new(Role::Leader, highest).leads(own(leading.term), leading.until)
            }
            Self::Vacant | Self::Leading(_) => View::new(Role::Follower, highest),
            Self::Taking { .. } => View::new(Role::Candidate, highest),
            Self::Following(following) => {
                View::new(Role::Follower, highest).follows(following.leader.clone())
            }
        }
    }

    pub(super) const fn role(&self) -> Role {
        match self {
            Self::Vacant | Self::Following(_) => Role::Follower,
            Self::Taking { .. } => Role::Candidate,
            Self::Leading(_) => Role::Leader,
        }
    }
}
