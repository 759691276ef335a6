//! Defects planted on purpose, to prove that the tests would find them.
//!
//! Nothing here can be switched on in a build without the feature `planted`, which is never
//! enabled by default: without it each guard is a constant `false`.

/// One rule, broken on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Defect {
    /// B6: an older announcement is believed.
    StaleIsNews,
    /// B7: a silent leader is followed for ever.
    SilenceUnnoticed,
    /// B7: the leader whose end is reported is followed on.
    EndUnnoticed,
    /// B6: of two leaders that meet, both lead on.
    MeetsAndLeads,
}

impl Defect {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::StaleIsNews,
        Self::SilenceUnnoticed,
        Self::EndUnnoticed,
        Self::MeetsAndLeads,
    ];
}
