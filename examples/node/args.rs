//! The arguments of the command line.

use std::{path::PathBuf, time::Duration};

use actix_bully::protocol::Timings;
use clap::{Parser, ValueEnum, value_parser};

/// One process of a cluster: it elects a leader together with its peers on other hosts.
#[derive(Clone, Debug, Parser)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
#[command(
    name = "node",
    after_help = "Ctrl-C and SIGTERM hand the leadership over, then leave."
)]
pub(crate) struct Args {
    /// The name of this node and of its agent
    #[arg(long)]
    pub(crate) name: String,
    /// The score of the agent; the agent with the highest score leads
    #[arg(
        long,
        default_value_t = 0,
        value_name = "N",
        allow_negative_numbers = true
    )]
    pub(crate) score: i64,
    /// The node votes and answers, but is never elected
    #[arg(long)]
    pub(crate) witness: bool,
    /// Address on which the node listens; an address other than loopback needs --tls or --dangerous-plaintext
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDRESS")]
    pub(crate) listen: String,
    /// Another node with its address; given once for each
    #[arg(long = "peer", value_name = "NAME=HOST:PORT", value_parser = peer)]
    pub(crate) peers: Vec<(String, String)>,
    /// Name of the deployment: nodes of another deployment are refused
    #[arg(long, default_value = "demo", value_name = "NAME")]
    pub(crate) cluster: String,
    /// Never two leaders: all voters by name, the same at every node; needs --store or --diskless
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "memory")]
    pub(crate) quorum: Vec<String>,
    /// The folder of the file with the node's vote
    #[arg(long, value_name = "DIR", group = "memory")]
    pub(crate) store: Option<PathBuf>,
    /// No voter has a disk: each start waits, and prints the longest time. The same at every node
    #[arg(long, requires = "quorum", group = "memory")]
    pub(crate) diskless: bool,
    /// Creates the file of the vote: this node has never voted. Given once for each node
    #[arg(long, requires = "store")]
    pub(crate) init: bool,
    /// The node need not be in --quorum: it only follows until it is added as a voter while the group runs
    #[arg(long, requires = "quorum")]
    pub(crate) learner: bool,
    /// Preset of the timings; the same at every node
    #[arg(long, value_enum, default_value_t)]
    pub(crate) timings: Preset,
    /// Time for which a live leader stays after a node of higher rank is there, in milliseconds [default: 0; with
    /// --quorum 10000]
    #[arg(long, value_name = "MS")]
    pub(crate) preempt_after: Option<u64>,
    /// Restarts the agent after up to a thousand panics an hour, not just five in half a minute
    #[arg(long)]
    pub(crate) forgiving: bool,
    /// The folder with ca.pem, NAME.pem and NAME.key
    #[cfg(feature = "tls")]
    #[arg(long, value_name = "DIR")]
    pub(crate) tls: Option<PathBuf>,
    /// The file with the secret that all nodes share: no node without it is linked
    #[cfg(feature = "secret")]
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: Option<PathBuf>,
    /// Starts a sentinel: if this process is killed, the others know at once. Needs --tls or --secret-file
    #[cfg(feature = "sentinel")]
    #[arg(long)]
    pub(crate) sentinel: bool,
    /// Sends plain text, which any host in the network can read
    #[arg(long)]
    pub(crate) dangerous_plaintext: bool,
    /// Prints a JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
    /// Interval at which a leader prints that it leads, in milliseconds
    #[arg(long, value_name = "MS", value_parser = value_parser!(u64).range(1..))]
    pub(crate) pulse: Option<u64>,
    /// Reads from standard input: score N | withdraw | campaign | step-down [NAME] | why |
    /// voters | add-voter NAME [NODE ADDRESS] | remove-voter NAME |
    /// replace-voter OLD NAME [NODE ADDRESS] | add-peer NODE ADDRESS |
    /// remove-peer NODE | panic | leave
    #[arg(long)]
    pub(crate) commands: bool,
}

/// The presets of [`Timings`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// Most networks
    #[default]
    Default,
    /// One data centre
    Lan,
    /// One rack
    Fast,
    /// Across regions
    Wan,
}

impl Preset {
    pub(crate) fn timings(self) -> Timings {
        match self {
            Self::Default => Timings::default(),
            Self::Lan => Timings::lan(),
            Self::Fast => Timings::fast(),
            Self::Wan => Timings::wan(),
        }
    }
}

impl Args {
    pub(crate) fn pulse(&self) -> Option<Duration> {
        self.pulse.map(Duration::from_millis)
    }
}

fn peer(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, address)) if !name.is_empty() && !address.is_empty() => {
            Ok((name.to_owned(), address.to_owned()))
        }
        _ => Err(String::from("say it like --peer b=192.0.2.7:7400")),
    }
}
