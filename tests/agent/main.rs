//! Does the agent obey its machine? The tests check the contract of the driver with a machine that carries out the
//! acts of a test (`toy.rs`), and then with the bully itself, all in virtual time.
//!
//! `stage.rs` sets a scene. Each other file has the tests of one question: the order of effects, the time at which a
//! leadership becomes known, the messages that count, and the steps after a crash.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a scene that cannot be set fails the test"
)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../support/golden.rs"]
mod golden;
#[path = "../common/logging.rs"]
mod logging;
#[cfg(feature = "metrics")]
#[path = "../common/measured.rs"]
mod measured;

mod about;
mod commands;
mod deadline;
mod diagnosis;
mod diskless;
mod draining;
mod effects;
mod events;
mod first_leader;
mod freed;
mod incarnations;
mod lead;
mod leader;
mod leadership;
mod leases;
mod leave;
mod logs;
mod memory;
mod metrics;
mod operate;
mod outside;
mod panics;
mod recorded;
mod records;
mod registers;
mod stage;
mod start;
mod store;
mod strain;
mod supervision;
mod term_store;
mod toy;
mod typed;
mod vacancies;
mod voters;
