//! Tests of the parts of a run that a process cannot show from outside. The others are in `tests/run.rs`.

mod guarded;
mod node;
