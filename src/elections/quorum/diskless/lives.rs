//! One name, several lives: what was said to one of them, or by it, says nothing of another.
//!
//! With a disk a voter's term tells old messages from new ones. Without one an incarnation is a stranger of
//! a known name, and terms may have been forgotten: so the incarnation is compared.

use super::Defect;
use crate::elections::quorum::{
    Ack, ClaimReply, QuorumConfig,
    core::Core,
    voter::{Promise, Voter},
};
use crate::protocol::{AgentId, Incarnation, Time};

impl QuorumConfig {
    /// Which incarnation is answered, or spoken of; not said by a voter with a disk.
    pub(in crate::elections::quorum) fn life(&self, of: Incarnation) -> Option<Incarnation> {
        self.diskless().map(|_| of)
    }

    /// `answer-this-life`: whether an acknowledgement is meant for this incarnation.
    pub(in crate::elections::quorum) fn is_meant(&self, ack: &Ack, me: Incarnation) -> bool {
        self.diskless().is_none()
            || ack.incarnation == Some(me)
            || self.forgoes(Defect::AcksOfAnyLife)
    }

    /// Which incarnation has to have resigned for a promise to be void; `None` for any, with a disk.
    pub(in crate::elections::quorum) fn resigned_life(
        &self,
        of: Incarnation,
    ) -> Option<Incarnation> {
        self.life(of)
            .filter(|_| !self.forgoes(Defect::ResignationOfAnyLife))
    }
}

impl Core {
    /// `votes-expire`: until when a vote counts for a claim that is made now; for ever, with a disk.
    pub(in crate::elections::quorum) fn claim_ends(&self, now: Time) -> Option<Time> {
        let round = self.config.timings.round();
        self.config.diskless().map(|_| now.after(round))
    }

    /// `answer-this-life`, `votes-expire`: whether a vote counts, which came within E from the claim or not.
    pub(in crate::elections::quorum) fn counts(
        &self,
        reply: &ClaimReply,
        is_in_time: bool,
    ) -> bool {
        let config = &self.config;
        let is_mine = reply.incarnation == Some(self.me.incarnation);
        config.diskless().is_none()
            || (is_mine || config.forgoes(Defect::VotesOfAnyLife))
                && (is_in_time || config.forgoes(Defect::LateVotes))
    }
}

impl Voter {
    /// `bound-to-one-life`: whether a promise to another incarnation than that still binds this voter. A higher term
    /// proves nothing here: it may be one of a forgotten election, announced long ago.
    pub(in crate::elections::quorum) fn is_bound_elsewhere(
        &self,
        config: &QuorumConfig,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
    ) -> bool {
        let is_other = |p: &Promise| p.holder != *from || p.incarnation != incarnation;
        config.diskless().is_some()
            && !config.forgoes(Defect::BoundToNobody)
            && self
                .promise
                .as_ref()
                .is_some_and(|p| now < p.until && is_other(p))
    }
}
