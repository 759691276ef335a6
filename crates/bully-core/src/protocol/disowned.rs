//! The members whose hosts refuse this process, because a later process has its name.
//!
//! Decided here: when these hosts outnumber the hosts that accept this process. Not here: the reaction of a machine.

use std::collections::BTreeSet;

use super::{AgentId, Members};

/// The members whose hosts refuse this process.
pub(super) type Disowners = BTreeSet<AgentId>;

impl Members {
    /// Returns whether the other voters whose hosts know a later process of this name outnumber the other voters that
    /// are up on the remaining hosts (rule `later-process-leads` of the bully).
    pub fn is_disowned(&self, me: &AgentId) -> bool {
        if self.disowners.is_empty() {
            return false;
        }
        let others = self.voters().filter(|m| m.id != *me);
        let (mut know_a_later_one, mut count_on_this_one) = (0usize, 0usize);
        for member in others {
            if self.disowners.contains(&member.id) {
                know_a_later_one = know_a_later_one.saturating_add(1);
            } else if member.is_up() {
                count_on_this_one = count_on_this_one.saturating_add(1);
            }
        }
        know_a_later_one > count_on_this_one
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::MembersReports as _;
    use crate::protocol::{Incarnation, Member, MemberKind};

    fn id(name: &str) -> AgentId {
        AgentId::new(name).unwrap()
    }

    fn group() -> Members {
        let mut members = Members::new(true);
        let up = |name| Member::up(id(name), MemberKind::Voter, None, Incarnation(1));
        members.join(["a", "b", "c", "d"].map(up));
        members
    }

    #[test]
    fn a_process_is_disowned_by_more_voters_than_count_on_it() {
        let mut members = group();
        let me = id("a");
        assert!(!members.is_disowned(&me));
        assert!(members.disown(&id("b"), true) && !members.disown(&id("b"), true));
        assert!(!members.is_disowned(&me), "one against two");
        members.suspect(&id("c"), Incarnation(1));
        assert!(!members.is_disowned(&me), "one against one");
        members.disown(&id("d"), true);
        assert!(members.is_disowned(&me));
        assert!(members.leave(&id("d")));
        members.join([Member::up(id("d"), MemberKind::Voter, None, Incarnation(2))]);
        assert!(!members.is_disowned(&me), "it left, and came again");
        members.disown(&id("b"), false);
        members.disown(&id("a"), true);
        assert!(!members.is_disowned(&me), "it does not count itself");
    }
}
