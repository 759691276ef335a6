//! `probe-the-skipped`: a member that is skipped is asked whether it is there; so partitions merge.
//!
//! Every member probes those that it skips, not only the leader: a follower's suspicion hides a member
//! from all others. A member that is known to be down is not even probed.

use std::sync::Arc;

use super::{
    AgentId, Next, Out,
    core::Core,
    message::{Answer, Probe},
    state::{Campaign, CampaignCause, RingTimer},
};
use bully_core::protocol::{Incarnation, Leader, Member, Time, To};

impl Core {
    /// A member was silent: it is skipped from now on.
    pub(super) fn suspect(&mut self, now: Time, id: &AgentId, out: &mut Out) {
        if let Some(member) = self.me.members.get(id).filter(|_| self.me.is_voter()) {
            self.suspects.insert(id.clone(), member.incarnation);
            self.watch_skipped(now, out);
        }
    }

    /// A member was heard, or another one has heard it: it is not skipped any more.
    ///
    /// Called for the sender of each message, whatever it says, and for those that a message proves to
    /// have been there: the entrants of a list, the winner of a nomination, the leader of an announcement. A
    /// late acknowledgement counts like any message: this incarnation sent it, so it was slow and not
    /// dead. If it has died since, the next hop finds it silent again.
    pub(super) fn trust(&mut self, id: &AgentId, incarnation: Incarnation) {
        // A list may name an incarnation that is over, which says nothing of the next one.
        let has_ended = |m: &Member| m.is_stale(incarnation);
        if !self.suspects.is_empty() && !self.me.members.get(id).is_none_or(has_ended) {
            self.suspects.remove(id);
        }
    }

    /// Sets the timer of the probes if members are skipped from now on.
    pub(super) fn watch_skipped(&mut self, now: Time, out: &mut Out) {
        // A probe that is planned stays: each further suspicion would put it off.
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

    /// Two groups have found each other: an election for both of them, if none is planned.
    pub(super) fn merge(&self, campaign: &Campaign) -> Next {
        if *campaign != Campaign::Idle {
            return Next::Stay;
        }
        // Not at the first answer: the others that were probed answer too, and a member that is still
        // suspected would be left out. The leader lost its leadership for a moment that way.
        let answers = self.config.timings.delay_bound().saturating_mul(2);
        Next::Schedule(answers, CampaignCause::Merge)
    }

    /// A leader seems to be there: this agent waits for its heartbeat, and begins an election if none
    /// comes.
    pub(super) fn await_heartbeat(&self, campaign: &Campaign) -> Next {
        if *campaign != Campaign::Idle || !self.may_lead() {
            return Next::Stay;
        }
        Next::Schedule(self.config.silence(self.size()), CampaignCause::HigherRank)
    }
}
