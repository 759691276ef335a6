//! Defects planted on purpose, to prove that the model checker would find them.
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
    /// `form-by-rank`, `merge-those-below`: a number is taken, and never made durable.
    VolatileNumber,
    /// `form-by-rank`, `merge-those-below`: a new group gets the highest number heard of, not one above it.
    NumberKept,
    /// `join-from-above`: an invitation to an older group is accepted.
    JoinsOlder,
    /// `hand-out-task`: the task of any group of the coordinator is taken.
    TaskOfAnyGroup,
}

impl Defect {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::VolatileNumber,
        Self::NumberKept,
        Self::JoinsOlder,
        Self::TaskOfAnyGroup,
    ];
}
