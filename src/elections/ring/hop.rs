//! From one member to the next (N2): who is next, who is passed over, and what an acknowledgement
//! says.
//!
//! The ring is the voters in the order of their names. Who is certainly down is not in it; who is
//! suspected is passed over, and heard of again by probes. Of each lap at most one message waits
//! for an acknowledgement: a newer one takes the place of an older one, and of its waiting time.

use super::{
    AgentId, Collect, Coordinator, Defect, HopAck, Lap, Nominate, Out, Ring, RingMessage, Term,
    Timer,
    state::{Hop, Patience},
};
use crate::protocol::{Incarnation, Member, Presence, Time};

/// Whether somebody else is there to take a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Passed,
    /// Nobody is left: as if it had come back.
    Home,
}

impl Ring {
    /// N2.
    pub(super) fn pass(&mut self, now: Time, message: RingMessage, out: &mut Out) -> Way {
        let me = self.me.id.clone();
        self.pass_behind(now, &me, message, out)
    }

    fn pass_behind(
        &mut self,
        now: Time,
        last: &AgentId,
        message: RingMessage,
        out: &mut Out,
    ) -> Way {
        let Some(lap) = lap_of(&message) else {
            return Way::Passed; // nothing else is passed on
        };
        let Some(to) = self.next_behind(last).map(|m| m.id.clone()) else {
            self.forget_hop(lap, out);
            return Way::Home;
        };
        out.send(&to, message.clone());
        // A newer message buys a silent member no time.
        let (due, left) = match self.hops.get(&lap).filter(|hop| hop.to == to) {
            Some(hop) => (hop.due, hop.left),
            None => (
                now.after(self.config.resend()),
                self.config.sends().saturating_sub(1),
            ),
        };
        let hop = Hop {
            to,
            message,
            due,
            left,
            patience: Patience::Fresh,
        };
        out.set_timer(Timer::Hop(lap), due.since(now));
        self.hops.insert(lap, hop);
        Way::Passed
    }

    /// The next member behind that one, round to this agent; `None` if nobody is left before it.
    fn next_behind(&self, last: &AgentId) -> Option<&Member> {
        let before = |m: &&Member| m.id <= *last;
        let mine = |m: &&Member| m.id == self.me.id;
        let start = match self.me.members.index_of(last) {
            Some(at) => at.saturating_add(1),
            None => self.me.members.iter().take_while(before).count(),
        };
        let n = self.me.members.len();
        (start..n)
            .chain(0..start.min(n))
            .filter_map(|at| self.me.members.at(at))
            .take_while(|m| !mine(m))
            .find(|m| self.is_in_ring(m))
    }

    /// Whether somebody else would be given a message.
    pub(super) fn is_alone(&self) -> bool {
        self.next_behind(&self.me.id).is_none()
    }

    fn is_in_ring(&self, member: &Member) -> bool {
        let writes = self.config.has(Defect::WritesToTheDead);
        member.is_voter()
            && (writes || matches!(member.presence, Presence::Up | Presence::Unseen))
            && !self.suspects.contains_key(&member.id)
    }

    /// A copy more, or the next member.
    pub(super) fn on_hop_due(&mut self, now: Time, lap: Lap, out: &mut Out) {
        let late = self.config.timings().delay_bound();
        let resend = self.config.resend();
        let Some(hop) = self.hops.get_mut(&lap) else {
            return self.ignore("everything is acknowledged");
        };
        if now < hop.due {
            return out.set_timer(Timer::Hop(lap), hop.due.since(now));
        }
        if now.since(hop.due) > late && hop.patience == Patience::Fresh {
            // This agent slept: the acknowledgement may lie behind this time-out.
            hop.patience = Patience::Spent;
            hop.left = hop.left.max(1);
        }
        if hop.left > 0 {
            hop.left -= 1;
            hop.due = now.after(resend);
            out.send(&hop.to, hop.message.clone());
            return out.set_timer(Timer::Hop(lap), resend);
        }
        let to = hop.to.clone();
        self.suspect(now, &to, out);
        self.pass_over_absent(now, out);
    }

