//! The rules of the Invitation Algorithm that are broken on purpose, to prove that the tests would find it.

use super::InvitationConfig;
use bully_core::parts::defects;

defects! { InvitationConfig:
    /// `form-by-rank`, `merge-those-below`: a number is taken, and never made durable.
    VolatileNumber,
    /// `form-by-rank`, `merge-those-below`: a new group gets the highest number heard of, not one above it.
    NumberKept,
    /// `join-from-above`: an invitation to an older group is accepted.
    JoinsOlder,
    /// `hand-out-task`: the task of any group of the coordinator is taken.
    TaskOfAnyGroup,
}
