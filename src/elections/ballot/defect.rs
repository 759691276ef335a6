//! Defects planted on purpose, to prove that the tests would find them.
//!
//! Nothing here can be switched on in a build without the feature `planted`, which is never
//! enabled by default: without it each guard is a constant `false`.

/// One rule, broken on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Defect {
    /// L1: a ballot is taken, and its number never made durable.
    VolatileNumber,
    /// L1: of the record bmax is read, and not which numbers were used.
    NumberForgotten,
    /// L2: ⌈N/2⌉ voters are taken for a majority.
    HalfIsAMajority,
    /// L2: a leader that hears no majority goes on believing.
    BelievesAlone,
    /// L3: the highest ballot of those heard is trusted, though it is below bmax.
    ElectsBelowMax,
    /// L3, L4: bmax is never raised.
    MaxNeverRaised,
    /// Amendment to L3: a ballot that lost its seat is kept.
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
