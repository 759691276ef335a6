//! Voters without a disk: for containers that have no volume.
//!
//! A voter that restarts has forgotten what it promised, whom it voted for, and its term. The *order of
//! leases* needs no disk: who abstains for longer than any promise that it can have given disturbs nobody.
//! The *order of terms* needs more: the others' memory, and, when a majority has forgotten, the clocks.
//!
//! | rule | what it says | decided in |
//! |---|---|---|
//! | `term-by-the-clock` | A claim is for a term above those seen, and not below the wall clocks: milliseconds since 2024 began. | `term.rs` |
//! | `lowest-clock` | The clocks say what this agent's own does, but no more than 10 s above the lowest that another voter is known to have. | `clocks.rs` |
//! | `no-term-ahead` | Hearsay of a term, and a claim, count only up to 10 s ahead of the own clock, or one above what was seen. | `term.rs` |
//! | `refuse-by-the-clock` | A claim that is further ahead is refused, and the refusal names the term by the voter's clock. | `clocks.rs` |
//! | `abstain-without-memory` | An incarnation acknowledges, consents, votes and campaigns after (P + E) (1 + r) / (1 - r), and not before. | `recovery.rs` |
//! | `recover-by-the-others` | It does so only above the terms that n - Qv + 1 others have named who remember. | `recovery.rs` |
//! | `recover-by-the-clock` | Qv others cannot remember, since the rest recover: then above the terms of a quorum, and no lower than the clocks say. | `recovery.rs` |
//! | `forgotten-together` | A voter that went on by the clocks still says that it recovers to the voters that recover with it. | `recovery.rs` |
//! | `ask-after-the-claims` | Answers count if they were asked for when no vote of an earlier incarnation can count any more. | `recovery.rs` |
//! | `votes-expire` | A vote counts within E from the claim, by the candidate's clock. | `lives.rs` |
//! | `bound-to-one-life` | While a promise binds it, a voter follows no announcement but of the incarnation that it promised to. | `lives.rs` |
//! | `raise-above-observers` | An observer that has followed a higher term says so to a leader that it ignores; the leader claims a term above it, and leads on meanwhile. | `observers.rs` |
//!
//! # What is promised
//! *One leader at any instant*, as with disks: it rests on promises, on abstaining, and on what is said to one
//! life not counting for another. It needs no memory and no wall clock.
//!
//! *Terms increase* while a majority of the voters keeps its memory, or else while no wall clock that was
//! used was ahead of one that is used later. So a token is a fence only under that condition.
//! Where the clocks of a majority were far ahead, and it forgets, a voter that remembers such a term hears no leader of the
//! terms that follow: it is out of the group until it is restarted, and so forgets as well.
//!
//! *An agent leads* whatever the clocks show: a voter whose clock is an hour ahead neither claims a term that the others
//! refuse, nor asks for one from them when it recovers. The price: two of three clocks are an hour ahead, the voters that have
//! them elected an agent while the third was not heard, and forget. They recover by its clock, and the terms fall. A voter that says
//! a false time lowers the terms to the counted ones, no further. Which clock is how far from this
//! agent's is in [`Prospects::clock_gap`](crate::protocol::Prospects::clock_gap), for the operator.
//!
//! One process has a name at a time: two of one name are two voters where the others count one. A node that is
//! linked to one process refuses a later one of its name, which says why and takes no part: it recovers by the others'
//! answers alone. Where no node is linked to both, as across a partition, the two are not seen, and with two names
//! doubled each side of it may elect a leader: whatever starts processes has to see to it that the former one has ended.
//!
//! # Why the terms increase
//! *While a majority remembers.* Let an earlier incarnation of a voter v have voted in the term t for an agent
//! that was elected. That took Qv votes within E of the claim (`votes-expire`), so it was over before v asks
//! (`ask-after-the-claims`). Qv - 1 of these voters are others, and v needs the answers of n - Qv + 1 others: of n - 1, so one
//! has voted in t as well, before it was asked. It remembers, or it has recovered since, by the same rule: t or more.
//! So v votes above t. Had v asked at once, an answer could have been given before the vote, and then
//! all but the leader may forget t, one after the other.
//!
//! *When it does not.* That many *others* recover is an answer, and silence is none: silence would let the
//! terms fall though a majority remembers. Fewer than Qv others that can remember are no majority, so the terms
//! rest on the clocks. It is asked at one moment: a voter that went on since had forgotten then, too, and says so to those that
//! it went on with (`forgotten-together`). Otherwise the last of them would wait for ever. To an incarnation that
//! begins later it says that it remembers.
//!
//! The price: of three voters one has restarted and another one is gone, and no agent leads until it returns, or the third one
//! restarts as well. Of an even number one more may have restarted: of four, two others that remember are enough. Which groups lead
//! after which restarts is enumerated, for two to eight voters (`tests/elections/quorum/restarts.rs`).
//!
//! # How fast it begins
//! All voters abstain when a group begins, and when all restart: [`QuorumConfig::worst_case_start`]. Voters that restart
//! one after the other, each faster than it abstains, are safe: for a while too few acknowledge, the
//! leader stops when its lease ends, and the next one is elected once enough have recovered.

mod clocks;
mod lives;
mod observers;
mod recovery;
mod reminders;
mod term;

pub(super) use clocks::ClocksApart;
pub(super) use recovery::{Forgetful, Recovery};
#[doc(hidden)]
pub use term::latest_term;

use super::QuorumConfig;
use crate::protocol::Rules;

/// Voters with and without a disk are no group: they do not understand each other's votes.
pub(super) const RULES: Rules = Rules::new("quorum-diskless");

/// What a voter without a disk has in its place: the wall clock, and the others' memory.
///
/// [`Diskless::default`] is all that an application says: an agent reads the wall clock itself, once, when it is started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Diskless {
    /// What the wall clock showed when the agent's own clock showed zero, in milliseconds since 2024 began
    /// in UTC; negative where that was earlier. Read once: a wall clock that is set later changes nothing.
    /// An agent puts its own reading in the place of what is written here.
    #[doc(hidden)]
    pub wall_at_zero: i64,
}

/// When 2024 began, in milliseconds since 1970 began: 40 bits of milliseconds last from then until 2058.
const YEAR_2024: i64 = 1_704_067_200_000;

impl QuorumConfig {
    /// The rules of voters without a disk, where these are in force.
    pub(super) const fn diskless(&self) -> Option<&Diskless> {
        self.diskless.as_ref()
    }

    /// The same for an agent on a host whose wall clock showed this when the agent's own clock showed zero, in
    /// milliseconds since 1970 began.
    pub(super) fn set_wall_clock(&mut self, wall_at_zero: i64) {
        if let Some(own) = &mut self.diskless {
            own.wall_at_zero = wall_at_zero.saturating_sub(YEAR_2024);
        }
    }
}
