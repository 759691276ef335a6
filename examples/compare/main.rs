//! Every election of the crate over the same network and the same faults, side by side.
//!
//! ```text
//! $ cargo run --release --example compare
//! $ cargo run --release --example compare -- --case crash --case split --seeds 100
//! $ cargo run --release --example compare -- --markdown | --json | --svg compare.svg
//! ```
//!
//! Expected output: a block for each thing that happens, a line for each election.
//!
//! Five agents, delays of 1 to 20 ms, each election with its default timings; nobody is told of
//! a crash, so each has to find out for itself. Virtual time: the same seeds give the same table.
//!
//! Read on: `contenders.rs` is who takes part, `cases.rs` what happens, `watch.rs` what is measured,
//! `meter.rs` how.

mod cases;
mod chart;
mod contenders;
mod meter;
mod report;
mod table;
mod watch;

use std::{
    error::Error,
    fs,
    io::{Write, stdout},
    path::PathBuf,
    process::ExitCode,
};

use cases::Case;
use clap::Parser;
use contenders::{ALL, Entrant};
use report::Row;

/// Every election over the same faults.
#[derive(Debug, Parser)]
#[command(name = "compare")]
struct Args {
    /// How many seeds each line is the median of
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// Only what happens in these cases
    #[arg(long = "case", value_name = "NAME", value_parser = case)]
    cases: Vec<Case>,
    /// Only these elections
    #[arg(long = "protocol", value_name = "NAME", value_parser = entrant)]
    protocols: Vec<&'static str>,
    /// Prints Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Prints JSON
    #[arg(long)]
    json: bool,
    /// Draws the most telling figures into FILE as well
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    match compare(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(wrong) => {
            // Nobody is left to be told if even this fails.
            drop(writeln!(std::io::stderr(), "compare: {wrong}"));
            ExitCode::from(2)
        }
    }
}

fn compare(args: &Args) -> Result<(), Box<dyn Error>> {
    let rows = rows(args);
    let text = match (args.markdown, args.json) {
        (true, _) => table::markdown(&rows),
        (_, true) => report::json(&rows)?,
        _ => table::text(&rows),
    };
    if let Some(file) = &args.svg {
        let drawn = fs::write(file, chart::svg(&rows));
        drawn.map_err(|wrong| format!("{}: {wrong}", file.display()))?;
    }
    write!(stdout().lock(), "{text}")?;
    Ok(())
}

fn rows(args: &Args) -> Vec<Row> {
    let chosen = |one: &&Case| args.cases.is_empty() || args.cases.contains(*one);
    let takes_part =
        |one: &&Entrant| args.protocols.is_empty() || args.protocols.contains(&one.name);
    let mut rows = Vec::new();
    for case in Case::ALL.iter().filter(chosen) {
        for entrant in ALL.iter().filter(takes_part) {
            let measures = (0..args.seeds).map(|seed| (entrant.run)(*case, seed));
            rows.push(Row::of(*case, entrant, &measures.collect::<Vec<_>>()));
        }
    }
    rows
}

fn case(name: &str) -> Result<Case, String> {
    let found = Case::ALL.into_iter().find(|case| case.name() == name);
    found.ok_or_else(|| {
        let names: Vec<_> = Case::ALL.into_iter().map(Case::name).collect();
        format!("there is {}", names.join(", "))
    })
}

fn entrant(name: &str) -> Result<&'static str, String> {
    let found = ALL.iter().find(|entrant| entrant.name == name);
    found.map(|entrant| entrant.name).ok_or_else(|| {
        let names: Vec<_> = ALL.iter().map(|entrant| entrant.name).collect();
        format!("there is {}", names.join(", "))
    })
}
