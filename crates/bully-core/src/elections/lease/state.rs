//! The roles, and the data of each.
//!
//! Decided here: nothing. Which input leads from one to another: [`machine`](super::machine).

use super::leader::Leading;
use crate::protocol::{Leader, Role, Term, Time, View};

/// The state of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum State {
    /// It knows no leader, and waits for its slot if it can be elected.
    Vacant,
    /// It follows the holder of the lease.
    Following(Following),
    /// It has asked for the lease, and does not know the outcome yet.
    Taking {
        /// The number of the attempt.
        request: u64,
    },
    /// It holds the lease, and considers itself leader until that ends.
    Leading(Leading),
}

/// The leader that an agent follows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Following {
    pub leader: Leader,
    /// Whether it is or was a member of this process's group, so that its absence has a meaning.
    pub was_member: bool,
}

impl State {
    /// Returns the view at that time; `own` is this agent as the leader of a term.
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
