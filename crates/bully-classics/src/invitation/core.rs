//! The data and decisions that every role of an invitation election needs. This file does not call the code of a role.
//!
//! Decided here: whether this agent can be elected now, when it forms a new group (rule `form-by-rank`), and which
//! number a new group gets.

use std::sync::Arc;

use super::{
    AgentId, CountRecord, ElectionId, InvitationConfig, Next, Out, Score, message::Decline,
    timer::InvitationTimer,
};
use crate::numbered::Numbers;
use bully_core::{
    parts::{Cooldown, Participant, slot},
    protocol::{After, Identity, LostReason, Member, Presence, Term, Time},
};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Core {
    pub me: Participant,
    pub config: Arc<InvitationConfig>,
    pub numbers: Numbers,
    /// After a step-down: the time until which this agent lets other agents lead first.
    pub cooldown: Cooldown,
}

impl Core {
    pub(super) fn new(
        identity: Identity,
        config: Arc<InvitationConfig>,
        durable: Option<CountRecord>,
    ) -> Self {
        Self {
            me: Participant::new(identity),
            config,
            numbers: Numbers::new(durable),
            cooldown: Cooldown::default(),
        }
    }

    /// Returns the score with which this agent can be elected now; `None` also if it lets other agents lead first.
    pub(super) fn candidate_score(&self, now: Time) -> Option<Score> {
        let eligible = self.me.eligible();
        eligible.filter(|_| !self.defers(now, None))
    }

    /// Returns whether this agent lets other agents lead first: it cools down, and another agent can lead. The agent
    /// `gone` is not counted, because it is known not to be up.
    fn defers(&self, now: Time, gone: Option<&AgentId>) -> bool {
        let is_rival = |m: &Member| m.id != self.me.id && Some(&m.id) != gone;
        self.cooldown.is_active(now) && self.me.members.eligible().any(is_rival)
    }

    /// Returns whether this agent can be elected now and ranks above the agent `id`.
    pub(super) fn outranks(&self, now: Time, score: Score, id: &AgentId) -> bool {
        self.me.outranks(score, id) && !self.defers(now, None)
    }

    /// Forms a new group in order of rank (rule `form-by-rank`): the agents that rank above this agent get time to
    /// invite it first. If all agents formed groups at once, each would lead a group of its own. `gone` is an agent
    /// that is known to be gone, although the snapshot may show it as up.
    pub(super) fn form_by_rank(
        &mut self,
        now: Time,
        reason: LostReason,
        gone: Option<&AgentId>,
        out: &mut Out,
    ) -> Next {
        let Some(ahead) = self.me.ahead(gone, slot::LAST) else {
            return Next::Ignore("it cannot be elected");
        };
        let defers = self.defers(now, gone);
        // The cool-down ends because only `gone` is left to lead. The snapshot may still show `gone` as up; then this
        // agent would still defer to it, and `new_group` would fail.
        if !defers {
            self.end_cooldown(out);
        }
        let own = slot::behind(ahead, defers);
        if own == 0 {
            return Next::Form(reason);
        }
        let t = &self.config.timings;
        let head_start = if defers {
            self.config.takeover()
        } else {
            self.config.head_start()
        };
        let wait = slot::delay(t.step(), own).saturating_add(head_start);
        Next::Wait(After::jittered(wait, t.jitter()))
    }

    pub(super) fn end_cooldown(&mut self, out: &mut Out) -> bool {
        self.cooldown.end(InvitationTimer::Cooldown, out)
    }

    /// Returns the id of a new group and this agent's score. The id is durable before any other agent learns of it.
    ///
    /// # Errors
    /// The reason why this agent forms no group.
    pub(super) fn new_group(
        &mut self,
        now: Time,
        out: &mut Out,
    ) -> Result<(ElectionId, Score), &'static str> {
        let score = self
            .candidate_score(now)
            .ok_or("it cannot be elected now")?;
        let next = self.numbers.next();
        let count = next.ok_or("the counts have come to their end")?;
        self.remember(count, out);
        let id = self.me.id.clone();
        let group = ElectionId { count, id };
        self.numbers.promised = Some(group.clone());
        Ok((group, score))
    }

    pub(super) fn remember(&mut self, count: Term, out: &mut Out) {
        self.numbers.remember(count, out);
    }

    /// Returns whether the agent `id` is a member and is not known to be down.
    pub(super) fn may_be_there(&self, id: &AgentId) -> bool {
        let member = self.me.members.get(id);
        member.is_some_and(|m| m.presence != Presence::Down)
    }

    pub(super) fn observers(&self) -> impl Iterator<Item = &AgentId> {
        let members = self.me.members.iter();
        let observers = members.filter(|m| !m.is_voter() && m.id != self.me.id);
        observers.map(|m| &m.id)
    }

    /// Declines an invitation. The answer contains the count that the inviter's next group must exceed.
    pub(super) fn decline(&self, now: Time, to: &AgentId, group: &ElectionId, out: &mut Out) {
        let decline = Decline {
            group: group.clone(),
            seen: self.numbers.seen,
            score: self.candidate_score(now),
        };
        out.send(to, decline);
    }
}
