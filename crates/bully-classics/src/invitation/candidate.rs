//! A candidate, which has invited other agents to a new group, and waits for their answers.
//!
//! Decided here: when the group is formed (rule `count-acceptances`). In the paper, a candidate always waits for the
//! time T. This candidate stops waiting when all invited agents have answered, because no member works while it waits.
//! An invited coordinator reports how many members it brings, and each of them accepts for itself.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    AgentId, ElectionId, Next, Out, Score, core::Core, leader::Invited, message::Invitation,
    timer::InvitationTimer,
};
use bully_core::protocol::{Time, To};

/// The state of a candidate: a group that is being formed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Merge {
    pub group: ElectionId,
    /// The group that this agent coordinated before.
    pub old: ElectionId,
    pub score: Score,
    /// The invited agents that have not answered, each with the number of members that it may bring along.
    pending: BTreeMap<AgentId, u32>,
    /// Number of agents that an invited coordinator brings along and that have not answered yet.
    brought: u32,
    /// The paper's Up: the agents that have accepted.
    pub up: BTreeSet<AgentId>,
    /// The agents that have declined. A second copy of a `Decline` has no effect.
    declined: BTreeSet<AgentId>,
    due: Time,
}

impl Merge {
    pub(super) fn begin(
        core: &Core,
        now: Time,
        (group, score): (ElectionId, Score),
        invited: Invited,
        out: &mut Out,
    ) -> (Self, Next) {
        let to: Arc<[AgentId]> = invited.agents.keys().cloned().collect();
        let wait = if to.iter().any(|id| core.may_be_there(id)) {
            core.config.timings.deadline()
        } else {
            core.config.gathering()
        };
        let merge = Self {
            group: group.clone(),
            old: invited.by,
            score,
            pending: invited.agents,
            brought: invited.brought,
            up: BTreeSet::new(),
            declined: BTreeSet::new(),
            due: now.after(wait),
        };
        if to.is_empty() {
            return (merge, Next::Close);
        }
        out.send_to(To::Set(to), Invitation { group, score });
        out.set_timer(InvitationTimer::Accepts, wait);
        (merge, Next::Stay)
    }

    pub(super) fn on_accept(
        &mut self,
        core: &Core,
        now: Time,
        from: &AgentId,
        out: &mut Out,
    ) -> Next {
        let is_new = self.up.insert(from.clone());
        // This agent did not invite the sender, so another coordinator has brought it.
        if self.pending.remove(from).is_none() && is_new {
            self.brought = self.brought.saturating_sub(1);
        }
        self.close_early(core, now, out)
    }

    /// Handles a `Decline`. A coordinator that declines does not bring its members along.
    pub(super) fn on_decline(
        &mut self,
        core: &Core,
        now: Time,
        from: &AgentId,
        out: &mut Out,
    ) -> Next {
        let is_new = self.declined.insert(from.clone());
        if let Some(members) = self.pending.remove(from) {
            self.brought = self.brought.saturating_sub(members);
        } else if is_new && !self.up.contains(from) {
            // The sender's coordinator accepted and passed the invitation on, but the sender declines.
            self.brought = self.brought.saturating_sub(1);
        }
        self.close_early(core, now, out)
    }

    fn close_early(&mut self, core: &Core, now: Time, out: &mut Out) -> Next {
        if self.pending.is_empty() && self.brought == 0 {
            return Next::Close;
        }
        self.hurry(core, now, out);
        Next::Stay
    }

    /// Shortens the wait if all agents that have not answered are known to be down.
    pub(super) fn hurry(&mut self, core: &Core, now: Time, out: &mut Out) {
        let is_awaited = self.pending.keys().any(|id| core.may_be_there(id));
        let due = now.after(core.config.gathering());
        if self.brought == 0 && !is_awaited && due < self.due {
            self.due = due;
            out.set_timer(InvitationTimer::Accepts, due.since(now));
        }
    }

    /// Forms the group when the time for answers (the paper's T) has passed.
    pub(super) fn on_accepts_due(&self, now: Time, out: &mut Out) -> Next {
        if now < self.due {
            out.set_timer(InvitationTimer::Accepts, self.due.since(now));
            return Next::Stay;
        }
        Next::Close
    }
}
