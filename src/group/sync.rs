//! What the cells that threads share are made of, as in the agent: a checker of interleavings puts
//! its own in their stead (`tests/heavy/cells`).

pub(super) use std::sync::atomic::{AtomicBool, Ordering};
