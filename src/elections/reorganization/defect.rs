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
    /// `recover-on-start`: a count is never made durable.
    VolatileCount,
    /// `ask-those-above`, `halt-all-others`: a silence of d, and not of T > 2 d, is taken for a death.
    Impatient,
    /// `make-coordinator-known`, `hand-out-task`: a call that is refused counts as one that is obeyed,
    /// as in the original.
    IgnoredCallSucceeds,
    /// `join-own-halter`: any agent is a coordinator that says so, without having halted the member.
    AnyCoordinator,
    /// `check-all-normal`: a coordinator ignores that a member is not normal under it.
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
