//! The atomics that threads share, as in the agent: a checker of interleavings puts its own in their
//! stead (`tests/heavy/cells`).

pub(super) use std::sync::atomic::{AtomicBool, Ordering};
