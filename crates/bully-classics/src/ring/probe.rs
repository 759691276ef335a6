//! An agent asks the members that it skips whether they are up, so that the sides of a former partition join again
//! (rule `probe-the-skipped`).
//!
//! Every member, not only the leader, probes the members that it skips: if a follower skips a member, no message
//! reaches that member, whichever agent began it. A member that is known to be down gets no probes.

use std::sync::Arc;

use super::{
    AgentId, Next, Out,
    core::Core,
    message::{Answer, Probe},
    state::{Campaign, CampaignCause, RingTimer},
};
use bully_core::protocol::{Incarnation, Leader, Member, Time, To};

impl Core {
    /// Skips a silent member from now on.
    pub(super) fn suspect(&mut self, now: Time, id: &AgentId, out: &mut Out) {
        if let Some(member) = self.me.members.get(id).filter(|_| self.me.is_voter()) {
            self.suspects.insert(id.clone(), member.incarnation);
            self.watch_skipped(now, out);
        }
    }

    /// Stops skipping a member, because this agent or another member has heard it.
    ///
    /// Called for the sender of every message, and for the members whose presence a message proves: the entrants of a
    /// list, the winner of a nomination, the leader of an announcement. A late acknowledgement counts as well: its
    /// sender was slow and not dead. If the sender has died since, the next hop to it ends without an acknowledgement.
    pub(super) fn trust(&mut self, id: &AgentId, incarnation: Incarnation) {
        // A message may contain an incarnation that has ended. Such a message proves nothing about the next
        // incarnation.
        let has_ended = |m: &Member| m.is_stale(incarnation);
        if !self.suspects.is_empty() && !self.me.members.get(id).is_none_or(has_ended) {
            self.suspects.remove(id);
        }
    }

    /// Sets the timer of the probes if this agent skips a member and the timer is not set.
    pub(super) fn watch_skipped(&mut self, now: Time, out: &mut Out) {
        // A timer that is set stays. Otherwise each further suspicion would delay the probe.
        if self.probe.is_none() && self.me.members.iter().any(|m| self.is_skipped(m)) {
            self.set_probe(now, out);
        }
    }

    fn set_probe(&mut self, now: Time, out: &mut Out) {
        let span = self.config.probe();
        self.probe = Some(now.after(span));
        out.set_timer(RingTimer::Probe, span);
    }

    pub(super) fn on_probe_due(&mut self, now: Time, out: &mut Out) -> Next {
        if let Some(due) = self.probe.filter(|due| now < *due) {
            out.set_timer(RingTimer::Probe, due.since(now));
            return Next::Stay;
        }
        self.probe = None;
        let members = self.me.members.iter();
        let skipped: Arc<[AgentId]> = members
            .filter(|m| self.is_skipped(m))
            .map(|m| m.id.clone())
            .collect();
        if skipped.is_empty() {
            return Next::Ignore("no member is skipped");
        }
        let known = self.closed;
        out.send_to(To::Set(skipped), Probe { known });
        self.set_probe(now, out);
        Next::Stay
    }

    pub(super) fn answer_probe(&self, to: &AgentId, leader: Option<Leader>, out: &mut Out) {
        let answer = Answer {
            known: self.closed,
            leader,
        };
        out.send(to, answer);
    }

    /// Plans an election for two groups that have found each other, unless an election is already planned.
    pub(super) fn merge(&self, campaign: &Campaign) -> Next {
        if *campaign != Campaign::Idle {
            return Next::Stay;
        }
        // First all probed members get time to answer. A member that is still skipped would be left out of the
        // election; if it is the leader, it would lose its leadership for a moment.
        let answers = self.config.timings.delay_bound().saturating_mul(2);
        Next::Schedule(answers, CampaignCause::Merge)
    }

    /// Waits for the heartbeat of a leader that seems to be up, and begins an election if no heartbeat comes.
    pub(super) fn await_heartbeat(&self, campaign: &Campaign) -> Next {
        if *campaign != Campaign::Idle || !self.may_lead() {
            return Next::Stay;
        }
        Next::Schedule(self.config.silence(self.size()), CampaignCause::HigherRank)
    }
}
