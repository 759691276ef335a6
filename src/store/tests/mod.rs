//! The parts of a store that need no actor; `tests/store.rs` has the rest.

mod calls;
mod disk;
mod format;
