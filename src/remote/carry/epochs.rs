//! The guard against burnt epochs: where members learn of later ones, no peer pushes a group to the last of them.
//!
//! An epoch that was entered can never be left for an earlier one, and 2^24 of them are all that there are. Decided
//! here: which messages of a later epoch than that of the agents here are heard at all. They enter none by being heard:
//! the election asks for what was decreed.
//!
//! | rule | what it decides |
//! |---|---|
//! | `one-word-goes-256-epochs` | a message that is no further ahead of the agents here is heard from any peer whose role allows it |
//! | `a-quorum-vouches` | one that is further is heard up to what as many voters have named as elect a leader |
//!
//! One voter more or less at a time: a host that was away during 256 changes has maybe no voter left that could
//! vouch, so nearer ones need none. A number that is wrong by chance is nearly always further. A voter that lies needs 2^16 lies to use the epochs
//! up, and could do worse by a vote for two.

use std::collections::BTreeMap;

use crate::protocol::AgentId;

/// What voters of the present epoch have said of later ones that are far ahead.
#[derive(Debug, Default)]
pub(super) struct LaterEpochs(BTreeMap<AgentId, u64>);

impl LaterEpochs {
    /// How far ahead of the agents here the epoch of a message may be that one peer alone names.
    pub(super) const MAX_AHEAD: u64 = 1 << 8;

    /// Whether a message of a later epoch is heard, where the agents here are of the epoch `present`. `voter` is its
    /// sender, if it is a voter by their list, and how many of those elect.
    pub(super) fn hear(
        &mut self,
        present: u64,
        epoch: u64,
        voter: Option<(&AgentId, usize)>,
    ) -> bool {
        if epoch.saturating_sub(present) <= Self::MAX_AHEAD {
            return true;
        }
        let Some((voter, quorum)) = voter else {
            return false;
        };
        let word = self.0.entry(voter.clone()).or_default();
        *word = epoch.max(*word);
        let vouching = self.0.values().filter(|word| **word >= epoch).count();
        vouching >= quorum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_epoch_is_heard_and_a_far_one_only_if_a_quorum_of_voters_names_it() {
        let [a, b] = ["a", "b"].map(|name| AgentId::new(name).unwrap());
        let mut epochs = LaterEpochs::default();
        let (near, last) = (3 + LaterEpochs::MAX_AHEAD, (1 << 24) - 1);
        assert!(epochs.hear(3, 4, None) && epochs.hear(3, near, None));
        for epoch in [near + 1, last] {
            assert!(!epochs.hear(3, epoch, None), "no voter names {epoch}");
        }
        for _ in 0..3 {
            assert!(!epochs.hear(3, last, Some((&a, 2))), "one, however often");
        }
        assert!(epochs.hear(3, near + 1, Some((&b, 2))), "as far as both go");
        assert!(!epochs.hear(3, last, Some((&a, 2))));
        assert!(epochs.hear(3, near + 1, Some((&a, 2))));
        assert!(epochs.hear(3, last, Some((&b, 2))));
    }
}
