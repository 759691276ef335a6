//! Plays the programs that documents on leader election show, as written, and the same stories by the machine that
//! replaces each program in this crate.
//!
//! `go_main.rs` plays the Go program's `main`, scenario by scenario; `go_faults.rs` its faults, one by one;
//! `go_figures.rs` counts its costs; `database.rs` plays its demo of a database. Other folders have the other programs:
//! `tests/README.md` lists all of them, and `readme.rs` compares the list with the tests.
#![expect(clippy::unwrap_used, reason = "in the helpers of tests")]

mod database;
use crate::support::go;
mod go_faults;
mod go_figures;
pub(crate) mod go_main;
mod kit;
mod readme;
