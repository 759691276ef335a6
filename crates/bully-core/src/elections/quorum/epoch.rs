//! Epochs: one list of voters after another, and never two at a time.
//!
//! An *epoch* is one choice of voters and quorums, with a number. The configuration names the first epoch. The voters
//! themselves decide each next epoch while the group runs: one voter more, one less, or one in the place of another.
//! The record of each agent keeps the decided list. From then on that list counts, not the configured one: an agent
//! that starts with an older list says so once (`VotersEvent::Installed`).
//!
//! # One change while the group runs
//! The voters are `a`, `b` and `c`; `a` leads, and `d` shall vote, too. `d` was started as a *learner*
//! (`.learner()`): with a store, and not listed. It follows and acknowledges nothing. `[..]` is written to the disk.
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
//! No agent leads from the `Lost` until that election is over: that takes as long as a hand-over, and three round trips
//! more. Any agent may be asked for a change: it sends the question on to its leader (`AskChange`), and knows that the
//! change is made when it has the list itself. A change that is already made has no effect.
//!
//! # The rules by name
//! | rule | meaning | decided in |
//! |---|---|---|
//! | `enlist-before-vote` | A leader makes a member a voter only if the member is up and said of late, to this leader and in this term, that it could be a voter. | `ruling.rs` |
//! | `leave-a-quorum` | A leader begins a change only while a quorum of the present voters and one of the next ones are there. | `ruling.rs` |
//! | `one-change-at-a-time` | A leader that drains, or that claims a higher term, begins no change. | `change.rs` |
//! | `voters-ask` | A leader makes no change for an agent that may only observe at its host: that agent is told so. | `change.rs` |
//! | `lose-before-seal` | The leadership ends, then the former leader seals, and leads no more in that term. | `resign.rs`, `seal.rs` |
//! | `seal-before-word` | A seal is durable before it is said. | `voter.rs` |
//! | `no-support-after-seal` | A voter acknowledges no leader of a term up to that of its seal. | `seal.rs` |
//! | `report-seal` | A vote reports the seal of its voter. | `seal.rs` |
//! | `adopt-highest-seal` | A candidate whose votes report seals does not lead: it seals in its own term, for the list of the highest. So does a leader whose higher term is voted with a report of a seal above the term that it leads in. | `candidate.rs`, `leader.rs` |
//! | `void-seal` | A leader of a higher term won without a report: the seal is void for who hears it. Its own vote in that term stays. | `seal.rs` |
//! | `install-after-quorum` | A list is decided, and its epoch entered, once Qv voters have sealed in one term. | `seal.rs` |
//! | `epoch-before-word` | The list and the first term of its epoch are durable before anything is said in it. | `install.rs` |
//! | `tell-after-restart` | An agent that had a list decided and is not in it tells the list until it hears of a leader by that list, also after a restart: it may be the only agent that knows the list. | `install.rs`, `voter.rs` |
//! | `tell-while-vacant` | An agent that is not eligible tells the list of its epoch once a promise long, as long as it knows no leader: it holds no election that would show the list, and it may be the only agent that knows it. | `vacant.rs` |
//! | `answer-earlier-epoch` | A message that names an earlier epoch, or tells its list, is answered with the present list, if that list was decided and not configured. A message that names a later epoch is answered with the own term, which makes the other side send its list. | `install.rs` |
//!
//! # What may go wrong
//! - *The leader crashes, or reaches too few, after some have sealed.* The next leader needs the votes of a quorum. If
//!   a vote reports the seal, the same list is asked for again. If no vote reports it, the list was not decided, the
//!   next leader leads in the old epoch, and the change has to be asked for again.
//! - *A voter misses the `Install`.* It hears of the epoch from any member of it, at the next message, and may skip
//!   epochs. Three kinds of agents tell the list on their own until they hear of a leader by it: an agent that was
//!   removed, an agent that had the list decided and restarts, and an agent that is not eligible while no agent leads.
//! - *The new voter is on an unknown host.* Where the question names its contact, the leader's host connects to it
//!   (`VotersEvent::Wanted`), and the agent that was asked goes on asking. The other hosts learn the contact with the
//!   list.
//! - *No quorum is left.* No list can be decided: the missing voters have to return, or the emergency way is taken.
//!
//! Voters without a disk cannot seal ([`diskless`](super::diskless)): their list is changed in the emergency way.
//!
//! # Why that is safe
//! The argument is on the page [`proof`](super::proof): while a list is being decided, no agent leads by the old list
//! that was not elected after it; each epoch has one list; and tokens increase over epochs, since the upper bits of a
//! term are its epoch.
//!
//! # The emergency way: a configuration with a higher epoch
//! Any list may follow any other if the group is stopped: `.quorum(..).epoch(5)` of an agent's builder, `epoch = 5` in
//! a configuration. The number must be higher than that of every epoch that was decided before. Use it for a group that
//! has lost its quorum for good, for explicit quorums (`vote_quorum`) that do not fit the new number of voters, and for
//! voters without disks.
//!
//! 1. Stop the old voters: at least as many as needed so that the others are fewer than a quorum for a lease, better
//!    all. A leader that hangs or cannot be reached then ends by itself, its lease unrenewed.
//! 2. Only then start the voters of the new epoch, in any order. An agent that was a voter before
//!    keeps its store; any other begins with a new one.
//! 3. The old voters that remain are stopped, or start again in the new epoch.
//!
//! No agent leads for a promise P and an election. If the new timings have a shorter promise than the old ones, and
//! voters begin with new stores, wait for an old P between 1 and 2; a store that is kept knows the longest promise by
//! itself.
//!
//! *No leader between.* When the first new voter starts, no quorum renews an old lease any more, so the old leadership
//! ends within D by its leader's clock. A voter at the beginning of such an epoch abstains for P by its own clock,
//! whether its store is old or new: it may have given a promise in the old epoch, and others may have given promises
//! that it does not know. P outlasts D, as after a restart. (By a decided list no voter has to abstain: the seal ends
//! those promises.)
//!
//! *No way back.* A voter writes the first term of its epoch into its store before it takes part. With
//! that record it is refused by any earlier epoch ([`MembershipError::LaterEpoch`]), unless the record names the
//! list itself.
//!
//! *The wrong order.* New voters that start while an old quorum runs elect a leader of their own: two lead, as two
//! clusters would, each alone in its epoch. That is prevented only where they share a store; their tokens differ, and a
//! resource that checks them takes the newer. So stop first.
//!
//! *How it shows.* A configured epoch is not announced to any agent: an agent that names another epoch takes no part,
//! whatever it can reach. Its diagnosis has `ListOlder`, that of the others `OtherListOlder`, with advice. An agent
//! without a leader warns of it in the log, and so does a leader, ten seconds after it was elected.

