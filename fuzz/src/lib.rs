//! What is thrown at `actix-bully`, and what must hold whatever it is.
//!
//! Each module is one target: `check` takes any bytes and panics if something is wrong. The
//! programs in `fuzz_targets/` let libFuzzer choose the bytes; `tests/replay.rs` gives those in
//! `corpus/` once more, on a small stack. A new target is a module here, a program there, a
//! `[[bin]]` in `Cargo.toml`, a folder in `corpus/`, and a line in `tests/replay.rs`.
//!
//! `.ci/run fuzz` runs each for 20 s, `.ci/soak fuzz` for as long as you like.

pub mod core;
pub mod frames;
pub mod hello;
pub mod messages;
pub mod recording;
pub mod records;
pub mod tls;

mod again;
mod choices;
mod register;
