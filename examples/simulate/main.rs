//! Thousands of elections with all kinds of faults, and one of them to look at.
//!
//! ```text
//! $ cargo run --release --example simulate -- --seed 8731
//! ```
//!
//! Expected output: the messages and actions of every agent, until all follow one leader again.
//!
//! A history is 20 s of virtual time with all kinds of faults, which the seed decides. Then everything is healed, and
//! all must agree within a bound that follows from the timings. The same seed gives the same history, on every machine.
//! Try next:
//!
//! ```text
//! $ cargo run --release --example simulate -- --seeds 0..5000
//! $ cargo run --release --example simulate -- --seeds 0..5000 --protocol quorum --nodes 5
//! $ cargo run --release --example simulate -- --seeds 0..5000 --protocol ring
//! $ cargo run --release --example simulate -- --seed 8731 --nodes 3 --faults crash,restart,split
//! $ cargo run --release --example simulate -- --seed 8731 --seconds 2 --mermaid history.md
//! $ cargo run --release --example simulate -- --seed 8731 --record history.jsonl
//! ```
//!
//! Read on: `history.rs` is one history, `many.rs` runs many, `summary.rs` adds them up.

mod args;
mod history;
mod many;
mod screen;
mod summary;

use std::{error::Error, fs, path::Path, process::ExitCode};

use args::Args;
use bully_sim::trace::Trace;
use clap::Parser;

fn main() -> ExitCode {
    let args = Args::parse();
    let kept = match &args.seeds {
        Some(seeds) => Ok(many(&args, &seeds.0)),
        None => one(&args),
    };
    match kept {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(wrong) => {
            screen::error(&*wrong);
            ExitCode::from(2)
        }
    }
}

/// Shows one history; returns whether every promise was kept.
fn one(args: &Args) -> Result<bool, Box<dyn Error>> {
    let plan = args.plan(args.seed.unwrap_or(1));
    let outcome = plan.run(Trace::new())?;
    screen::history(&plan, &outcome, args.json);
    if let Some(file) = &args.mermaid {
        draw(file, &outcome.report.trace)?;
    }
    if let Some(file) = &args.record {
        let recording = plan.recording(&outcome);
        fs::write(file, recording.to_jsonl())
            .map_err(|wrong| format!("{}: {wrong}", file.display()))?;
    }
    Ok(outcome.report.violation.is_none())
}

/// Runs many; returns whether every promise was kept and every kind of fault happened.
fn many(args: &Args, seeds: &std::ops::Range<u64>) -> bool {
    let run = many::run(args, seeds);
    screen::summary(args, seeds, &run);
    let summary = &run.summary;
    let faults = args.faults();
    let missing = summary.missing(&faults);
    let unmet = summary.unmet(args.protocol, &faults);
    summary.violations == 0 && missing.is_empty() && unmet.is_empty()
}

fn draw(file: &Path, trace: &Trace) -> Result<(), Box<dyn Error>> {
    let mut diagram = trace.to_mermaid();
    if file.extension().is_some_and(|extension| extension == "md") {
        diagram = format!("```mermaid\n{diagram}```\n");
    }
    fs::write(file, diagram).map_err(|wrong| format!("{}: {wrong}", file.display()).into())
}
