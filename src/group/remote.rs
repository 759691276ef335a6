//! The members of a group that live on one other node, and what is said of them.
//!
//! Decided here: that every report names its route. What comes through a [`Remote`] counts for the
//! members that live there and for no others, whatever their names.

use std::{fmt, sync::Arc};

use crate::protocol::{AgentId, Incarnation, Leader, Member, PeerMessage};

use super::{Group, Snapshot, snapshot::Route};

/// One other node's route into a group; made by [`Group::remote`]. Clones are the same route.
///
/// A new route is not up: the names of its members are free for others to take, until
/// [`set_up`](Self::set_up).
pub struct Remote<M: PeerMessage> {
    group: Group<M>,
    route: Arc<Route<M>>,
}

/// What the node at the other end says of one of its agents.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Update {
    /// It is a member: new, or with all that is known of it now.
    Known(Member),
    /// It may have ended in this incarnation.
    Suspect(AgentId, Incarnation),
    /// It is a member no more. Its last incarnation, if that has ended for certain.
    Left(AgentId, Option<Incarnation>),
}

impl<M: PeerMessage> Remote<M> {
    pub(super) const fn new(group: Group<M>, route: Arc<Route<M>>) -> Self {
        Self { group, route }
    }

    /// The group.
    pub fn group(&self) -> &Group<M> {
        &self.group
    }

    /// Notes whether the node can be reached. As long as it can, nobody else takes the name of a
    /// member that lives there, unless that member has ended for certain.
    pub fn set_up(&self, is_up: bool) {
        self.route.set_up(is_up);
    }

    /// Applies what the node says, in one step however much it is; gives back the members whose
    /// names others have. What is said of a member that is not this node's changes nothing.
    ///
    /// A name whose holder's route is not up, or whose holder has ended for certain, is taken over:
    /// the route that had it is told.
    pub fn apply(&self, updates: impl IntoIterator<Item = Update>) -> Vec<Member> {
        self.group.registry().apply(&self.route, updates)
    }

    /// Notes that a member of this route leads, for those who come later. Nobody is told.
    pub fn note_leader(&self, leader: Leader) {
        self.group.registry().note_leader(leader, Some(&self.route));
    }

    /// Whether a member is this route's.
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