    /// Whoever is not in the ring any more waits for nothing: the next member does.
    pub(super) fn pass_over_absent(&mut self, now: Time, out: &mut Out) {
        if self.config.has(Defect::WaitsForTheDead) {
            return;
        }
        let there = |id: &AgentId| self.me.members.get(id).is_some_and(|m| self.is_in_ring(m));
        let absent = self.hops.iter().filter(|(_, hop)| !there(&hop.to));
        let laps: Vec<Lap> = absent.map(|(lap, _)| *lap).collect();
        for lap in laps {
            self.pass_over(now, lap, out);
        }
    }

    fn pass_over(&mut self, now: Time, lap: Lap, out: &mut Out) {
        let Some(hop) = self.hops.get(&lap).cloned() else {
            return;
        };
        self.forget_hop(lap, out);
        let message = hop.message.clone();
        if self.pass_behind(now, &hop.to, hop.message, out) == Way::Home {
            self.came_home(now, message, out);
        }
    }

    /// What a message means that finds nobody left to go to.
    fn came_home(&mut self, now: Time, message: RingMessage, out: &mut Out) {
        match message {
            RingMessage::Collect(Collect { election, entrants }) => {
                self.close(now, election, entrants.as_slice(), out);
            }
            RingMessage::Nominate(Nominate { election, .. }) => {
                self.winner_is_gone(now, &election, out);
            }
            RingMessage::Coordinator(Coordinator { leader, term, .. }) => {
                if leader == self.me.id {
                    self.is_home(now, term, out);
                }
            }
            RingMessage::HopAck(_) | RingMessage::Probe(_) | RingMessage::Answer(_) => {}
        }
    }

    pub(super) fn acknowledge(
        &self,
        to: &AgentId,
        (lap, term, about, beat): (Lap, Term, &AgentId, u64),
        out: &mut Out,
    ) {
        let ack = HopAck {
            lap,
            term,
            about: about.clone(),
            beat,
            known: self.closed,
        };
        out.send(to, ack);
    }

    pub(super) fn on_hop_ack(&mut self, now: Time, from: &AgentId, ack: &HopAck, out: &mut Out) {
        let resend = self.config.resend();
        let sends = self.config.sends();
        let named = (ack.lap, ack.term, &ack.about, ack.beat);
        let mut done = false;
        if let Some(hop) = self.hops.get_mut(&ack.lap).filter(|hop| hop.to == *from) {
            done = hop.key() == Some(named);
            if !done {
                // It is there, if late: what was sent since has its own time.
                hop.due = now.after(resend);
                hop.left = sends.saturating_sub(1);
            }
        }
        if done {
            self.forget_hop(ack.lap, out);
        }
        self.compare(now, ack.known, out);
    }

    pub(super) fn forget_hop(&mut self, lap: Lap, out: &mut Out) {
        if self.hops.remove(&lap).is_some() {
            out.cancel_timer(Timer::Hop(lap));
        }
    }

    // ---- suspicion --------------------------------------------------------------------------

    pub(super) fn suspect(&mut self, now: Time, id: &AgentId, out: &mut Out) {
        if let Some(member) = self.me.members.get(id).filter(|_| self.me.is_voter()) {
            self.suspects.insert(id.clone(), member.incarnation);
            self.watch_for_return(now, out);
        }
    }

    /// It was heard, or somebody heard it.
    pub(super) fn is_there(&mut self, id: &AgentId, incarnation: Incarnation) {
        let ended = |m: &Member| m.is_stale(incarnation);
        if !self.suspects.is_empty() && !self.me.members.get(id).is_none_or(ended) {
            self.suspects.remove(id);
        }
    }
}

const fn lap_of(message: &RingMessage) -> Option<Lap> {
    match message {
        RingMessage::Collect(_) => Some(Lap::Collect),
        RingMessage::Nominate(_) => Some(Lap::Nominate),
        RingMessage::Coordinator(_) => Some(Lap::Coordinator),
        RingMessage::HopAck(_) | RingMessage::Probe(_) | RingMessage::Answer(_) => None,
    }
}
