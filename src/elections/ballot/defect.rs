//! Defects planted on purpose, to prove that the tests would find them.
//!
//! Nothing here can be switched on in a build without the feature `planted`, which is never
//! enabled by default: without it each guard is a constant `false`.
#![cfg_attr(
    not(feature = "planted"),
    allow(
        dead_code,
        unreachable_pub,
        reason = "only builds with that feature plant any"
    )
)]

/// One rule, broken on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Defect {
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

impl Defect {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::VolatileNumber,
        Self::NumberForgotten,
        Self::HalfIsAMajority,
        Self::BelievesAlone,
        Self::ElectsBelowMax,
        Self::MaxNeverRaised,
        Self::LeadsAgain,
    ];
}
