//! The parts of a store that need no actor; `tests/group/store/` tests stores with agents.

mod calls;
mod format;
