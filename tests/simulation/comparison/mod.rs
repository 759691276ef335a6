//! The comparison of the elections: it shows the promise of each election, and it prints and draws the measured
//! figures.
//!
//! The program itself is `examples/compare`; this test compiles its parts.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by a panic"
)]

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
mod promises;
mod readme;
#[path = "../../../examples/compare/report.rs"]
mod report;
#[path = "../../../examples/compare/run.rs"]
#[expect(dead_code, reason = "the test does not run `main`")]
mod run;
mod svg;
#[path = "../../../examples/compare/table.rs"]
mod table;
#[path = "../../../examples/compare/watch.rs"]
mod watch;

use std::{collections::BTreeMap, sync::LazyLock, thread};

use cases::Case;
use clap::Parser;
use contenders::{ALL, Entrant};
use report::Row;
use run::Args;
use watch::Measure;

const SEEDS: u64 = 3;

type Key = (&'static str, &'static str);

/// Measures of every case with every election, seed by seed; measured once for all tests.
static MEASURED: LazyLock<BTreeMap<Key, Vec<Measure>>> = LazyLock::new(|| {
    let of = |entrant: &'static Entrant| {
        Case::ALL.map(|case| {
            let measures = (0..SEEDS).map(|seed| (entrant.run)(case, seed));
            ((entrant.name, case.name()), measures.collect())
        })
    };
    thread::scope(|threads| {
        let all: Vec<_> = ALL
            .iter()
            .map(|one| threads.spawn(move || of(one)))
            .collect();
        all.into_iter()
            .flat_map(|one| one.join().unwrap())
            .collect()
    })
});

fn measures(protocol: &'static str, case: Case) -> &'static [Measure] {
    &MEASURED[&(protocol, case.name())]
}

/// The rows of every case and election, with one seed.
static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| run::rows(&args(&["--seeds", "1"]), ALL));

fn args(args: &[&str]) -> Args {
    Args::try_parse_from(["compare"].iter().chain(args)).unwrap()
}

/// Returns the text that the program prints with these arguments.
fn printed(words: &[&str]) -> String {
    run::compare(&args(words), ALL).unwrap()
}

/// Returns the text that the program prints of [`ROWS`] with these arguments.
fn told(words: &[&str]) -> String {
    run::told(&args(words), &ROWS).unwrap()
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
