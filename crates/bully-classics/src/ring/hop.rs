//! `skip-the-silent`: passes a message from one member to the next, and skips the members that do not acknowledge.
//!
//! The ring consists of the voters in the order of their names. A member that is known to be down is not in the ring,
//! and a suspected member is skipped. Probes show whether it is up again. The *next member* is the next one of the
//! ring; the *successor* of other files is the next leader. In each lap at most one message waits for an
//! acknowledgement: a newer message replaces an older one, and takes over its waiting time.

use super::{
    AgentId, Out,
    core::Core,
    message::{HopAck, Lap, RingMessage},
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
    /// Number of further copies for this member.
    left: u32,
    grace: Grace,
}

impl Core {
    /// Passes a message on. If no other member is left, returns the message, as if it had gone round.
    #[must_use]
    pub(super) fn pass(
        &mut self,
        now: Time,
        message: RingMessage,
        out: &mut Out,
    ) -> Option<RingMessage> {
        let me = self.me.id.clone();
        self.pass_behind(now, &me, message, out)
    }

    fn pass_behind(
        &mut self,
        now: Time,
        last: &AgentId,
        message: RingMessage,
        out: &mut Out,
    ) -> Option<RingMessage> {
        let lap = message.lap()?;
        let Some(to) = self.next_behind(last).map(|m| m.id.clone()) else {
            self.forget_hop(lap, out);
            return Some(message);
        };
        out.send(&to, message.clone());
        // A newer message does not give a silent member more time. Otherwise heartbeats would keep a dead member in
        // the ring.
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

    /// Returns the next member after `last`, up to this agent; `None` if no member is between them.
    fn next_behind(&self, last: &AgentId) -> Option<&Member> {
        let before = |m: &&Member| m.id <= *last;
        let mine = |m: &&Member| m.id == self.me.id;
        let start = match self.me.members.index_of(last) {
            Some(at) => at.saturating_add(1),
            // The member `last` has left meanwhile, but its name still shows where the lap continues.
            None => self.me.members.iter().take_while(before).count(),
        };
        let n = self.me.members.len();
        (start..n)
            .chain(0..start.min(n))
            .filter_map(|at| self.me.members.at(at))
            .take_while(|m| !mine(m))
            .find(|m| self.is_in_ring(m))
    }

    /// Returns whether no other member would get a message.
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
        // An acknowledgement of an older message has changed the due time, but not the timer.
        if now < hop.due {
            out.set_timer(RingTimer::Hop(lap), hop.due.since(now));
            return false;
        }
        if now.since(hop.due) > late && hop.grace == Grace::Unused {
            // This agent itself was stalled. The acknowledgement may be in its mailbox, behind this time-out.
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

    /// Returns the laps whose next member is no longer in the ring. Their messages go to another member.
    pub(super) fn stuck_laps(&self) -> Vec<Lap> {
        let members = &self.me.members;
        let is_stuck = |hop: &Hop| !members.get(&hop.to).is_some_and(|m| self.is_in_ring(m));
        let stuck = self.hops.iter().filter(|(_, hop)| is_stuck(hop));
        stuck.map(|(lap, _)| *lap).collect()
    }

    /// Passes the message of this lap to the member after the present one. If no other member is left, returns the
    /// message.
    #[must_use]
    pub(super) fn skip(&mut self, now: Time, lap: Lap, out: &mut Out) -> Option<RingMessage> {
        let Hop { to, message, .. } = self.hops.get(&lap)?.clone();
        self.forget_hop(lap, out);
        self.pass_behind(now, &to, message, out)
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
        // A member that was skipped may answer late. Its answer does not count for the present member.
        let Some(hop) = self.hops.get_mut(&ack.lap).filter(|hop| hop.to == *from) else {
            return;
        };
        // A late answer to an older message must not end the wait, because the newer message may be lost.
        if hop.message.acknowledgement(ack.known).as_ref() == Some(ack) {
            return self.forget_hop(ack.lap, out);
        }
        // The member is up, but late. The newer message gets its own time.
        hop.due = now.after(resend);
        hop.left = sends.saturating_sub(1);
    }

    pub(super) fn forget_hop(&mut self, lap: Lap, out: &mut Out) {
        if self.hops.remove(&lap).is_some() {
            out.cancel_timer(RingTimer::Hop(lap));
        }
    }
}
