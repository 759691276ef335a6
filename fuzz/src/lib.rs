//! The fuzz targets of `actix-bully`, and the properties that hold for any input.
//!
//! Each module is one target: `check` takes any bytes and panics if a property does not hold. In the programs of
//! `fuzz_targets/` libFuzzer chooses the bytes; `tests/replay.rs` replays the files in `corpus/` on a small stack. A
//! new target needs a module here, a program there, a `[[bin]]` in `Cargo.toml`, a folder in `corpus/`, and a line in
//! `tests/replay.rs`.
//!
//! `.ci/run fuzz` runs each target for 20 s, `.ci/soak fuzz` for any time.

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
