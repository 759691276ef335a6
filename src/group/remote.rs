//! The members of a group on one other node, and the reports about them.
//!
//! Decided here: every report has its route. A report through a [`Remote`] counts only for the members of the remote's
//! node, even if members of other nodes have the same names.

use std::{fmt, sync::Arc};

use crate::protocol::{AgentId, Incarnation, Leader, Member, PeerMessage};

use super::{Group, Snapshot, snapshot::Route};

/// The route to one other node of a group; made by [`Group::remote`]. Clones are the same route.
///
/// A new route is not up. Until [`set_up`](Self::set_up), other agents may take the names of the members on it.
pub struct Remote<M: PeerMessage> {
    group: Group<M>,
    route: Arc<Route<M>>,
}

/// A report of the node at the other end about one of its agents.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Update {
    /// The agent is a member: a new member, or a known member with its present state.
    Known(Member),
    /// The agent may have ended in this incarnation.
    Suspect(AgentId, Incarnation),
    /// A sentinel reported that the agent has certainly ended in this incarnation. A later incarnation may follow.
    #[cfg(feature = "sentinel")]
    Ended(AgentId, Incarnation),
    /// Whether the agent's node refuses this process, because it knows a later process with this process's name.
    Disowns(AgentId, bool),
    /// The agent is not a member any more. The value has its last incarnation, if the end of that incarnation is
    /// confirmed.
    Left(AgentId, Option<Incarnation>),
}

impl<M: PeerMessage> Remote<M> {
    pub(super) const fn new(group: Group<M>, route: Arc<Route<M>>) -> Self {
        Self { group, route }
    }

    /// Returns the group.
    pub fn group(&self) -> &Group<M> {
        &self.group
    }

    /// Notes whether the node can be reached. While the node can be reached, no other agent takes the name of one of
    /// its members, unless the end of that member is confirmed.
    pub fn set_up(&self, is_up: bool) {
        self.route.set_up(is_up);
    }

    /// Applies the node's reports, any number in one step. Returns the members whose names other agents hold. A report
    /// about a member of another route changes nothing.
    ///
    /// A name is taken over if its holder's route is not up, or its holder's end is confirmed. The former route is
    /// notified.
    pub fn apply(&self, updates: impl IntoIterator<Item = Update>) -> Vec<Member> {
        self.group.registry().apply(&self.route, updates)
    }

    /// Notes that a member of this route leads, for agents that join later. No member is notified.
    pub fn note_leader(&self, leader: Leader) {
        self.group.registry().note_leader(leader, Some(&self.route));
    }

    /// Returns whether a member belongs to this route.
    pub(crate) fn has(&self, snapshot: &Snapshot<M>, id: &AgentId) -> bool {
        snapshot.is_routed(id, &self.route)
    }
}

impl<M: PeerMessage> Clone for Remote<M> {
    fn clone(&self) -> Self {
        Self::new(self.group.clone(), Arc::clone(&self.route))
    }
}

impl<M: PeerMessage> fmt::Debug for Remote<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("group", &self.group)
            .field("route", &self.route)
            .finish()
    }
}
