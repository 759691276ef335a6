//! An observer: it is told who leads, and never asked.
//!
//! It keeps no record, so what it follows is monotone within one life only. It may remember a ballot
//! that no voter does: all who answered for it crashed before they stored it, and its holder left.
//! Nobody would ever ask for that memory, so it is told to whoever leads by less.

use super::{
    Ballot, BallotTimer, Leads, Nack, Out,
    state::{Followed, Trust},
};
use crate::protocol::{AgentId, Incarnation, LostReason};

impl Ballot {
    pub(super) fn on_leads(
        &mut self,
        from: &AgentId,
        incarnation: Incarnation,
        leads: Leads,
        out: &mut Out,
    ) {
        let ballot = leads.ballot;
        if self.me.is_voter() {
            return self.ignore("a voter asks for itself");
        }
        if ballot.id != *from || !self.is_sound(&ballot) {
            return self.ignore("not its own ballot");
        }
        if let Some(max) = self.record.max.clone().filter(|max| ballot < *max) {
            return out.send(from, Nack { max });
        }
        if self.is_void(&ballot) {
            return self.ignore("nobody leads by it any more");
        }
        self.record.max = Some(ballot.clone());
        let next = Trust::Other(Followed {
            ballot,
            incarnation,
        });
        self.set_trust(next, LostReason::Superseded, out);
        out.set_timer(BallotTimer::Silence, self.config.cap().saturating_mul(3));
    }

    /// L4, of an observer: the next check finds its own ballot below bmax, and takes another one.
    pub(super) fn on_nack(&mut self, from: &AgentId, nack: Nack, out: &mut Out) {
        if !self.me.is_voter() {
            return self.ignore("an observer does not lead");
        }
        if !self.observers.contains(from) {
            return self.ignore("not from an observer; voters say it in their requests");
        }
        self.raise(nack.max, out);
    }

    /// Three rounds at their longest without a word.
    pub(super) fn on_silence(&mut self, out: &mut Out) {
        if self.me.is_voter() {
            return self.ignore("a voter asks for itself");
        }
        self.trust_nobody(out);
    }

    pub(super) fn trust_nobody(&mut self, out: &mut Out) {
        out.cancel_timer(BallotTimer::Silence);
        self.set_trust(Trust::Nobody, LostReason::Superseded, out);
    }
}
