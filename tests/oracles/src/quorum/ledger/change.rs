//! The effects of a change of the voters on the record of a history, and those of a crash in the middle of a step.

use bully_core::{
    elections::quorum::Vote,
    protocol::{AgentId, Term, Time},
};

use super::Ledger;

impl Ledger {
    /// Takes back the part of the last step that a crash cut off: the machine never sent the messages that follow this
    /// record.
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

    /// Notes the violation of a change of the voters, if there is one.
    pub(in crate::quorum) fn holds(&mut self, of_a_change: Result<(), String>) {
        if let Err(what) = of_a_change {
            self.broken.get_or_insert(what);
        }
    }

    /// Notes that an agent enters a later epoch: its earlier promise no longer binds it.
    pub(in crate::quorum) fn enters(&mut self, now: Time, me: &AgentId) {
        if let Some(voter) = self.voter_mut(me) {
            (voter.promise, voter.quarantine) = (None, now);
        }
    }

    /// Checks `DiskFirst`: an agent that reports a seal has written it.
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
