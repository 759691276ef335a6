//! One name, several lives, and no disk: until when a vote counts, and to which life a voter is bound.
//!
//! That an answer counts for the incarnation alone that asked is a rule of every voter
//! ([`answer`](crate::elections::quorum::answer)).

use crate::elections::quorum::{
    QuorumConfig,
    core::Core,
    voter::{Promise, Voter},
};
use crate::protocol::{AgentId, Incarnation, Time};

impl Core {
    /// `votes-expire`: until when a vote counts for a claim that is made now; for ever, with a disk.
    pub(in crate::elections::quorum) fn claim_ends(&self, now: Time) -> Option<Time> {
        let round = self.config.timings.round();
        self.config.diskless().map(|_| now.after(round))
    }

    /// `votes-expire`: whether a vote counts, which came within E from the claim or not.
    pub(in crate::elections::quorum) fn counts(&self, is_in_time: bool) -> bool {
        self.config.diskless().is_none() || is_in_time
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
            && self
                .promise
                .as_ref()
                .is_some_and(|p| now < p.until && is_other(p))
    }
}
