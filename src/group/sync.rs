//! The atomics that threads share, as in the agent. A checker of interleavings replaces them by its own types
//! (`tests/heavy/cells`).

pub(super) use std::sync::atomic::{AtomicBool, Ordering};
