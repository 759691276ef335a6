//! A follower, which watches its leader, and asks for the leadership if it outranks the leader.

use super::{
    AgentId, Campaign, Next, Out, Score,
    core::Core,
    state::{CampaignCause, Following, Grace, RingTimer},
};
use bully_core::protocol::{Event, Leader, Time};

impl Following {
    /// Follows a leader from now on (`is_new`), or notes that the followed leader was heard again.
    pub(super) fn hear(
        core: &Core,
        now: Time,
        (leader, score): (Leader, Score),
        is_new: bool,
        out: &mut Out,
    ) -> Self {
        if is_new {
            out.notify(Event::NewLeader(leader.clone()));
        }
        let span = core.config.silence(core.size());
        out.set_timer(RingTimer::Silence, core.jittered(span));
        Self {
            leader,
            score,
            due: now.after(span),
            grace: Grace::Unused,
        }
    }

    pub(super) fn end(&self, out: &mut Out) {
        let term = self.leader.term;
        out.notify(Event::NoLeader { term });
        out.cancel_timer(RingTimer::Silence);
    }

    /// Returns whether no heartbeat has come in time (rule `miss-a-silent-leader`).
    pub(super) fn is_silent(&mut self, core: &Core, now: Time, out: &mut Out) -> bool {
        if now < self.due {
            out.set_timer(RingTimer::Silence, core.jittered(self.due.since(now)));
            return false;
        }
        let timings = &core.config.timings;
        // The timer has a jitter, so it may fire this late without a stall of this agent.
        let late = timings.delay_bound().saturating_add(timings.jitter());
        if now.since(self.due) > late && self.grace == Grace::Unused {
            // This agent itself was stalled. Heartbeats may wait in its mailbox, so it waits once more.
            self.grace = Grace::Used;
            let span = core.config.silence(core.size());
            self.due = now.after(span);
            out.set_timer(RingTimer::Silence, core.jittered(span));
            return false;
        }
        true
    }

    pub(super) fn is_outranked_by(&self, core: &Core) -> bool {
        core.me.outranks(self.score, &self.leader.id)
    }

    /// Plans an election if this agent outranks its leader (rule `challenge-when-higher`).
    pub(super) fn challenge(&self, core: &Core, campaign: &Campaign, now: Time) -> Next {
        if !core.competes(now) || !self.is_outranked_by(core) {
            return Next::Stay;
        }
        if matches!(campaign, Campaign::Scheduled { .. }) {
            return Next::Stay; // that time began with the first heartbeat that showed a lower rank
        }
        let after = core.config.challenge_after;
        if after.is_zero() {
            return core.begin_by_rank(now, Some(&self.leader.id));
        }
        Next::Schedule(after, CampaignCause::HigherRank)
    }

    /// Returns whether the agent `id` is the followed leader, perhaps in another incarnation or another term.
    pub(super) fn is_under(&self, id: &AgentId) -> bool {
        self.leader.id == *id
    }
}
