//! Measures the host of a node before the node runs.
//!
//! Decided here: the words of the answer, and the advice: the fastest timings that tolerate twice the measured times,
//! because load may grow. Not here: the measurements and their bounds ([`actix_bully::config::preflight`]).

use std::{fmt::Write, time::Duration};

use actix_bully::config::{
    Preflight,
    preflight::{PreflightCheck, PreflightFinding},
};
use tokio::runtime::Builder;

use crate::{args, config, failure::Failure, show};

/// Measures the host. Returns the text to print, and whether the results allow an election.
pub(crate) fn run(preflight: &args::Preflight, is_json: bool) -> Result<(String, bool), Failure> {
    let config = config::load(&preflight.config, preflight.env.as_deref())?;
    let refused = |error| config::refused(&preflight.config, error);
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(Failure::Runtime)?;
    let measured = runtime.block_on(config.preflight(preflight.seconds));
    // This shutdown does not wait for a name that is still being resolved.
    runtime.shutdown_background();
    let found = measured.map_err(refused)?;
    let text = if is_json {
        show::json(&found)
    } else {
        said(&found)
    };
    Ok((text, found.is_ok()))
}

fn said(found: &Preflight) -> String {
    let mut text = show::columns(
        ["CHECK", "MEASURED", "BELOW", ""],
        found.checks.iter().map(row),
    );
    let verdict = if found.is_ok() {
        "the timings of the configuration fit this place"
    } else {
        "this place does not fit the timings of the configuration"
    };
    let advice = found.fits.map_or_else(
        || {
            "no preset has twice this room: measure again with more seconds, or find out what is slow"
                .to_owned()
        },
        |preset| format!("the fastest preset that has twice this room is \"{preset}\""),
    );
    let is_unknown =
        |check: &PreflightCheck| matches!(check.found, PreflightFinding::Unknown { .. });
    let left_out = if found.checks.iter().any(is_unknown) {
        "; this leaves out the parts that were not measured"
    } else {
        ""
    };
    writeln!(text, "\n{verdict}; {advice}{left_out}").ok();
    text
}

fn row(check: &PreflightCheck) -> [String; 4] {
    let part = match &check.node {
        Some(node) => format!("{} {node}", check.part),
        None => check.part.to_string(),
    };
    let none = || "-".to_owned();
    match &check.found {
        PreflightFinding::Measured { figure, bound } => {
            let verdict = if check.found.is_ok() {
                "ok"
            } else {
                "too slow"
            };
            [part, millis(*figure), millis(*bound), verdict.to_owned()]
        }
        PreflightFinding::Fails { reason } => {
            [part, none(), none(), format!("does not work: {reason}")]
        }
        PreflightFinding::Unknown { reason } => {
            [part, none(), none(), format!("not measured: {reason}")]
        }
        _ => [part, none(), none(), String::new()],
    }
}

fn millis(span: Duration) -> String {
    format!("{:.1} ms", span.as_secs_f64() * 1_000.0)
}
