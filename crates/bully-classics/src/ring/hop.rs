//! Passes a message to the next member, and skips the members that do not acknowledge (rule `skip-the-silent`).
//!
//! The ring consists of the voters in the order of their names. A member that is known to be down is not in the ring,
//! and a suspected member is skipped. Probes show whether a skipped member is up again. The *next member* is the next
//! member in the ring; in other files the *successor* is the next leader. In each lap at most one message waits for an
//! acknowledgement: a newer message replaces an older message, and takes over its waiting time.

use super::{
    AgentId, Out,
    core::Core,
    message::{HopAck, Lap, LapMessage, RingMessage},
    state::{Grace, RingTimer},
};
use bully_core::protocol::{Member, Time};

/// A message that was passed on and is not acknowledged yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Hop {
    pub to: AgentId,
    pub message: RingMessage,
    /// Time at which the agent sends the next copy, or tries the next member.
    pub due: Time,
    /// Number of copies that may still be sent to this member.
    left: u32,
    grace: Grace,
}

impl Core {
    /// Passes a message on to the next member. Without a next member, returns the message, as if it had gone round the
    /// ring.
    #[must_use]
    pub(super) fn pass(
        &mut self,
        now: Time,
        message: LapMessage,
        out: &mut Out,
    ) -> Option<LapMessage> {
        let me = self.me.id.clone();
        self.pass_behind(now, &me, message, out)
    }

    fn pass_behind(
        &mut self,
        now: Time,
        last: &AgentId,
        message: LapMessage,
        out: &mut Out,
    ) -> Option<LapMessage> {
        let lap = message.lap();
        let Some(to) = self.next_behind(last).map(|m| m.id.clone()) else {
            self.forget_hop(lap, out);
            return Some(message);
        };
        let message = RingMessage::from(message);
        out.send(&to, message.clone());
        // If a message already waits for this member, the newer message gets only the rest of its time. Otherwise new
        // heartbeats would keep a dead member in the ring.
        let (due, left) = match self.hops.get(&lap).filter(|hop| hop.to == to) {
            Some(hop) => (hop.due, hop.left),
            None => (
                now.after(self.config.resend()),
                self.config.sends.saturating_sub(1),
            ),
        };
        let hop = Hop {
            to,
            message,
            due,
            left,
            grace: Grace::Unused,
        };
        out.set_timer(RingTimer::Hop(lap), due.since(now));
        self.hops.insert(lap, hop);
        None
    }

    /// Returns the next member of the ring after `last`; `None` if this agent comes before any other member.
    fn next_behind(&self, last: &AgentId) -> Option<&Member> {
        let before = |m: &&Member| m.id <= *last;
        let mine = |m: &&Member| m.id == self.me.id;
        let start = match self.me.members.index_of(last) {
            Some(at) => at.saturating_add(1),
            // The member `last` has left the group meanwhile, but its name still shows where the ring continues.
            None => self.me.members.iter().take_while(before).count(),
        };
        let n = self.me.members.len();
        (start..n)
            .chain(0..start.min(n))
            .filter_map(|at| self.me.members.at(at))
            .take_while(|m| !mine(m))
            .find(|m| self.is_in_ring(m))
    }

    /// Returns whether the ring has no other member to which this agent could pass a message.
    pub(super) fn is_alone(&self) -> bool {
        self.next_behind(&self.me.id).is_none()
    }

    /// Handles the timer of a lap: sends another copy, or stops waiting for the member. Returns whether it stopped
    /// waiting.
    pub(super) fn on_hop_due(&mut self, now: Time, lap: Lap, out: &mut Out) -> bool {
        let late = self.config.timings.delay_bound();
        let resend = self.config.resend();
        let Some(hop) = self.hops.get_mut(&lap) else {
            return false;
        };
        // The acknowledgement of an older message may have moved the due time without a new timer.
        if now < hop.due {
            out.set_timer(RingTimer::Hop(lap), hop.due.since(now));
            return false;
        }
        if now.since(hop.due) > late && hop.grace == Grace::Unused {
            // This agent itself was stalled. The acknowledgement may wait in its mailbox: one more copy is sent.
            hop.grace = Grace::Used;
            hop.left = hop.left.max(1);
        }
        if hop.left > 0 {
            hop.left -= 1;
            hop.due = now.after(resend);
            out.send(&hop.to, hop.message.clone());
            out.set_timer(RingTimer::Hop(lap), resend);
            return false;
        }
        let to = hop.to.clone();
        self.suspect(now, &to, out);
        true
    }

    /// Returns the laps whose message waits for a member that is no longer in the ring.
    pub(super) fn stuck_laps(&self) -> Vec<Lap> {
        let members = &self.me.members;
        let is_stuck = |hop: &Hop| !members.get(&hop.to).is_some_and(|m| self.is_in_ring(m));
        let stuck = self.hops.iter().filter(|(_, hop)| is_stuck(hop));
        stuck.map(|(lap, _)| *lap).collect()
    }

    /// Passes the message of this lap to the member after the silent member. If no other member is left, returns the
    /// message.
    #[must_use]
    pub(super) fn skip(&mut self, now: Time, lap: Lap, out: &mut Out) -> Option<LapMessage> {
        let Hop { to, message, .. } = self.hops.get(&lap)?.clone();
        self.forget_hop(lap, out);
        self.pass_behind(now, &to, message.try_into().ok()?, out)
    }

    /// Acknowledges a message, so that the sender does not look for another member.
    pub(super) fn acknowledge(&self, to: &AgentId, message: &RingMessage, out: &mut Out) {
        // The acknowledgement contains the newest term, so a sender that has missed a leader learns of it.
        if let Some(ack) = message.acknowledgement(self.closed) {
            out.send(to, ack);
        }
    }

    pub(super) fn on_hop_ack(&mut self, now: Time, from: &AgentId, ack: &HopAck, out: &mut Out) {
        let resend = self.config.resend();
        let sends = self.config.sends;
        // A member that was skipped may acknowledge late. Its acknowledgement does not count for the member that has
        // the message now.
        let Some(hop) = self.hops.get_mut(&ack.lap).filter(|hop| hop.to == *from) else {
            return;
        };
        // Only an acknowledgement of this message ends the wait. An acknowledgement of an older message does not end
        // the wait, because this message may still be lost.
        if hop.message.acknowledgement(ack.known).as_ref() == Some(ack) {
            return self.forget_hop(ack.lap, out);
        }
        // The member is up and acknowledged an older message late, so the newer message now gets the whole time.
        hop.due = now.after(resend);
        hop.left = sends.saturating_sub(1);
    }

    pub(super) fn forget_hop(&mut self, lap: Lap, out: &mut Out) {
        if self.hops.remove(&lap).is_some() {
            out.cancel_timer(RingTimer::Hop(lap));
        }
    }
}
