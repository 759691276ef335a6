//! Defects planted on purpose, to prove that the tests would find them.
//!
//! Nothing here can be switched on in a build without the feature `planted`, which is never
//! enabled by default: without it each guard is a constant `false`.

/// One rule, broken on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Defect {
    /// N2: who is certainly down is in the ring.
    WritesToTheDead,
    /// N2: who is to take a message and has ended is waited for.
    WaitsForTheDead,
    /// N3: a weaker election is taken part in.
    WeakerCounts,
    /// N7: an older announcement is believed.
    StaleIsNews,
    /// N10: who is passed over is never asked whether it is there.
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
