//! An observer: it is told who leads, and never asked.
//!
//! It keeps no record, so what it follows is monotone within one life only.

use super::{
    Ballot, BallotTimer, Leads, Out,
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
        if self.is_voter() {
            return self.ignore("a voter asks for itself");
        }
        if ballot.id != *from || !self.is_sound(&ballot) || self.is_void(&ballot) {
            return self.ignore("nobody leads by it");
        }
        if Some(&ballot) < self.record.max.as_ref() {
            return self.ignore("a former leader");
        }
        self.record.max = Some(ballot.clone());
        let next = Trust::Other(Followed {
            ballot,
            incarnation,
        });
        self.set_trust(next, LostReason::Superseded, out);
        out.set_timer(BallotTimer::Silence, self.config.cap().saturating_mul(3));
    }

    /// Three rounds at their longest without a word.
    pub(super) fn on_silence(&mut self, out: &mut Out) {
        if self.is_voter() {
            return self.ignore("a voter asks for itself");
        }
        self.trust_nobody(out);
    }

    pub(super) fn trust_nobody(&mut self, out: &mut Out) {
        out.cancel_timer(BallotTimer::Silence);
        self.set_trust(Trust::Nobody, LostReason::Superseded, out);
    }
}
