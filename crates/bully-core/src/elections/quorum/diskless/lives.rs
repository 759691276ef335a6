//! Several incarnations of one agent's name, without a disk.
//!
//! Decided here: the time until which a vote counts, and the incarnation to which a promise binds a voter.
//!
//! Not here: the rule of every voter that an answer counts only for the incarnation that asked
//! ([`answer`](crate::elections::quorum::answer)).

use crate::elections::quorum::{
    QuorumConfig,
    core::Core,
    voter::{Promise, Voter},
};
use crate::protocol::{AgentId, Incarnation, Time};

impl Core {
    /// Returns the time until which votes count for a claim that is made now. Returns `None` with a disk, because votes
    /// on disks count for ever (rule `votes-expire`).
    pub(in crate::elections::quorum) fn claim_ends(&self, now: Time) -> Option<Time> {
        let round = self.config.timings.round();
        self.config.diskless().map(|_| now.after(round))
    }

    /// Returns whether a vote counts. `is_in_time` is `true` if the vote came within one round E after the claim. With
    /// a disk every vote counts (rule `votes-expire`).
    pub(in crate::elections::quorum) fn counts(&self, is_in_time: bool) -> bool {
        self.config.diskless().is_none() || is_in_time
    }
}

impl Voter {
    /// Returns whether, without disks, a promise to another agent or incarnation still binds this voter. A higher
    /// announced term does not end the promise: it may be the term of a forgotten election (rule `bound-to-one-life`).
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
