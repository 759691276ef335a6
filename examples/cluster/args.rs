//! The arguments of the command line.

use std::{path::PathBuf, time::Duration};

use bully_core::record::{Header, read_span};
use bully_sim::trace::Trace;
use clap::{Parser, value_parser};

use crate::protocol::Protocol;

/// Agents that elect a leader while one event after the other happens to them.
#[derive(Debug, Parser)]
#[command(name = "cluster", after_help = "Without arguments it tells a story.")]
pub(crate) struct Args {
    /// Number of agents: agent-1 to agent-N, the score of each is its number
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = value_parser!(u32).range(1..=1000))]
    pub(crate) agents: u32,
    /// The election
    #[arg(long, value_enum, default_value_t)]
    pub(crate) protocol: Protocol,
    /// Begins the random numbers: the delays of messages, the jitter of time-outs
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) seed: u64,
    /// Runs these commands instead of the story; `help` lists them
    #[arg(long, value_name = "COMMANDS", conflicts_with = "interactive")]
    pub(crate) script: Option<String>,
    /// Reads commands from standard input until its end, or `quit`
    #[arg(long)]
    pub(crate) interactive: bool,
    /// Prints the recording of the run as it goes, a JSON object per line, and tables as such objects
    #[arg(long)]
    pub(crate) json: bool,
    /// Writes the run as a recording, which `--replay` and `--show` read
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Gives the commands of a recording again, and checks that the result is the same
    #[arg(long, value_name = "FILE", conflicts_with_all = ["script", "interactive", "agents", "protocol", "seed", "real_time"])]
    pub(crate) replay: Option<PathBuf>,
    /// Prints a recording, including one of `simulate`, and runs nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["script", "interactive", "agents", "protocol", "seed", "real_time", "replay"])]
    pub(crate) show: Option<PathBuf>,
    /// Writes the run as a Mermaid sequence diagram; into a block if FILE ends with .md
    #[arg(long, value_name = "FILE")]
    pub(crate) mermaid: Option<PathBuf>,
    /// Draws a moment of the run as SVG
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// The moment that `--svg` draws, counted from the beginning, such as `120ms` [default: the end]
    #[arg(long, value_name = "TIME", value_parser = read_span, requires = "svg")]
    pub(crate) at: Option<Duration>,
    /// Writes the commands of the run, for `--script`
    #[arg(long, value_name = "FILE")]
    pub(crate) commands: Option<PathBuf>,
    /// Writes a test in Rust that repeats the run
    #[arg(long, value_name = "FILE")]
    pub(crate) rust_test: Option<PathBuf>,
    /// Lets time pass in real time, instead of skipping the waits
    #[arg(long)]
    pub(crate) real_time: bool,
    /// The beginning of the run that is repeated.
    #[arg(skip)]
    pub(crate) header: Option<Header>,
    /// The trace of the run that is repeated: it keeps the same messages as the recording.
    #[arg(skip)]
    pub(crate) trace: Option<Trace>,
}
