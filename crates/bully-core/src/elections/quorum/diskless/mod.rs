//! Voters without a disk: for containers that have no volume.
//!
//! A voter that restarts has forgotten its promise, its vote and its term. The *order of leases* needs no disk: if a
//! voter abstains for longer than any promise that it may have given, it breaks no lease. The *order of terms* needs
//! more: the memory of the other voters and, if a majority has forgotten, the clocks.
//!
//! Decided here: the parameters of the rules without disks.
//!
//! Not here: the rules; the table shows the file of each rule.
//!
//! | rule | statement | decided in |
//! |---|---|---|
//! | `term-by-the-clock` | A claim is for a term above all seen terms, and not below the wall clocks: milliseconds since 2024 began. | `term.rs` |
//! | `lowest-clock` | The term by the clocks is the term by this agent's own clock, but at most 10 s above the lowest known clock of another voter. | `clocks.rs` |
//! | `no-term-ahead` | A claim or a reported term counts only up to 10 s ahead of the agent's own clock, or one above the highest term seen. | `term.rs` |
//! | `refuse-by-the-clock` | A claim that is further ahead is refused, and the refusal contains the term by the voter's clock. | `clocks.rs` |
//! | `abstain-without-memory` | An incarnation acknowledges, consents, votes and campaigns only after (P + E) (1 + r) / (1 - r), for a promise P, a round E and the clock-rate error r. | `recovery.rs` |
//! | `recover-by-the-others` | After that, it takes part only above the terms in the answers of n - Qv + 1 other voters that remember (n voters, vote quorum Qv). | `recovery.rs` |
//! | `recover-by-the-clock` | If fewer than Qv others can remember, because the rest recover, it takes part above the terms of a quorum, and not below the term by the clocks. | `recovery.rs` |
//! | `forgotten-together` | A voter that recovered by the clocks still answers "I recover" to the voters that recover with it. | `recovery.rs` |
//! | `ask-after-the-claims` | An answer counts if the question was sent when no vote of an earlier incarnation could count any more. | `recovery.rs` |
//! | `votes-expire` | A vote counts within a round E of the claim, by the candidate's clock. | `lives.rs` |
//! | `bound-to-one-life` | While a promise binds a voter, it follows only announcements of the incarnation to which it promised. | `lives.rs` |
//! | `raise-above-observers` | An observer that has followed a higher term reports that term to a leader that it ignores; the leader claims a term above it, and leads on meanwhile. | `observers.rs` |
//!
//! # Guarantees
//! *One leader at any instant*, as with disks. This guarantee rests on three rules: a promise binds its voter, a voter
//! that has restarted abstains, and an answer to one incarnation does not count for another. The guarantee needs no
//! memory and no wall clock.
//!
//! *Terms increase* while a majority of the voters keeps its memory. If a majority forgets, the terms increase only if
//! no wall clock that was used before is ahead of a wall clock that is used later. So a token is a fence only under
//! this condition. Suppose that the clocks of a majority were far ahead, and that this majority forgets. A voter that
//! still remembers such a high term ignores the leaders of the lower terms that follow. It takes no part in the group
//! until a restart deletes its memory as well.
//!
//! *An agent leads* even if clocks are wrong. A voter whose clock is an hour ahead claims no term that the other voters
//! refuse, and asks the other voters for no such term when it recovers. The cost: suppose that the clocks of two of
//! three voters are an hour ahead. The two voters elect an agent while the third voter is not heard, and then they
//! forget. The two voters recover by the third voter's clock, and the terms fall. A voter that reports a wrong time
//! cannot lower the terms below the counted terms. [`Prospects::clock_gap`](crate::protocol::Prospects::clock_gap)
//! shows the operator which clock differs from this agent's clock, and by how much.
//!
//! Only one process may have a name at a time. Two processes with one name are two voters, but the other voters count
//! them as one voter. A node that is linked to the first process refuses the second. The second process then reports
//! the reason and takes no part, because it recovers only by the answers of the other voters. If no node is linked to
//! both processes, for example across a partition, the duplicate is not detected. With two duplicated names, each side
//! of a partition may elect a leader. So the system that starts a process must first make sure that the former process
//! has ended.
//!
//! # Why the terms increase
//! *While a majority remembers.* Suppose that an earlier incarnation of a voter v has voted in the term t for an agent
//! that was elected. The election took Qv votes within E of the claim (rule `votes-expire`), so it had ended before v
//! asks (`ask-after-the-claims`). Qv - 1 of its voters are other voters than v. v needs the answers of n - Qv + 1 of
//! the n - 1 other voters, so at least one voter that answers has voted in t as well, before it was asked. The
//! answering voter remembers t, or it has recovered since by the same rule, and answers with t or more. So v votes
//! above t. If v asked at once, another voter could answer before it votes, and then all voters but the leader could
//! forget t, one after the other.
//!
//! *When a majority has forgotten.* Only an answer shows that another voter recovers. Silence does not count: otherwise
//! the terms could fall although a majority remembers. If fewer than Qv other voters can remember, these voters are not
//! a majority, so the terms depend on the clocks. The answers must describe one moment. A voter may recover by the
//! clocks after that moment, but at that moment it had forgotten, too. So it still answers "I recover" to the voters
//! that recovered with it (`forgotten-together`). Otherwise the last of them would wait for ever. To an incarnation
//! that begins later it answers that it remembers.
//!
//! The cost: if one of three voters has restarted and another voter is gone, no agent leads until the missing voter
//! returns or the third voter restarts as well. In a group with an even number of voters one more voter may have
//! restarted: with four voters, two other voters that remember are enough. `tests/elections/quorum/restarts.rs`
//! enumerates the groups that lead after each set of restarts, for two to eight voters.
//!
//! # How fast it begins
//! All voters abstain when a group begins, and when all restart: [`QuorumConfig::worst_case_start`]. The election is
//! safe even if voters restart one after the other, each before the former voter has recovered: for a while too few
//! voters acknowledge, the leader stops when its lease ends, and the next leader is elected once enough voters have
//! recovered.

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

/// Name of the rules without disks in messages between hosts. Voters with and without a disk cannot form one group,
/// because they do not understand each other's votes.
pub(super) const RULES: Rules = Rules::new("quorum-diskless");

/// The configuration of voters without a disk, which use the wall clock and the memory of other voters instead.
///
/// An application passes [`Diskless::default`]: an agent reads the wall clock itself, once, when it is started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Diskless {
    /// Reading of the wall clock when the agent's own clock showed zero, in milliseconds since the start of 2024 in
    /// UTC; negative for an earlier time. The wall clock is read once, so setting it later changes nothing. An agent
    /// replaces a configured value by its own reading.
    #[doc(hidden)]
    pub wall_at_zero: i64,
}

/// Start of 2024, in milliseconds since the start of 1970. 40 bits of milliseconds last from then until 2058.
const YEAR_2024: i64 = 1_704_067_200_000;

impl QuorumConfig {
    /// Returns the configuration of voters without a disk, if the group has such voters.
    pub(super) const fn diskless(&self) -> Option<&Diskless> {
        self.diskless.as_ref()
    }

    /// Sets the reading of the host's wall clock when the agent's own clock showed zero, in milliseconds since the
    /// start of 1970.
    pub(super) fn set_wall_clock(&mut self, wall_at_zero: i64) {
        if let Some(own) = &mut self.diskless {
            own.wall_at_zero = wall_at_zero.saturating_sub(YEAR_2024);
        }
    }
}
