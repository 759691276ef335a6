//! A complete recording: its header, its entries, and the texts and drawings that are made from them.
//!
//! Decided here: the form of the file. The file is read in `read`.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use super::{
    Difference, Header, RecordedAgent, RecordedClock, RecordingError, TraceEntry, Untold, What,
    lines, mermaid, moment::RecordedMoment, read, rust_test, script, svg,
};
use crate::protocol::{AgentId, Time};

/// A run as it is kept in a file; see the [module's page](super).
///
/// ```
/// # use bully_core::record::Recording;
/// use bully_core::elections::bully::{Bully, BullyConfig};
/// use bully_sim::{sim::{Participant, World}, trace::Trace};
/// use std::{sync::Arc, time::Duration};
///
/// let config = Arc::new(BullyConfig::default());
/// let agent = |name: &str, score: i32| -> Result<_, Box<dyn std::error::Error>> {
///     Ok(Participant::<Bully>::voter(name.parse()?, Some(score.into()), Arc::clone(&config)))
/// };
/// let mut world = World::builder(1).agents([agent("a", 1)?, agent("b", 2)?]).trace(Trace::new()).build();
/// world.settle(Duration::from_secs(5))?;
/// world.crash("b");
/// world.settle(Duration::from_secs(5))?;
///
/// let file = world.trace().to_recording("bully", world.now()).to_jsonl();
/// let read = Recording::read(file.as_bytes())?;
/// assert_eq!(read.to_jsonl(), file);
/// assert!(read.to_svg(read.ended()).contains("b"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    header: Header,
    /// The last entry is [`What::Ended`].
    entries: Vec<TraceEntry>,
}

impl Recording {
    /// Returns a recording of these entries, with [`What::Ended`] as the last entry.
    pub fn new(header: Header, entries: impl IntoIterator<Item = TraceEntry>, ended: Time) -> Self {
        let mut entries: Vec<_> = entries.into_iter().collect();
        let last = entries.last().map_or(Time::ZERO, |entry| entry.at);
        entries.push(TraceEntry {
            at: ended.max(last),
            what: What::Ended,
        });
        Self { header, entries }
    }

    /// Returns a recording of entries from a file. The last entry is the end.
    pub(super) const fn of(header: Header, entries: Vec<TraceEntry>) -> Self {
        Self { header, entries }
    }

    /// Returns a recording that has only these commands and their outcomes. Such a recording is enough for a script and
    /// for a test of a run of any length.
    #[must_use]
    pub fn of_commands(&self, commands: Vec<TraceEntry>) -> Self {
        let header = Header {
            forgotten: 0,
            ..self.header.clone()
        };
        Self::new(header, commands, self.ended())
    }

    /// Reads a recording strictly and within limits: at most 64 MiB, 500,000 entries, and 1 MiB for each line.
    ///
    /// # Errors
    /// [`RecordingError`] with the number of the line.
    pub fn read(lines: impl io::BufRead) -> Result<Self, RecordingError> {
        read::read(lines)
    }

    /// Writes the recording: one line of JSON for the header and one for each entry.
    ///
    /// # Errors
    /// The errors of `to`. Some lines may already have been written.
    pub fn write(&self, mut to: impl Write) -> io::Result<()> {
        writeln!(to, "{}", self.header.to_line())?;
        for entry in &self.entries {
            writeln!(to, "{}", entry.to_line())?;
        }
        to.flush()
    }

    /// Returns the lines of the file as a string.
    pub fn to_jsonl(&self) -> String {
        let mut text = self.header.to_line();
        for entry in &self.entries {
            text.write_fmt(format_args!("\n{}", entry.to_line()))
                .unwrap_or_default();
        }
        text.push('\n');
        text
    }

    /// Returns the header of the run.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the header of the run, to add facts to it.
    pub const fn header_mut(&mut self) -> &mut Header {
        &mut self.header
    }

    /// Returns the entries, oldest first; the last entry is [`What::Ended`].
    pub fn entries(&self) -> &[TraceEntry] {
        &self.entries
    }

    /// Returns the time at which the run ended.
    pub fn ended(&self) -> Time {
        self.entries.last().map_or(Time::ZERO, |entry| entry.at)
    }

    /// Adds an entry: a promise of the election was broken at this time.
    pub fn violate(&mut self, at: Time, what: String) {
        let after = self
            .entries
            .partition_point(|entry| entry.at <= at && entry.what != What::Ended);
        let what = What::Violation(what);
        self.entries.insert(
            after,
            TraceEntry {
                at: at.min(self.ended()),
                what,
            },
        );
    }

    /// Returns the first line in which another run differs. The header counts as a line.
    pub fn first_difference(&self, other: &Self) -> Option<Difference> {
        Difference::between(self, other)
    }

    /// Returns the run as text: one aligned line for each moment, as a `Trace` of the feature `testkit` writes it.
    pub fn to_text(&self) -> String {
        lines::to_text(&lines::lines(&self.entries), self.header.forgotten)
    }

    /// Returns the run as a Mermaid `sequenceDiagram`.
    pub fn to_mermaid(&self) -> String {
        let order: Vec<AgentId> = self.agents().map(|agent| agent.name.clone()).collect();
        mermaid::to_mermaid(&lines::lines(&self.entries), &order)
    }

    /// Returns a drawing of the run at this time, as a complete SVG document: the agents in a ring, the leader marked,
    /// messages on their way as arrows. The drawing is light or dark as the viewer prefers. At the end of a run that
    /// has settled no message is on its way: choose the moment of a message, such as the `at` of its entry.
    pub fn to_svg(&self, at: Time) -> String {
        svg::to_svg(&RecordedMoment::of(self, at), self)
    }

    /// Returns the commands of the run, for `--script` of the example `cluster`.
    ///
    /// # Errors
    /// [`Untold`] if the script would not repeat the run.
    pub fn to_script(&self) -> Result<String, Untold> {
        script::to_script(self)
    }

    /// Returns a test in Rust. The test gives the same commands at the same times. Each time the recorded run found
    /// that the leaders were settled, the test asserts that the same agents lead.
    ///
    /// # Errors
    /// [`Untold`] if the test would not repeat the run.
    pub fn to_rust_test(&self) -> Result<String, Untold> {
        rust_test::to_rust_test(self)
    }

    /// Checks that the run can be played again: no command is missing, and its time is virtual. The caller must be able
    /// to run the same election.
    ///
    /// # Errors
    /// [`Untold`] with the reason, and the advice what to do instead.
    pub fn can_be_repeated(&self) -> Result<(), Untold> {
        script::must_be_whole(self)?;
        match self.header.clock {
            RecordedClock::Virtual => Ok(()),
            RecordedClock::Real => Err(Untold::RealTime),
        }
    }

    /// Returns the agents at the beginning.
    pub(super) fn agents(&self) -> impl Iterator<Item = &RecordedAgent> {
        self.header.agents.iter()
    }
}

impl TraceEntry {
    /// Returns the entry as a line of the format, without the line's end.
    pub fn to_line(&self) -> String {
        // This cannot fail, because strings, numbers, and lists and named fields of them always have a JSON form.
        serde_json::to_string(self).unwrap_or_default()
    }
}
