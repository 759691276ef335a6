//! Defects planted on purpose, to prove that the tests would find them.
//!
//! Nothing here can be switched on in a build without the feature `planted`, which is never
//! enabled by default: without it each guard is a constant `false`.

/// One rule, broken on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Defect {
    /// G0: a count is never made durable.
    VolatileCount,
    /// G1, G2: a silence of d, and not of T > 2 d, is taken for a death.
    Impatient,
    /// G4, G6: a call that is refused counts as one that is obeyed, as in the original.
    IgnoredCallSucceeds,
    /// G5: anybody is a coordinator who says so, without having halted the member.
    AnyCoordinator,
    /// G8: a coordinator does not care who is not normal under it.
    AllIsWell,
}

impl Defect {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::VolatileCount,
        Self::Impatient,
        Self::IgnoredCallSucceeds,
        Self::AnyCoordinator,
        Self::AllIsWell,
    ];
}
