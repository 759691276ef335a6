//! The rules of the Reorganization Algorithm that are broken on purpose, to prove that the tests would find it.

use super::ReorganizationConfig;
use bully_core::parts::defects;

defects! { ReorganizationConfig:
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
