//! Room for the effects of a step, shared by all agents of a thread.
//!
//! Decided here: that agents do not keep such a buffer each. Steps on one thread follow one
//! another, so one buffer serves thousands; a step within a step finds none and makes its own.

use std::{any::Any, cell::RefCell};

use crate::protocol::{EffectsOf, Election};

thread_local! {
    static ROOM: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// An empty list, with room from earlier steps.
#[expect(
    clippy::unnecessary_box_returns,
    reason = "the box is kept with the room"
)]
pub(super) fn take<E: Election>() -> Box<EffectsOf<E>> {
    let find = |rooms: &RefCell<Vec<Box<dyn Any>>>| {
        let mut rooms = rooms.borrow_mut();
        let at = rooms.iter().position(|room| room.is::<EffectsOf<E>>())?;
        rooms.swap_remove(at).downcast().ok()
    };
    ROOM.try_with(find).ok().flatten().unwrap_or_default()
}

/// Gives the room back; the list must be empty.
pub(super) fn put<E: Election>(room: Box<EffectsOf<E>>) {
    let keep = |rooms: &RefCell<Vec<Box<dyn Any>>>| {
        let mut rooms = rooms.borrow_mut();
        if rooms.len() < A_FEW && room.is_empty() {
            rooms.push(room);
        }
    };
    ROOM.try_with(keep).unwrap_or_default(); // or the thread ends: nobody needs room any more
}

/// More than the elections that share a thread.
const A_FEW: usize = 8;
