//! The locks and atomics of the state that threads share.
//!
//! The types are named in one place, so that a checker of interleavings can replace them: the package `tests/heavy`
//! compiles `leadership.rs`, `lead_futures.rs` and `status.rs` once more, with a `sync` of loom's types.

pub(super) use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering},
};

pub(super) use tokio::sync::watch;