use super::QuorumConfig;
use crate::protocol::{AgentId, Epochs, MembershipError, Term};

/// Number of bits of a term that count the elections of one epoch; the bits above name the epoch.
const BITS: u32 = 40;

/// No epoch is higher.
pub(super) const LAST_EPOCH: u64 = (1 << (u64::BITS - BITS)) - 1;

/// Number of the last term of an epoch. No election is held beyond it, and an agent that names such a term is not
/// believed: the term is invalid, and adopting it would use up the numbers.
pub(super) const TERMS: u64 = (1 << BITS) - (1 << 20);

/// The term before the first election of an epoch.
pub(super) const fn first_term(epoch: u64) -> Term {
    Term(epoch << BITS)
}

/// Returns the epoch of a term; `None` for a term that no epoch has.
pub(super) const fn epoch_of(term: Term) -> Option<u64> {
    if term.0 & ((1 << BITS) - 1) <= TERMS {
        Some(term.0 >> BITS)
    } else {
        None
    }
}

/// The way in which members of several epochs find out which one is the latest.
pub(super) const LEARNED: Epochs = Epochs::Learned { term_bits: BITS };

impl QuorumConfig {
    /// The term before the first election of this epoch: above all terms of earlier epochs.
    pub const fn first_term(&self) -> Term {
        first_term(self.epoch)
    }

    /// Returns the last term of this epoch; after it, the group needs another epoch.
    pub(super) const fn last_term(&self) -> Term {
        Term(self.first_term().0 + TERMS)
    }

    /// Returns the term after that one, if this epoch has it.
    pub(super) fn term_above(&self, term: Term) -> Option<Term> {
        term.next().filter(|next| *next <= self.last_term())
    }

    /// Checks that a voter with a record of this term may take part in this epoch.
    ///
    /// # Errors
    /// [`MembershipError::LaterEpoch`] when it took part in a later epoch.
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

    /// Returns whether a voter with a record of this term may have promised something in an earlier epoch,
    /// and nothing was decided since.
    pub fn is_arrival(&self, term: Term) -> bool {
        self.epoch > 0 && term.0 <= self.first_term().0
    }
}
