//! Notifies the members of a group after the present turn of the arbiter.

use std::sync::Weak;

use actix::Arbiter;

use crate::protocol::PeerMessage;

use super::{Group, GroupState, registry};

/// Returns a function that notifies the remaining members on the present arbiter, after all tasks that are awake now.
pub(super) fn notify_later<M: PeerMessage>(group: Weak<GroupState<M>>) -> registry::Later {
    // The function has only a weak reference to the group, because the group's registry holds the function: otherwise
    // the group would keep itself alive for ever.
    Box::new(move || {
        let group = Weak::clone(&group);
        Arbiter::try_current().is_some_and(|arbiter| {
            arbiter.spawn(async move {
                if let Some(shared) = group.upgrade() {
                    Group(shared).registry().notify_remaining();
                }
            })
        })
    })
}
