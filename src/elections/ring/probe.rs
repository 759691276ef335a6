//! Those who are passed over are asked whether they are there (N10); so partitions merge.
//!
//! Nothing else is sent to a suspect, and to who is certainly down not even that.

use std::sync::Arc;

use super::{
    AgentId, Answer, Defect, Out, Probe, Ring, Term, Timer,
    message::Following,
    state::{Contest, Seat, Why},
};
use crate::protocol::{Member, Presence, Time, To};

impl Ring {
    pub(super) fn on_probe_due(&mut self, now: Time, out: &mut Out) {
        if let Some(rest) = self.probe.filter(|due| now < *due) {
            return out.set_timer(Timer::Probe, rest.since(now));
        }
        self.probe = None;
        let asked: Arc<[AgentId]> = self
            .me
            .members
            .iter()
            .filter(|m| self.is_passed_over(m))
            .map(|m| m.id.clone())
            .collect();
        if asked.is_empty() || self.config.has(Defect::NeverProbes) {
            return self.ignore("nobody is passed over");
        }
        let known = self.closed;
        out.send_to(To::Set(asked), Probe { known });
        self.set_probe(now, out);
    }

    /// Somebody may be passed over from now on.
    pub(super) fn watch_for_return(&mut self, now: Time, out: &mut Out) {
        if self.probe.is_none() && self.me.members.iter().any(|m| self.is_passed_over(m)) {
            self.set_probe(now, out);
        }
    }

    fn set_probe(&mut self, now: Time, out: &mut Out) {
        let span = self.config.probe();
        self.probe = Some(now.after(span));
        out.set_timer(Timer::Probe, span);
    }

    /// Somebody is passed over whose life may go on. An observer passes nothing on, and nobody would
    /// answer it.
    pub(super) fn is_passed_over(&self, m: &Member) -> bool {
        let doubtful = m.presence == Presence::Suspect || self.suspects.contains_key(&m.id);
        self.me.is_voter()
            && m.is_voter()
            && m.id != self.me.id
            && m.presence != Presence::Down
            && doubtful
    }

    pub(super) fn on_probe(&mut self, now: Time, from: &AgentId, probe: &Probe, out: &mut Out) {
        let answer = Answer {
            known: self.closed,
            leader: self.current().map(Following::from),
        };
        out.send(from, answer);
        self.compare(now, probe.known, out);
    }

    /// N10: whoever follows another leader was on the other side of something.
    pub(super) fn on_answer(&mut self, now: Time, answer: &Answer, out: &mut Out) {
        self.seen = self.seen.max(answer.known);
        let theirs = answer.leader.as_ref().map(|l| (&l.id, l.incarnation));
        let mine = self.current();
        let mine = mine.as_ref().map(|l| (&l.id, l.incarnation));
        if theirs.is_some() && mine.is_some() && theirs != mine {
            return self.merge(now, out);
        }
        self.compare(now, answer.known, out);
    }

    /// An election for both sides. Not at once: the others who were passed over answer, too, and
    /// whoever is still suspected then takes no part.
    fn merge(&mut self, now: Time, out: &mut Out) {
        if self.contest.is_none() && self.turn.is_none() {
            let answers = self.config.timings().delay_bound().saturating_mul(2);
            self.set_turn(now, answers, Why::Merge, out);
        }
    }

    /// A member knows a leader of a higher term than this agent does: what announced it has missed
    /// this agent. Who leads or follows asks everybody; who does neither is told soon, or takes its
    /// turn.
    pub(super) fn compare(&mut self, now: Time, known: Term, out: &mut Out) {
        self.seen = self.seen.max(known);
        if known <= self.closed {
            return;
        }
        match &self.seat {
            Seat::Mine(_) | Seat::Taken(_) => self.merge(now, out),
            Seat::Vacant => {
                let in_vain = |c: &Contest| c.id.origin == self.me.id && c.id.term <= known;
                if self.contest.as_ref().is_some_and(in_vain) {
                    self.end_contest(out);
                }
                self.await_leader(now, out);
            }
        }
    }

    /// There is a leader, as it seems: its heartbeat comes, or this agent's turn.
    pub(super) fn await_leader(&mut self, now: Time, out: &mut Out) {
        if self.contest.is_none() && self.may_stand() && self.turn.is_none() {
            let lost = self.config.lost(self.size());
            self.set_turn(now, lost, Why::Rank, out);
        }
    }
}
