//! Epochs: one list of voters after another, and never two lists at a time.
//!
//! An *epoch* is one choice of voters and quorums, with a number. The configuration contains the first epoch. The
//! voters themselves decide each next epoch while the group runs: one voter more, one voter less, or one voter in the
//! place of another. The record of each agent keeps the decided list. From then on the decided list counts, not the
//! configured list. An agent whose configuration has an older list reports the decided list once when it starts
//! (`VotersEvent::Installed`).
//!
//! # One change while the group runs
//! The voters are `a`, `b` and `c`; `a` leads, and `d` shall become a voter. `d` was started as a *learner*
//! (`.learner()`): it has a store and is not in the list. A learner follows and acknowledges nothing. `[..]` is written
//! to the disk.
//!
//! ```text
//!  a                                b, c                               d
//!  │◀────────────────────────────────────────────────────── Enlist ────┤ each H: "I could vote"
//!  ├ add d: its work ends, then Lost │                                 │
//!  [seal of epoch 0: a b c d]        │                                 │
//!  ├── Seal ────────────────────────▶│                                 │
//!  │          [seal of epoch 0: a b c d] from now on no Ack to that leader
//!  │◀────────────────────── Sealed ──┤                                 │
//!  a quorum has sealed: the list is decided                            │
//!  [epoch 1: a b c d]                │                                 │
//!  ├── Install ─────────────────────▶│ [epoch 1: a b c d]              │
//!  ├── Install ───────────────────────────────────────────────────────▶│ [epoch 1: a b c d]
//!  ├── Claim, the first term of epoch 1 ──▶ an election as any other, in which d has a vote
//! ```
//!
//! No agent leads from the `Lost` until the end of the election of epoch 1. This time is as long as a hand-over and
//! three round trips. Any agent may be asked for a change: it sends the question to its leader (`AskChange`), and knows
//! that the change is made when it has the new list itself. A change that is already made has no effect.
//!
//! # The rules by name
//! | rule | meaning | decided in |
//! |---|---|---|
//! | `enlist-before-vote` | A leader makes a member a voter only if the member is up and has reported a short time ago, to this leader and in this term, that it could be a voter. | `ruling.rs` |
//! | `leave-a-quorum` | A leader begins a change only while a quorum of the present voters and a quorum of the next voters are up. | `ruling.rs` |
//! | `one-change-at-a-time` | A leader that drains, or that claims a higher term, begins no change. | `change.rs` |
//! | `voters-ask` | A leader refuses a change if the agent that asks may only observe at its host. | `change.rs` |
//! | `lose-before-seal` | The leadership ends first. Then the former leader seals, and no longer leads in that term. | `resign.rs`, `seal.rs` |
//! | `seal-before-word` | A seal is durable before any message reports it. | `voter.rs` |
//! | `no-support-after-seal` | A voter acknowledges no leader of a term up to the term of its seal. | `seal.rs` |
//! | `report-seal` | A vote reports the seal of its voter. | `seal.rs` |
//! | `adopt-highest-seal` | If the votes of a candidate report seals, it does not lead: it seals in its own term, for the list of the highest seal. A leader that claims a higher term does the same, if a vote for that term reports a seal above the term in which it leads. | `candidate.rs`, `leader.rs` |
//! | `void-seal` | A voter deletes its seal when it hears a leader of a higher term, because that leader was elected without a report of the seal. The voter's own vote in that term stays. | `seal.rs` |
//! | `install-after-quorum` | A list is decided, and its epoch entered, when Qv voters have sealed in one term. | `seal.rs` |
//! | `epoch-before-word` | The list and the first term of its epoch are durable before any message is sent in the epoch. | `install.rs` |
//! | `tell-after-restart` | An agent that had a list decided and is not in it sends the list until it hears of a leader elected by that list, also after a restart: it may be the only agent that knows the list. | `install.rs`, `voter.rs` |
//! | `tell-while-vacant` | An agent that is not eligible sends the list of its epoch once in each promise P, as long as it knows no leader. It holds no election that would show the list, and it may be the only agent that knows the list. | `vacant.rs` |
//! | `answer-earlier-epoch` | A message that has an earlier epoch, or contains its list, is answered with the present list, if that list was decided and not configured. A message that has a later epoch is answered with the agent's own term, which makes the other side send its list. | `install.rs` |
//!
//! # What may go wrong
//! - *The leader crashes, or reaches too few voters, after some voters have sealed.* The next leader needs the votes of
//!   a quorum. If a vote reports the seal, the next leader asks for the same list again. If no vote reports it, the
//!   list was not decided, the next leader leads in the old epoch, and the change has to be asked for again.
//! - *A voter misses the `Install`.* It learns of the epoch from any member of the epoch, at the next message, and may
//!   skip epochs. Three kinds of agents send the list without a question until they hear of a leader elected by it:
//!   removed agents; an agent that restarts after it had the list decided; and, while no agent leads, agents that are
//!   not eligible.
//! - *The new voter is on an unknown host.* If the question contains the voter's contact, the leader's host connects
//!   to it (`VotersEvent::Wanted`), and the agent that was asked repeats its question. The other hosts learn the
//!   contact with the list.
//! - *No quorum is left.* No list can be decided: the missing voters have to return, or the emergency way is taken.
//!
//! Voters without a disk cannot seal ([`diskless`](super::diskless)): their list is changed in the emergency way.
//!
//! # Why that is safe
//! The argument is on the page [`proof`](super::proof): while a list is being decided, no agent leads by the old list
//! unless it was elected later; each epoch has one list; and tokens increase over epochs, because the upper bits of a
//! term are its epoch.
//!
//! # The emergency way: a configuration with a higher epoch
//! If the group is stopped, any list may follow any other: `.quorum(..).epoch(5)` of an agent's builder, `epoch = 5`
//! in a configuration. The number must be higher than the number of every epoch that was decided before. Use this way
//! for a group that has lost its quorum for ever, for explicit quorums (`vote_quorum`) that do not fit the new number
//! of voters, and for voters without disks.
//!
//! 1. Stop the old voters, best all of them. Fewer than a lease quorum may remain.
//!    A leader that hangs or cannot be reached then ends by itself, because its lease is not renewed.
//! 2. Only then start the voters of the new epoch, in any order. An agent that was a voter before keeps its store;
//!    any other voter begins with a new store.
//! 3. Stop the old voters that remain, or start them again in the new epoch.
//!
//! No agent leads for a promise P (the time for which a voter supports no other agent) and an election. If the new
//! timings have a shorter promise than the old timings, and voters begin with new stores, wait for an old P between the
//! steps 1 and 2. A voter that keeps its store knows the longest promise from its record.
//!
//! *No leader between.* When the first new voter starts, no quorum renews an old lease any more, so the old leadership
//! ends within D by its leader's clock. A voter at the beginning of such an epoch abstains for P by its own clock,
//! whether its store is old or new: it may have given a promise in the old epoch, and other voters may have given
//! promises that it does not know. P lasts longer than D, as after a restart. (After a decided list no voter has to
//! abstain, because the seal ends the promises of the former epoch.)
//!
//! *No way back.* A voter writes the first term of its epoch into its store before it takes part. After that, an agent
//! of an earlier epoch does not start with this store ([`MembershipError::LaterEpoch`]), unless the record itself
//! contains the list.
//!
//! *The wrong order.* New voters that start while an old quorum runs elect their own leader. Then two agents lead, as
//! in two clusters, each alone in its epoch. Two leaders are prevented only if voters of both epochs have the same
//! stores. The tokens differ, and a resource that checks them accepts the newer token. So stop the old voters first.
//!
//! *How it shows.* A configured epoch is not announced to any agent: an agent with another epoch takes no part, even if
//! it can reach the other agents. Its diagnosis has `ListOlder`, the diagnosis of the other agents has
//! `OtherListOlder`, each with advice. An agent without a leader logs a warning about it, and so does a leader, ten
//! seconds after its election.

