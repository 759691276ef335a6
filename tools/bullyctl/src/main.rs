//! `bullyctl`: shows and commands a running node of actix-bully.
//!
//! ```text
//!   bullyctl --socket /run/orders/bully.sock status
//!   bullyctl --url http://127.0.0.1:8080 --token-file token transfer --to api-2
//!   bullyctl preflight --config /etc/jobs.toml
//!   bullyctl run --config /etc/jobs.toml -- /usr/bin/report --all
//! ```
//!
//! Decided here: the exit codes (`failure.rs` has the table), and that the answer goes to the standard output, as a
//! table for people or as JSON for programs. Not here: the arguments (`args.rs`), how a node is reached (`node/`), the
//! form of an answer (`show/`), the check of a host before its node runs (`preflight.rs`), a command that runs while
//! its host leads (`run/`).

mod args;
mod config;
mod failure;
#[cfg(test)]
mod fixture;
mod node;
mod preflight;
mod record;
mod run;
mod show;
mod watch;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use actix_bully::operate::OutcomeVerdict;
use bully_core::record::BoundedText;
use clap::Parser;
use serde::Serialize;
use serde_json::json;

use args::{Args, Task};
use failure::Failure;
use node::Node;

fn main() -> ExitCode {
    let args = Args::parse();
    let is_json = args.json;
    match run(&args) {
        Ok(code) => code,
        // The reader has closed the output, because it needs no more of it.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(failure) => {
            let told = if is_json {
                let error = json!({ "kind": failure.kind(), "message": failure.to_string() });
                print(&show::json(&json!({ "error": error })))
            } else {
                writeln!(io::stderr().lock(), "bullyctl: {failure}").map_err(Failure::Output)
            };
            // If printing this line fails as well, there is no other place for it.
            drop(told);
            failure.code()
        }
    }
}

fn run(args: &Args) -> Result<ExitCode, Failure> {
    match &args.task {
        Task::Preflight(preflight) => measure(preflight, args),
        Task::Run(_) if args.url.is_some() => {
            Err(Failure::Usage("a run asks no node: leave --url out"))
        }
        Task::Run(run) => run::run(run, args.socket.as_deref(), args.json),
        #[cfg(target_os = "linux")]
        Task::RunGuard(guard) => Ok(run::guard(guard)),
        #[cfg(target_os = "linux")]
        Task::RunCommand(command) => Ok(run::command(command)),
        _ => ask(args),
    }
}

/// Asks or commands a node.
fn ask(args: &Args) -> Result<ExitCode, Failure> {
    let node = Node::new(args)?;
    match &args.task {
        // `run` has handled these tasks: they ask no node.
        Task::Preflight(_) | Task::Run(_) => {}
        #[cfg(target_os = "linux")]
        Task::RunGuard(_) | Task::RunCommand(_) => {}
        Task::Status => {
            let report = node.report()?;
            tell(args, &report, || show::status(&report))?;
        }
        Task::Diagnosis => {
            let agents = node.diagnosis()?;
            tell(args, &agents, || show::diagnosis(&agents))?;
        }
        Task::History(history) => {
            let groups = node.history()?;
            tell(args, &groups, || show::history(&groups, history.last))?;
        }
        Task::Watch(watch) => watch::watch(&node, watch, args.json)?,
        Task::Record(record) => print(&record::run(&node, &record.action, args.json)?)?,
        Task::Transfer(_)
        | Task::Drain(_)
        | Task::Score(_)
        | Task::Voters(_)
        | Task::Schedules(_) => {
            if let Some(order) = args.task.order() {
                let outcome = node.order(&order)?;
                tell(args, &show::Told::from(&outcome), || format!("{outcome}\n"))?;
                return Ok(match outcome.verdict() {
                    OutcomeVerdict::Done => ExitCode::SUCCESS,
                    OutcomeVerdict::Late => ExitCode::from(failure::LATE),
                    _ => ExitCode::from(failure::REFUSED),
                });
            }
            let report = node.report()?;
            if matches!(args.task, Task::Schedules(_)) {
                tell(args, &show::listed(&report), || show::schedules(&report))?;
            } else {
                tell(args, &show::electorates(&report), || show::voters(&report))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn measure(preflight: &args::Preflight, args: &Args) -> Result<ExitCode, Failure> {
    if args.socket.is_some() || args.url.is_some() {
        return Err(Failure::Usage(
            "a preflight asks no node: leave --socket and --url out",
        ));
    }
    let (text, is_ok) = preflight::run(preflight, args.json)?;
    print(&text)?;
    Ok(if is_ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(failure::REFUSED)
    })
}

/// Prints an answer: as JSON, or as text.
fn tell(
    args: &Args,
    answer: &impl Serialize,
    text: impl FnOnce() -> String,
) -> Result<(), Failure> {
    print(&if args.json {
        show::json(answer)
    } else {
        text()
    })
}

fn print(text: &str) -> Result<(), Failure> {
    let mut bounded = BoundedText::new(MOST_PRINTED);
    if bounded.push(text).is_err() {
        return Err(Failure::Usage(
            "the answer exceeds 64 MiB: ask the node by its routes",
        ));
    }
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(Failure::Output)
}

/// Longest output in bytes: several times the longest answer that is read.
const MOST_PRINTED: usize = 64 << 20;
