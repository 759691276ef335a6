//! The output: text for people, or JSON.

use std::{
    error::Error,
    fmt,
    io::{self, Write},
    ops::Range,
};

use bully_sim::sim::{
    Situation,
    chaos::{Coverage, Fault},
};
use clap::ValueEnum;
use serde_json::{Map, Value, json};

use super::{
    args::Args,
    history::{Outcome, Plan, names},
    many::Run,
    summary::{Healing, Summary},
};

/// Prints a line. A reader such as `head` may have gone; that is not a failure.
macro_rules! line {
    ($($text:tt)*) => {
        writeln!(io::stdout(), $($text)*).unwrap_or_default()
    };
}

/// Prints one history.
pub(crate) fn history(plan: &Plan, outcome: &Outcome, as_json: bool) {
    let report = &outcome.report;
    if as_json {
        line!("{}", history_as_json(plan, outcome));
        return;
    }
    line!("{}", report.trace.to_text().trim_end());
    line!("{report}");
    if report.violation.is_some() {
        line!("{plan}");
    }
}

/// Prints the summary of many histories.
pub(crate) fn summary(args: &Args, seeds: &Range<u64>, run: &Run) {
    if args.json {
        line!("{}", summary_as_json(args, seeds, run));
        return;
    }
    let (summary, faults) = (&run.summary, &args.faults());
    let group = args.nodes.map_or_else(
        || String::from("1, 2, 3, 5 or 7 agents"),
        |nodes| format!("{nodes} agents"),
    );
    line!(
        "Seeds {}..{} of the {} election: {group}; faults: {}{}.\n",
        seeds.start,
        seeds.end,
        protocol(args),
        args.faults_in_words(),
        args.bounded_in_words()
    );
    row("histories", summary.histories);
    row("virtual hours", tenths(hours(summary)));
    row("seeds per second and core", run.rate());
    row("messages", summary.messages);
    if summary.elections > 0 {
        row("leaderships", summary.elections);
    }
    row("histories with two leaders", summary.contested);
    if let Some((middle, longest)) = summary.gap() {
        row("changes of the voters", summary.changes);
        row(
            "  without a leader, p50",
            format_args!("{} ms", middle.as_millis()),
        );
        row("  and at most", format_args!("{} ms", longest.as_millis()));
    }
    if let Some(Healing { took, bound, .. }) = &summary.slowest {
        let (took, bound) = (took.as_millis(), bound.as_millis());
        row("slowest healing", format_args!("{took} ms"));
        row("  of at most", format_args!("{bound} ms"));
    }
    row("violations", summary.violations);
    if args.hash {
        row("trace hash", format_args!("{:016x}", summary.hash));
    }
    coverage(&summary.coverage, faults);
    broken(summary);
    let missing = summary.missing(faults);
    if !missing.is_empty() {
        line!("\nNever happened: {}.", names(&missing));
    }
    for (fault, situation) in summary.unmet(args.protocol, faults) {
        line!("Never met a {situation}: {fault}.");
    }
}

/// Prints the error of a command.
#[expect(clippy::print_stderr, reason = "errors go to standard error")]
pub(crate) fn error(wrong: &dyn Error) {
    eprintln!("error: {wrong}");
}

fn row(name: &str, value: impl fmt::Display) {
    line!("{name:<28}{:>16}", value.to_string());
}

fn coverage(coverage: &Coverage, faults: &[Fault]) {
    if faults.is_empty() {
        return;
    }
    line!("\n{:<28}{:>16}", "FAULT", "HAPPENED");
    for fault in faults {
        row(&fault.to_string(), coverage.of(*fault));
    }
}

fn broken(summary: &Summary) {
    for broken in summary.shown.values() {
        line!("\n{}\n{}", broken.what, broken.again);
    }
    let more = summary.violations.saturating_sub(shown(summary));
    if more > 0 {
        line!("\nAnd {more} more.");
    }
}

fn shown(summary: &Summary) -> u64 {
    summary.shown.len().try_into().unwrap_or(u64::MAX)
}

fn protocol(args: &Args) -> String {
    let value = args.protocol.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Returns the virtual time in tenths of hours.
fn hours(summary: &Summary) -> u128 {
    summary.nanos / 360_000_000_000
}

fn tenths(tenths: u128) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn counts(coverage: &Coverage) -> Value {
    let counts = coverage.iter();
    let counts: Map<String, Value> = counts
        .map(|(fault, count)| (fault.hyphenated(), count.into()))
        .collect();
    counts.into()
}

/// Returns how often each fault met agents in each situation.
fn situations(coverage: &Coverage) -> Value {
    let of = |fault| {
        let all = Situation::ALL.into_iter();
        let met = all.map(|situation| (situation.to_string(), coverage.met(fault, situation)));
        let met = met.filter(|(_, count)| *count > 0);
        met.map(|(name, count)| (name, count.into()))
            .collect::<Map<String, Value>>()
    };
    let all = Fault::ALL.into_iter();
    let all: Map<String, Value> = all
        .map(|fault| (fault.hyphenated(), of(fault).into()))
        .collect();
    all.into()
}

fn history_as_json(plan: &Plan, outcome: &Outcome) -> Value {
    let report = &outcome.report;
    json!({
        "type": "history",
        "seed": plan.seed,
        "nodes": plan.nodes,
        "again": plan.to_string(),
        "violation": report.violation.as_ref().map(ToString::to_string),
        "leader": report.leader.as_ref().map(ToString::to_string),
        "settled_us": micros(report.settled_after),
        "bound_us": micros(outcome.bound),
        "ended_us": report.ended.as_nanos() / 1_000,
        "steps": report.steps,
        "messages": report.tally.sent,
        "faults": counts(&report.coverage),
        "recording": plan.recording(outcome).to_jsonl().lines().filter_map(read).collect::<Vec<_>>(),
    })
}

/// Returns a line of a recording as a value.
fn read(line: &str) -> Option<Value> {
    serde_json::from_str(line).ok()
}

fn summary_as_json(args: &Args, seeds: &Range<u64>, run: &Run) -> Value {
    let summary = &run.summary;
    let slowest = summary.slowest.map(|healing| {
        json!({
            "seed": healing.seed(),
            "took_us": micros(healing.took),
            "bound_us": micros(healing.bound),
            "percent": small(healing.percent()),
        })
    });
    let broken = summary.shown.iter();
    let broken: Vec<Value> = broken
        .map(|(seed, b)| json!({ "seed": seed, "what": b.what, "again": b.again }))
        .collect();
    json!({
        "type": "summary",
        "protocol": protocol(args),
        "seeds": [seeds.start, seeds.end],
        "histories": summary.histories,
        "virtual_s": small(summary.nanos / 1_000_000_000),
        "seeds_per_second_and_core": small(run.rate()),
        "threads": run.threads,
        "steps": summary.steps,
        "messages": summary.messages,
        "leaderships": summary.elections,
        "changes": summary.changes,
        "change_gap_us": summary.gap().map(|(middle, longest)| json!({
            "p50": micros(middle),
            "max": micros(longest),
        })),
        "relapses": summary.relapses,
        "contested": summary.contested,
        "longest_contest_us": micros(summary.longest_contest),
        "slowest_healing": slowest,
        "violations": summary.violations,
        "broken": broken,
        "faults": counts(&summary.coverage),
        "situations": situations(&summary.coverage),
        "hash": args.hash.then(|| format!("{:016x}", summary.hash)),
    })
}

fn micros(span: std::time::Duration) -> u64 {
    small(span.as_micros())
}

fn small(number: u128) -> u64 {
    number.try_into().unwrap_or(u64::MAX)
}
