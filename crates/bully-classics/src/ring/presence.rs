//! The presence of the members: a table of the questions about it, with one function for each question.
//!
//! An agent knows two facts about a member: its presence in the group's snapshot, and whether it was silent
//! (`suspects`). The answers to these questions differ:
//!
//! | question about another voter | up | unseen | suspect | down | if it was silent |
//! |---|---|---|---|---|---|
//! | [`size`](Core::size): does a lap get more time because of this voter? | yes | yes | yes | no | the same |
//! | [`is_in_ring`](Core::is_in_ring): are messages passed to this voter? | yes | yes | no | no | no |
//! | [`is_skipped`](Core::is_skipped): is this voter probed? | no | no | yes | no | yes, unless it is down |
//! | [`rivals`](Core::rivals): can the leadership be left to this voter, if it has a score? | yes | no | no | no | no |
//! | [`members_ahead`](Core::members_ahead): does this voter begin first, if it ranks above? | yes | no | no | no | the same: it costs a step |
//!
//! Two questions are about one incarnation in a message or in the snapshot: [`may_lead_in`](Core::may_lead_in) (can it
//! be elected or followed?), and [`has_ended`] (does a new snapshot show that a leader is gone?). The only question
//! about an observer is [`seems_there`].
//!
//! Not here: when a member becomes suspected, and when it is trusted again (`probe.rs`).

use super::{
    AgentId, Incarnation,
    core::{Core, seems_there},
};
use bully_core::protocol::{Leader, Member, Members, Presence};

impl Core {
    /// Returns the number of members from which the ring computes its waiting times.
    pub(super) fn size(&self) -> usize {
        // Suspected members count: if such a member is up after all, it makes a lap longer.
        let voters = self.me.members.voters();
        voters.filter(|m| may_be_there(m)).count().max(1)
    }

    /// Returns whether messages of the ring are passed to this member.
    pub(super) fn is_in_ring(&self, member: &Member) -> bool {
        // A member that was never seen is in the ring: it may be there, and only a hop of silence takes
        // it out.
        member.is_voter() && seems_there(member) && !self.was_silent(member)
    }

    /// Returns whether this agent skips the member although the member may be there. An observer passes no messages on,
    /// so it skips no member and probes no member.
    pub(super) fn is_skipped(&self, member: &Member) -> bool {
        self.me.is_voter()
            && member.is_voter()
            && member.id != self.me.id
            && may_be_there(member)
            && (!seems_there(member) || self.was_silent(member))
    }

    /// Returns the other members that can be elected and were not silent, the highest-ranked first.
    pub(super) fn rivals(&self) -> impl Iterator<Item = &Member> {
        let eligible = self.me.members.eligible();
        eligible.filter(|m| m.id != self.me.id && !self.was_silent(m))
    }

    /// Returns the number of members that rank above this agent, at most `most`; `None` if this agent cannot be
    /// elected. The member `gone` is not counted, because it is known not to be up.
    pub(super) fn members_ahead(&self, gone: Option<&AgentId>, most: usize) -> Option<usize> {
        self.me.ahead(gone, most)
    }

    /// Returns whether this agent can be elected and no member ranks above it.
    pub(super) fn is_first(&self) -> bool {
        self.members_ahead(None, 1) == Some(0)
    }

    /// Returns whether the member `id` may be leader in this incarnation: it is a voter, and the incarnation is not
    /// known to have ended. A skipped member may be leader too, because a message of another member has just reported
    /// it.
    pub(super) fn may_lead_in(&self, id: &AgentId, incarnation: Incarnation) -> bool {
        let member = self.me.members.get(id);
        member.is_some_and(|m| m.is_voter() && !m.is_stale(incarnation))
    }

    /// Ends the suspicion of members that have a new incarnation or are connected again.
    pub(super) fn review_suspects(&mut self, before: &Members) {
        let members = &self.me.members;
        self.suspects.retain(|id, incarnation| {
            let was_up = before.get(id).is_some_and(Member::is_up);
            members.get(id).is_some_and(|m| {
                let has_returned = m.is_up() && !was_up;
                m.incarnation == *incarnation && may_be_there(m) && !has_returned
            })
        });
    }

    fn was_silent(&self, member: &Member) -> bool {
        self.suspects.contains_key(&member.id)
    }
}

/// Returns whether the new snapshot newly shows the end of the leader's incarnation, confirmed or suspected. A
/// suspicion may be wrong, so it counts only in the first snapshot that shows it.
pub(super) fn has_ended(leader: &Leader, before: &Members, members: &Members) -> bool {
    let (id, incarnation) = (&leader.id, leader.incarnation);
    let is_gone = |m: &Members| m.get(id).is_none_or(|m| m.is_gone(incarnation));
    let is_over = members.get(id).is_none_or(|m| m.is_stale(incarnation));
    is_over || is_gone(members) && !is_gone(before)
}

/// Returns whether the snapshot does not show the member as down.
fn may_be_there(member: &Member) -> bool {
    match member.presence {
        Presence::Up | Presence::Unseen | Presence::Suspect => true,
        Presence::Down => false,
    }
}
