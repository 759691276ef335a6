//! The parts of a store that need no actor; `tests/group/store/` has the rest.

mod calls;
mod disk;
mod format;
