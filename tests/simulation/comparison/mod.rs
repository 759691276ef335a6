//! The comparison of the elections: it prints and draws the measured figures, and its page shows them.
//!
//! The program itself is `examples/compare`; this test compiles its parts.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test fails by a panic")]

#[path = "../../../examples/compare/cases.rs"]
mod cases;
#[path = "../../../examples/compare/chart.rs"]
mod chart;
#[path = "../../../examples/compare/contenders.rs"]
mod contenders;
#[path = "../../../examples/compare/meter.rs"]
mod meter;
mod output;
#[path = "../../../examples/compare/page.rs"]
mod page;
mod readme;
#[path = "../../../examples/compare/report.rs"]
mod report;
#[path = "../../../examples/compare/run.rs"]
#[expect(dead_code, reason = "the test does not run `main`")]
mod run;
#[path = "../../../examples/compare/table.rs"]
mod table;
#[path = "../../../examples/compare/watch.rs"]
mod watch;

use cases::Case;
use clap::Parser;
use contenders::ALL;
use run::Args;

fn args(args: &[&str]) -> Args {
    Args::try_parse_from(["compare"].iter().chain(args)).unwrap()
}

/// Returns the text that the program prints with these arguments.
fn printed(words: &[&str]) -> String {
    run::compare(&args(words), ALL).unwrap()
}

#[test]
fn the_same_seed_gives_the_same_figures() {
    for entrant in ALL {
        let first = (entrant.run)(Case::Random, 7);
        assert_eq!((entrant.run)(Case::Random, 7), first, "{}", entrant.name);
        let another = (entrant.run)(Case::Random, 8);
        assert_ne!(another, first, "{}", entrant.name);
    }
}
