//! Epochs: one choice of voters after another, and never two at a time.
//!
//! The voters are fixed in the configuration. Another list of voters, or other quorums, are another
//! *epoch*: `.quorum(..).epoch(1)` of an agent's builder, `epoch = 1` in a configuration, then 2, and so on. Members of
//! different epochs do not hear each other: groups refuse to mix them, and what comes from another epoch is dropped.
//!
//! # How to change the voters
//! 1. Stop the old voters: at least so many that the others are no quorum for a lease, better all. A
//!    leader that hangs or cannot be reached then ends by itself, its lease unrenewed.
//! 2. Only then start the voters of the new epoch, in any order. An agent that was a voter before
//!    keeps its store; any other begins with a new one.
//! 3. The old voters that remain are stopped, or start again in the new epoch.
//!
//! No agent leads for a promise P and an election. If the new timings have a shorter promise than the
//! old ones, and voters begin with new stores, wait for an old P between 1 and 2; what is kept of an
//! old store knows the longest promise by itself.
//!
//! # Why that is safe
//! *No leader between.* When the first new voter starts, no quorum renews an old lease any more, so the
//! old leadership ends within D by its leader's clock. A voter at the beginning of an epoch abstains
//! for P by its own clock, whether its store is old or new: it may have promised something in the old
//! epoch, and what it may not know of, others have. P outlasts D, as after a restart.
//!
//! *No vote crosses.* The upper bits of a term are the epoch: each epoch has its own terms, all of
//! them above those of the epochs before. So a vote of one epoch is none in another, tokens increase
//! over the change, and a resource that checks them never takes an old leader for the newer one.
//!
//! *No way back.* A voter writes the first term of its epoch into its store before it takes part. With
//! that record it is refused by any earlier epoch ([`MembershipError::LaterEpoch`]).
//!
//! # The wrong order
//! New voters that start while an old quorum runs elect a leader of their own: two lead, as two
//! clusters would, each alone in its epoch. That is not prevented where they do not share a store or a
//! group; only their tokens differ, and a resource that checks them takes the newer. So stop first.

use super::QuorumConfig;
use crate::protocol::{AgentId, Epochs, MembershipError, Term};

/// So many bits of a term count the elections of one epoch; those above name the epoch.
const BITS: u32 = 40;

/// No epoch is higher.
pub(super) const LAST_EPOCH: u64 = (1 << (u64::BITS - BITS)) - 1;

/// How far the terms of an epoch go. No election is held beyond, and an agent that names such a term
/// is not believed: it is nonsense, and adopting it would use up the numbers.
pub(super) const TERMS: u64 = (1 << BITS) - (1 << 20);

/// The term before the first election of an epoch.
pub(super) const fn first_term(epoch: u64) -> Term {
    Term(epoch << BITS)
}

/// The epoch of a term; `None` for one that no epoch has.
pub(super) const fn epoch_of(term: Term) -> Option<u64> {
    if term.0 & ((1 << BITS) - 1) <= TERMS {
        Some(term.0 >> BITS)
    } else {
        None
    }
}

/// How members of several epochs find out which one is the latest.
pub(super) const LEARNED: Epochs = Epochs::Learned { term_bits: BITS };

impl QuorumConfig {
    for_tests! {
        /// The term before the first election of this epoch: above all terms of earlier epochs.
        const fn first_term(&self) -> Term {
            first_term(self.epoch)
        }
    }

    /// The last term of this epoch; then it takes another one.
    pub(super) const fn last_term(&self) -> Term {
        Term(self.first_term().0 + TERMS)
    }

    /// The term after that one, if this epoch has it.
    pub(super) fn term_above(&self, term: Term) -> Option<Term> {
        term.next().filter(|next| *next <= self.last_term())
    }

    /// Checks that a voter with a record of this term may take part in this epoch.
    ///
    /// # Errors
    /// [`MembershipError::LaterEpoch`] when it took part in a later one.
    pub(super) fn check_term(&self, agent: &AgentId, term: Term) -> Result<(), MembershipError> {
        if term <= self.last_term() {
            return Ok(());
        }
        Err(MembershipError::LaterEpoch {
            id: agent.clone(),
            found: term.0 >> BITS,
            epoch: self.epoch,
        })
    }

    for_tests! {
        /// Whether a voter with a record of this term may have promised something in an earlier epoch,
        /// and nothing was decided since.
        fn is_arrival(&self, term: Term) -> bool {
            self.epoch > 0 && term.0 <= self.first_term().0
        }
    }
}
