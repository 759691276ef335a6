//! A node whose operator writes a file: from the file to a running agent, and to an orderly end.
//!
//! ```text
//! $ cargo run --example configured -- examples/configured/jobs.toml --check
//! ```
//!
//! Expected output: `examples/expected/configured.txt`, the result of the file and the environment (`JOBS_SCORE=7`).
//! Without `--check` the node runs until SIGTERM or Ctrl-C, and hands over before it ends.
//!
//! Try next: the three nodes of `examples/README.md`, and the end of the leading node; a key with a spelling mistake;
//! `src/config/every_key.toml`, which has every key.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example shows what it does"
)]

use std::{env, error::Error, io, process::ExitCode, time::Duration};

use actix::System;
use actix_bully::{agent::BullyHandle, config::Config};
use futures::StreamExt;

/// Longest time for a hand-over, leaving and a goodbye. A service manager has to wait for longer.
const LEAVING: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let Some(path) = arguments.next() else {
        eprintln!("configured: name a file, such as examples/configured/jobs.toml");
        return ExitCode::from(2);
    };
    let done = match arguments.next().as_deref() {
        Some("--check") => check(&path),
        _ => System::new().block_on(run(&path)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(wrong) => {
            eprintln!("configured: {wrong}");
            ExitCode::from(2)
        }
    }
}

fn check(path: &str) -> Result<(), Box<dyn Error>> {
    let config = Config::load(path, "JOBS")?;
    println!("{}", serde_json::to_string_pretty(&config)?);
    Ok(())
}

async fn run(path: &str) -> Result<(), Box<dyn Error>> {
    // The library reports and warns by `tracing`: without this line its messages are lost.
    tracing_subscriber::fmt().with_writer(io::stderr).init();
    let running = Config::load(path, "JOBS")?.start()?;
    // From here on a signal ends the future `leaving`, and not the process.
    let leaving = running.leave_on_signals(LEAVING);
    actix::spawn(tell(running.agent().clone()));
    leaving.await?;
    println!("{} has left", running.agent().id());
    Ok(())
}

/// Prints each change of the leader.
async fn tell(agent: BullyHandle) {
    let mut known = None;
    let mut changes = agent.changes();
    while let Some(status) = changes.next().await {
        if status.leader == known {
            continue;
        }
        match &status.leader {
            Some(leader) => println!("{} leads in term {}", leader.id, leader.term),
            None => println!("no leader is known"),
        }
        known = status.leader;
    }
}
