//! Buffers for the effects of a step, shared by all agents of a thread.
//!
//! Decided here: agents do not keep a buffer each. Steps on one thread follow one another, so one buffer serves
//! thousands of agents. A step within a step finds no buffer and makes its own.

use std::{any::Any, cell::RefCell};

use crate::protocol::{EffectsOf, Election};

thread_local! {
    static BUFFERS: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// Returns an empty buffer, with the capacity of earlier steps.
#[expect(
    clippy::unnecessary_box_returns,
    reason = "the box goes back to the pool with its buffer"
)]
pub(super) fn take<E: Election>() -> Box<EffectsOf<E>> {
    let find = |buffers: &RefCell<Vec<Box<dyn Any>>>| {
        let mut buffers = buffers.borrow_mut();
        let at = buffers
            .iter()
            .position(|buffer| buffer.is::<EffectsOf<E>>())?;
        buffers.swap_remove(at).downcast().ok()
    };
    BUFFERS.try_with(find).ok().flatten().unwrap_or_default()
}

/// Gives a buffer back. It must be empty.
pub(super) fn put<E: Election>(buffer: Box<EffectsOf<E>>) {
    let keep = |buffers: &RefCell<Vec<Box<dyn Any>>>| {
        let mut buffers = buffers.borrow_mut();
        if buffers.len() < A_FEW && buffer.is_empty() {
            buffers.push(buffer);
        }
    };
    BUFFERS.try_with(keep).unwrap_or_default(); // no pool: the thread ends
}

/// Largest number of buffers that a thread keeps. It is more than the number of elections that share a thread.
const A_FEW: usize = 8;
