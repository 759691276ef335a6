//! The locks and atomics of what threads share.
//!
//! They are named in one place, so that a checker of interleavings can put its own in their stead: the
//! package `tests/heavy` compiles `leadership.rs`, `lead_futures.rs` and `status.rs` once more, with
//! a `sync` of loom's.

pub(super) use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering},
};

pub(super) use tokio::sync::watch;
