//! The atomics that threads share, named in one place, so that a checker of interleavings can replace them by its own
//! types (`tests/heavy/cells`).

pub(super) use std::sync::atomic::{AtomicBool, Ordering};
