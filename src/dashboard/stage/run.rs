//! The run of a cluster on the stage, for exports.
//!
//! Decided here: the commands are kept separately from the trace, because the trace forgets its oldest entries: so a
//! script or a test can still be made of a long run. Not here: the forms of a copy (`copies.rs` of the dashboard).

use crate::{
    dashboard::copies::RecordedRun,
    protocol::Time,
    record::{Header, RecordedCommand, Recording, TraceEntry, What},
};

/// The commands of a run so far, and the times at which the leadership was settled.
#[derive(Clone, Debug, Default)]
pub(super) struct RunCommands {
    entries: Vec<TraceEntry>,
    is_full: bool,
    /// Number of commands so far; see [`is_given`].
    given: u64,
    /// The last time at which the leadership was settled.
    settled: Option<Time>,
}

/// An earlier run, and the moment from which a new run continues.
#[derive(Debug)]
pub(super) struct EarlierRun {
    /// The parts of the first election and of the second.
    pub(super) parts: Vec<RunPart>,
    pub(super) until: Time,
    /// Number of the earlier run; 0 for a recording.
    pub(super) number: u64,
    /// The header of the recording; `None` if the earlier run is the present run of the stage.
    pub(super) recorded: Option<Header>,
}

/// The part of one election in the earlier run.
#[derive(Debug)]
pub(super) struct RunPart {
    pub(super) commands: Vec<TraceEntry>,
    pub(super) whole: Recording,
}

impl RunCommands {
    /// Keeps the entry if it is a command, or the note that the leadership is settled.
    pub(super) fn add(&mut self, entry: &TraceEntry) {
        if let What::Command(_) = entry.what {
            self.given = self.given.saturating_add(is_given(entry).into());
        } else if let What::Settled { .. } = entry.what {
            self.settled = Some(entry.at);
        } else {
            return;
        }
        self.is_full = self.is_full || self.entries.len() >= MOST;
        if !self.is_full {
            self.entries.push(entry.clone());
        }
    }

    /// Returns the number of commands so far.
    pub(super) const fn given(&self) -> u64 {
        self.given
    }

    /// Returns the last time at which the leadership was settled.
    pub(super) const fn settled(&self) -> Option<Time> {
        self.settled
    }

    /// Returns the whole run. If its trace has forgotten entries and the kept commands are complete, the result also
    /// contains the commands.
    pub(super) fn with(&self, whole: Recording) -> RecordedRun {
        let are_all = whole.header().forgotten > 0 && !self.is_full;
        let commands = are_all.then(|| whole.of_commands(self.entries.clone()));
        RecordedRun { whole, commands }
    }
}

/// Returns whether the entry is a command that changes something. A `settle` is not counted, because a run that
/// continues from the middle of a `settle` does not contain it.
pub(super) fn is_given(entry: &TraceEntry) -> bool {
    matches!(&entry.what, What::Command(command) if *command != RecordedCommand::Settle)
}

/// Largest number of entries. A run with a few clicks a second reaches this number after an hour.
const MOST: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        protocol::{MemberKind, Time},
        record::{Header, RecordedAgent},
    };

    fn entry(at: u64, what: What) -> TraceEntry {
        let at = Time::from_millis(at);
        TraceEntry { at, what }
    }

    /// A run whose trace has forgotten all lines but the last.
    fn forgetful() -> Recording {
        let agent = RecordedAgent {
            name: "a".parse().unwrap(),
            kind: MemberKind::Voter,
            score: Some(1.into()),
        };
        let mut header = Header::of([agent], 1, None);
        "bully".clone_into(&mut header.protocol);
        header.forgotten = 9;
        Recording::new(header, [], Time::from_millis(50))
    }

    #[test]
    fn commands_outlive_the_trace() {
        let mut commands = RunCommands::default();
        commands.add(&entry(1, What::Command(RecordedCommand::Heal)));
        commands.add(&entry(2, What::Mark("heal".to_owned())));
        let run = commands.with(forgetful());
        assert!(run.whole.to_rust_test().is_err(), "it has forgotten them");
        let test = run.commands.unwrap().to_rust_test().unwrap();
        assert!(
            test.contains("cluster.apply(&\"heal\".parse()?).await?;"),
            "{test}"
        );
        assert!(test.contains("Time::from_millis(50)"), "it ends there");
    }

    #[test]
    fn a_run_of_too_many_commands_is_not_told_in_part() {
        let mut commands = RunCommands::default();
        for at in 0..=10_000 {
            commands.add(&entry(at, What::Command(RecordedCommand::Heal)));
        }
        assert!(commands.with(forgetful()).commands.is_none());
    }
}
