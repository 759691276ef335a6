//! The text that a member publishes about itself.
//!
//! Decided here: a new text is a change of the membership, and all members and bridges are notified of it.

use crate::protocol::{About, AgentId, Member, PeerMessage};

use super::Group;

impl<M: PeerMessage> Group<M> {
    /// Sets the text that a member of this process publishes about itself from now on.
    pub(crate) fn set_about(&self, id: &AgentId, about: Option<About>) {
        let mark = |member: &mut Member| {
            let is_other = member.about != about;
            member.about = about;
            is_other
        };
        self.registry().report(id, mark);
    }
}
