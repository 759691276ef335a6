//! What a member says of itself.
//!
//! Decided here: that a change is one of the membership, of which all members and the bridges are notified.

use crate::protocol::{About, AgentId, Member, PeerMessage};

use super::Group;

impl<M: PeerMessage> Group<M> {
    /// What a member of this process says of itself from now on.
    pub(crate) fn set_about(&self, id: &AgentId, about: Option<About>) {
        let mark = |member: &mut Member| {
            let is_other = member.about != about;
            member.about = about;
            is_other
        };
        self.registry().report(id, mark);
    }
}
