//! The comparison of `examples/compare`, with a Raft beside the elections of the crate.
//!
//! ```text
//! $ cargo run --release --manifest-path benches/peers/Cargo.toml --bin compare -- --case crash
//! ```
//!
//! The same network, faults and measures, and the same driver. This program prints the tables of the README's section
//! "Every election, side by side".

#[path = "../../examples/compare/cases.rs"]
mod cases;
#[path = "../../examples/compare/chart.rs"]
mod chart;
#[path = "../../examples/compare/contenders.rs"]
mod contenders;
#[path = "../../examples/compare/meter.rs"]
mod meter;
#[path = "../../examples/compare/page.rs"]
mod page;
mod raft_election;
#[path = "../../examples/compare/report.rs"]
mod report;
#[path = "../../examples/compare/run.rs"]
mod run;
#[path = "../../examples/compare/table.rs"]
mod table;
#[path = "../../examples/compare/watch.rs"]
mod watch;

use std::process::ExitCode;

use contenders::{ALL, Entrant};
use raft_election::Raft;

fn main() -> ExitCode {
    let raft = Entrant::of::<Raft>("raft", "raft 0.7", "one leader per term");
    let all: Vec<Entrant> = ALL.iter().copied().chain([raft]).collect();
    run::run(&all)
}
