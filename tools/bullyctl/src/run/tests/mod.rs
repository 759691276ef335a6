//! Tests of the parts of a run that a process cannot show from outside. The others are in `tests/run.rs`.
#![expect(
    clippy::unwrap_used,
    reason = "a scene that cannot be set fails the test"
)]

mod guarded;
