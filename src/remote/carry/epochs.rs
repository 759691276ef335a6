//! The guard against exhausted epochs: in elections whose members learn of later epochs, no peer can push a group to
//! the last epoch.
//!
//! A group can never return from an epoch that it has entered, and there are only 2^24 epochs. Decided here: which
//! messages are accepted if their epoch is later than the epoch of the agents of this process. An accepted message does
//! not bring the group into the later epoch: the election first asks for the decree.
//! | rule | what it decides |
//! |---|---|
//! | `one-word-goes-256-epochs` | a message that is at most 256 epochs ahead of the agents here is accepted from any peer whose role allows it |
//! | `a-quorum-vouches` | a message that is further ahead is accepted up to the epoch that enough voters to elect a leader have named |
//!
//! Each epoch changes one voter. A host that was away during many changes may know no present voter that could vouch,
//! so the next 256 epochs need no quorum that vouches. A number that is wrong by chance is nearly always further ahead.
//! A voter that lies needs 2^16 lies to exhaust the epochs, and could do more harm by voting for two leaders.

use std::collections::BTreeMap;

use crate::protocol::AgentId;

/// The epochs more than [`MAX_AHEAD`](Self::MAX_AHEAD) ahead in the messages of voters of the present epoch.
#[derive(Debug, Default)]
pub(super) struct LaterEpochs(BTreeMap<AgentId, u64>);

impl LaterEpochs {
    /// Largest number of epochs by which the message of a single peer may be ahead of the agents of this process.
    pub(super) const MAX_AHEAD: u64 = 1 << 8;

    /// Returns whether a message of a later epoch is accepted while the agents of this process are in the epoch
    /// `present`. `voter` contains the sender and the number of voters that elect a leader; `None` if the sender is not
    /// a voter in the list of this process's agents.
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
