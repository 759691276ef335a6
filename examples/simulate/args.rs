//! The options of the command line.

use std::{ops::Range, path::PathBuf, str::FromStr};

use actix_bully_oracles::BullyScenario;
use bully_sim::sim::chaos::{Fault, UnknownFault};
use clap::{Parser, value_parser};

use super::history::{Plan, Preset, Protocol, names, size};

/// Seeded histories of an election with many faults: the same seed gives the same history.
#[derive(Clone, Debug, Parser)]
#[command(name = "simulate", after_help = HELP)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct Args {
    /// Shows the history of this seed, message by message [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Runs the histories of these seeds, B not included, on all cores
    #[arg(long, value_name = "A..B", conflicts_with = "seed")]
    pub(crate) seeds: Option<Seeds>,
    /// Number of agents at the beginning of a history [default: 1, 2, 3, 5 and 7 take turns]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=100))]
    pub(crate) nodes: Option<u16>,
    /// The election to test
    #[arg(long, value_enum, default_value_t)]
    pub(crate) protocol: Protocol,
    /// The kinds of faults to draw from: all, none, or names; each history takes some of them
    #[arg(long, value_name = "NAMES", default_value = "all")]
    pub(crate) faults: Faults,
    /// Length of the time with faults, in seconds of virtual time
    #[arg(long, value_name = "S", default_value_t = 20)]
    pub(crate) seconds: u32,
    /// Timings of the quorum election
    #[arg(long, value_enum, default_value_t)]
    pub(crate) timings: Preset,
    /// Gives some agents sentinels, which confirm their crashes; other crashes are not reported
    #[arg(long)]
    pub(crate) sentinels: bool,
    /// Bully and astra: draws only faults that keep messages within the delay bound and agents awake,
    /// and accepts two leaders for at most two delays; with --seeds, histories of odd seeds always do
    #[arg(long)]
    pub(crate) bounded: bool,
    /// Prints JSON: a history with its trace, or the summary
    #[arg(long)]
    pub(crate) json: bool,
    /// Writes the history as a Mermaid sequence diagram; into a block if FILE ends with .md
    #[arg(long, value_name = "FILE", conflicts_with = "seeds")]
    pub(crate) mermaid: Option<PathBuf>,
    /// Writes the history as a recording, and marks a broken promise; `cluster --show` reads it
    #[arg(long, value_name = "FILE", conflicts_with = "seeds")]
    pub(crate) record: Option<PathBuf>,
    /// Number of threads; the result does not depend on it [default: one per core]
    #[arg(long, value_name = "N", requires = "seeds", conflicts_with = "seed", value_parser = value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Prints one hash of all histories, to compare builds: over all events with their times and agents, and over each
    /// message's kind and term, not its fields
    #[arg(long, requires = "seeds", conflicts_with = "seed")]
    pub(crate) hash: bool,
}

/// Help text after the options.
const HELP: &str = "\
Checks of a history, after every step unless noted otherwise:
  all             the driver's contract; and the right leader in time once all is healed
  bully, astra    with --bounded, and with --seeds in every history of an odd seed: one leads, or two
                  for two delays at most
  quorum          I1 to I12
  diskless        I1 to I9 without the rules about disks, and I12; the rules about terms hold while a majority of
                  the voters remembers, and in histories of odd seeds for ever
  voters          I1 to I12 over all lists of voters, and OneList, SealedFirst, NoAckAfterSeal, AnswerTrue
  lease           OneBeliever, RisingTerms; the first agent is the register
  ballot          UniqueBallot, RisingTrust, RisingLeadership, DiskFirst, MajorityHeard
  ring            no agent waits for the dead; an election gives way to none but a stronger one
  reorganization  the count is durable; GM1 in every history of an odd seed, which has only the faults
                  that the paper allows
  invitation      within each group all agree; its number is durable, and names one group

Exit code: 0 if every promise was kept, 1 if not (or if some fault never happened), 2 if the command
is invalid.";

impl Args {
    /// Returns the kinds of faults that a history of this run may have.
    pub(crate) fn faults(&self) -> Vec<Fault> {
        let mut faults = self.faults.0.clone();
        if self.bounded && self.protocol.has_bounds() {
            faults.retain(|fault| BullyScenario::BOUNDED.contains(fault));
        }
        faults.retain(|fault| self.protocol.takes(*fault));
        faults
    }

    /// Returns the kinds of faults in words: `all` for every kind that can happen to this election.
    pub(crate) fn faults_in_words(&self) -> String {
        let faults = self.faults();
        let possible = |fault: &Fault| self.protocol.takes(*fault);
        if Fault::ALL
            .into_iter()
            .filter(possible)
            .eq(faults.iter().copied())
        {
            return String::from("all");
        }
        names(&faults)
    }

    /// Returns which histories keep messages within the delay bound, in words; empty for an election without such a
    /// bound.
    pub(crate) const fn bounded_in_words(&self) -> &'static str {
        match (self.protocol.has_bounds(), self.bounded) {
            (true, true) => "; bounded",
            (true, false) => "; odd seeds are bounded",
            (false, _) => "",
        }
    }

    /// Returns the plan of the history of this seed.
    pub(crate) fn plan(&self, seed: u64) -> Plan {
        Plan {
            protocol: self.protocol,
            seed,
            nodes: self.nodes.map_or_else(|| size(seed), usize::from),
            faults: self.faults.0.clone(),
            seconds: self.seconds,
            timings: self.timings,
            sentinels: self.sentinels,
            bounded: self.protocol.has_bounds()
                && (self.bounded || self.seeds.is_some() && seed % 2 == 1),
        }
    }
}

/// Seeds from the first up to the last, which is not included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seeds(pub(crate) Range<u64>);

/// Errors in a range of seeds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SeedsError {
    #[error("seeds are two numbers with two dots between them, such as 0..1000")]
    Form,
    #[error("{first}..{end} holds no seed: the end is not included")]
    Empty { first: u64, end: u64 },
}

impl FromStr for Seeds {
    type Err = SeedsError;

    fn from_str(text: &str) -> Result<Self, SeedsError> {
        let read = |number: &str| number.replace('_', "").parse().ok();
        let ends = text.split_once("..");
        let (first, end) = ends
            .and_then(|(first, end)| Some((read(first)?, read(end)?)))
            .ok_or(SeedsError::Form)?;
        if first >= end {
            return Err(SeedsError::Empty { first, end });
        }
        Ok(Self(first..end))
    }
}

/// Kinds of faults, each once, in the order of [`Fault::ALL`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Faults(pub(crate) Vec<Fault>);

impl FromStr for Faults {
    type Err = UnknownFault;

    fn from_str(text: &str) -> Result<Self, UnknownFault> {
        if text == "all" {
            return Ok(Self(Fault::ALL.to_vec()));
        }
        let mut faults: Vec<Fault> = Vec::new();
        if text != "none" {
            for name in text.split(',') {
                faults.push(name.trim().parse()?);
            }
        }
        faults.sort_unstable();
        faults.dedup();
        Ok(Self(faults))
    }
}
