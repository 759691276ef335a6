//! What the cells that threads share are made of.
//!
//! Named in one place, so that a checker of interleavings can put its own in their stead: the
//! package `tests/heavy` compiles `tenure.rs`, `leads.rs`, `news.rs` and `status.rs` once more,
//! with a `sync` of loom's.

pub(super) use std::sync::{
    Mutex, MutexGuard, OnceLock, PoisonError,
    atomic::{AtomicU64, Ordering},
};

pub(super) use tokio::sync::watch;
