//! The arguments of the command line.

use std::path::PathBuf;

use clap::{Parser, value_parser};

use crate::protocol::Protocol;

/// Agents that elect a leader while one thing after the other happens to them.
#[derive(Debug, Parser)]
#[command(name = "cluster", after_help = "Without arguments it tells a story.")]
pub(crate) struct Args {
    /// How many agents there are: agent-1 to agent-N, the score of each is its number
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = value_parser!(u32).range(1..=1000))]
    pub(crate) agents: u32,
    /// Which election
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
    /// Prints a JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
    /// Writes the run as a Mermaid sequence diagram; into a block if FILE ends with .md
    #[arg(long, value_name = "FILE")]
    pub(crate) mermaid: Option<PathBuf>,
    /// Lets time pass as it does, instead of skipping what is only waited for
    #[arg(long)]
    pub(crate) real_time: bool,
}
