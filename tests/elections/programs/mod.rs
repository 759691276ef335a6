//! The programs that the documents on leader election show, run as they are written, and beside
//! each the same story by the machine that took its place here.
//!
//! `go_main.rs` is the Go program's `main`, scenario by scenario; `go_faults.rs` its faults one by
//! one; `go_figures.rs` what it is said to cost; `database.rs` its demo of a database. The other
//! programs have places of their own: the list of all is in `tests/README.md`, and `readme.rs` holds
//! it to the tests.
#![expect(clippy::unwrap_used, reason = "in the helpers of tests")]

mod database;
use crate::support::go;
mod go_faults;
mod go_figures;
pub(crate) mod go_main;
mod kit;
mod readme;
