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
    /// `skip-the-silent`: a member that is known to be down is in the ring.
    WritesToTheDead,
    /// `skip-the-silent`: a member that has ended is waited for.
    WaitsForTheDead,
    /// `yield-to-stronger`: an agent takes part in a weaker election.
    WeakerCounts,
    /// `follow-the-newest`: an older announcement is believed.
    StaleIsNews,
    /// `probe-the-skipped`: a skipped member is never probed.
    NeverProbes,
}

impl Defect {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::WritesToTheDead,
        Self::WaitsForTheDead,
        Self::WeakerCounts,
        Self::StaleIsNews,
        Self::NeverProbes,
    ];
}
