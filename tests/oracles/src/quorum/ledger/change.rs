//! What a change of the voters does to the record of a history, and what a crash in the midst of a step undoes.

use bully_core::{
    elections::quorum::Vote,
    protocol::{AgentId, Term, Time},
};

use super::Ledger;

impl Ledger {
    /// A crash cut the last step short: what the machine wanted to say after this record was never said.
    pub(super) fn was_cut_short(&mut self, me: &AgentId, kept: &Vote) {
        let is_said = |term: Term, candidate: &AgentId| {
            let is_kept = || {
                kept.voted_for
                    .as_ref()
                    .is_some_and(|voted| voted.id == *candidate)
            };
            term < kept.term || term == kept.term && is_kept()
        };
        self.votes
            .retain(|(voter, term), candidate| voter != me || is_said(*term, candidate));
        for ((term, candidate), voters) in &mut self.grants {
            if !is_said(*term, candidate) {
                voters.remove(me);
            }
        }
        self.elected
            .retain(|term, candidate| candidate != me || is_said(*term, me));
        if !self.is_doubtful {
            self.announced
                .retain(|term, (id, _)| id != me || is_said(*term, me));
        }
        if let Some((_, before)) = self.last_token.take_if(|(id, _)| id == me)
            && !is_said(self.token, me)
        {
            self.token = before;
        }
        self.decrees.was_cut_short(me, kept);
    }

    /// What is wrong with a change of the voters, if anything is.
    pub(in crate::quorum) fn holds(&mut self, of_a_change: Result<(), String>) {
        if let Err(what) = of_a_change {
            self.broken.get_or_insert(what);
        }
    }

    /// An agent enters a later epoch: what it promised before binds it no longer.
    pub(in crate::quorum) fn enters(&mut self, now: Time, me: &AgentId) {
        if let Some(voter) = self.voter_mut(me) {
            (voter.promise, voter.quarantine) = (None, now);
        }
    }

    /// `DiskFirst`: who says that it sealed has written so.
    pub(in crate::quorum) fn says_sealed(&mut self, me: &AgentId, term: Term) {
        let record = self.voter(me).and_then(|voter| voter.disk.seal());
        if record.is_none_or(|seal| seal.term != term) {
            self.breaks(
                "DiskFirst",
                &format!("{me} says that it sealed term {term}"),
            );
        }
    }
}