use std::fmt;

use super::QuorumConfig;
use crate::protocol::{AgentId, Epochs, MembershipError, Term};

/// Number of bits of a term that count the elections of one epoch. The number is 40, because without disks a term
/// counts milliseconds since 2024, and 40 bits of milliseconds last until 2058. The bits above the lower 40 bits are
/// the epoch.
const BITS: u32 = 40;

/// The highest valid epoch.
pub(super) const LAST_EPOCH: u64 = (1 << (u64::BITS - BITS)) - 1;

/// Number of the last term of an epoch. A higher term is invalid and is ignored, because adopting it would use up the
/// numbers. The reserve of 2^20 keeps each term below the next epoch. Any reserve from 1 to 2^30 is enough.
pub(super) const TERMS: u64 = (1 << BITS) - (1 << 20);

/// Returns the term before the first election of an epoch.
pub(super) const fn first_term(epoch: u64) -> Term {
    Term(epoch << BITS)
}

/// Returns the epoch of a term; `None` for a number between the last term of an epoch and the next epoch.
pub(super) const fn epoch_of(term: Term) -> Option<u64> {
    if term.0 & ((1 << BITS) - 1) <= TERMS {
        Some(term.0 >> BITS)
    } else {
        None
    }
}

/// A term as a person reads it: `7`, and after a change of the voters `7 of epoch 2`.
#[derive(Clone, Copy, Debug)]
pub struct SpokenTerm(pub Term);

impl fmt::Display for SpokenTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match epoch_of(self.0) {
            Some(epoch @ 1..) => {
                let count = self.0.0 - first_term(epoch).0;
                write!(f, "{count} of epoch {epoch}")
            }
            Some(0) | None => self.0.fmt(f),
        }
    }
}

/// Members with different epochs recognize the latest epoch by the terms: the upper bits of a term are its epoch.
pub(super) const LEARNED: Epochs = Epochs::Learned { term_bits: BITS };

impl QuorumConfig {
    /// Returns the term before the first election of this epoch, which is above all terms of earlier epochs.
    pub const fn first_term(&self) -> Term {
        first_term(self.epoch)
    }

    /// Returns the last term of this epoch. After it, the group needs another epoch.
    pub(super) const fn last_term(&self) -> Term {
        Term(self.first_term().0 + TERMS)
    }

    /// Returns the term after `term`, if this epoch has such a term.
    pub(super) fn term_above(&self, term: Term) -> Option<Term> {
        term.next().filter(|next| *next <= self.last_term())
    }

    /// Checks that a voter with a record of this term may take part in this epoch.
    ///
    /// # Errors
    /// [`MembershipError::LaterEpoch`] if the voter took part in a later epoch.
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

    /// Returns whether a voter with a record of this term may have given a promise in an earlier epoch. Its record then
    /// contains no election of this epoch.
    pub fn is_arrival(&self, term: Term) -> bool {
        self.epoch > 0 && term.0 <= self.first_term().0
    }
}
