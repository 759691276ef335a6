//! Every election of the crate over the same network and the same faults, side by side.
//!
//! ```text
//! $ cargo run --release --example compare
//! $ cargo run --release --example compare -- --case crash --case split --seeds 100
//! $ cargo run --release --example compare -- --overview | --markdown | --json
//! $ cargo run --release --example compare -- --svg compare.svg --page compare.html
//! ```
//!
//! Expected output: a block for each case, a line for each election.
//!
//! Five agents, delays of 1 to 20 ms, each election with its default timings. No agent is told of a crash, so each has
//! to detect it. Virtual time: the same seeds give the same table.
//!
//! `--overview` prints a line for each case instead; the README shows it, with a Raft beside ours.
//!
//! Read on: `contenders.rs` has the elections, `cases.rs` the faults, `watch.rs` the measurements, `meter.rs` the
//! counting of messages. `benches/peers` runs the same with a Raft beside them.

mod cases;
mod chart;
mod contenders;
mod meter;
mod page;
mod report;
mod run;
mod table;
mod watch;

use std::process::ExitCode;

fn main() -> ExitCode {
    run::run(contenders::ALL)
}
