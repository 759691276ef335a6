//! The rules of a ballot election that are broken on purpose, to prove that the tests would find it.

use super::BallotConfig;
use bully_core::parts::defects;

defects! { BallotConfig:
    /// `number-never-reused`: a ballot is taken, and its number never made durable.
    VolatileNumber,
    /// `number-never-reused`: of the record bmax is read, and not which numbers were used.
    NumberForgotten,
    /// A majority is more than half: ⌈N/2⌉ voters are taken for a majority.
    HalfIsAMajority,
    /// `no-majority-no-leader`: a leader that hears no majority goes on leading.
    BelievesAlone,
    /// `trust-the-highest`: the highest ballot of those heard is trusted, though it is below bmax.
    ElectsBelowMax,
    /// `max-never-falls`: bmax is never raised.
    MaxNeverRaised,
    /// `one-ballot-per-leadership`: a ballot that lost its leadership is kept.
    LeadsAgain,
}
