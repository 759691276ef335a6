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
    /// `stale-is-ignored`: an older announcement is followed.
    StaleIsNews,
    /// `fast-path`: a silent leader is followed for ever.
    SilenceUnnoticed,
    /// `fast-path`: the leader whose end is reported is followed on.
    EndUnnoticed,
    /// `yield-on-outranked`: of two leaders that meet, both lead on.
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
