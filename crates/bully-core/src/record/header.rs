//! The header of a run: the first line of a recording.
//!
//! Decided here: the name and the version of the format. Both are checked before anything else. So far there is only
//! version 1.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{NetworkRecord, RecordingError};
use crate::protocol::{AgentId, MemberKind, Score, Timings};

/// The first line of a recording: the beginning of the run, and facts about the whole run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Header {
    /// The release of this crate that wrote the recording.
    pub writer: String,
    /// The name of the election, such as `bully`.
    pub protocol: String,
    /// The clock that measured the times.
    pub clock: RecordedClock,
    /// The seed of the random numbers; 0 if the run had no seed.
    pub seed: u64,
    /// The agents at the beginning, in their order.
    pub agents: Vec<RecordedAgent>,
    /// The faults of the network at the beginning, if they are known.
    pub network: Option<NetworkRecord>,
    /// The timings of the agents, in nanoseconds, by the names of [`Timings`]; empty if they are not known.
    pub timings_ns: BTreeMap<String, u64>,
    /// The command that repeats the run; `None` without such a command.
    pub again: Option<String>,
    /// Reading of the host's wall clock at the beginning, in milliseconds since 1970, if the run has a wall clock.
    pub began_unix_ms: Option<u64>,
    /// Number of earlier entries that were forgotten because the record has a limit.
    pub forgotten: u64,
    /// Whether repeated messages, such as heartbeats, are among the entries.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeated: bool,
}

/// The clock of a recording's times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecordedClock {
    /// Virtual time, which a program advances: if the same run is repeated, it has the same times.
    #[default]
    Virtual,
    /// Real time.
    Real,
}

/// An agent at the beginning of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedAgent {
    /// The name of the agent.
    pub name: AgentId,
    /// Voter or observer.
    pub kind: MemberKind,
    /// The score of the agent; `None` if it cannot be elected.
    pub score: Option<Score>,
}

impl Header {
    /// Returns the header of a run of these agents.
    pub fn of(
        agents: impl IntoIterator<Item = RecordedAgent>,
        seed: u64,
        timings: Option<&Timings>,
    ) -> Self {
        Self {
            writer: concat!("actix-bully ", env!("CARGO_PKG_VERSION")).to_owned(),
            seed,
            agents: agents.into_iter().collect(),
            timings_ns: timings.map(spans).unwrap_or_default(),
            ..Self::default()
        }
    }

    /// Returns the header as a line of the format, without the line's end.
    pub(super) fn to_line(&self) -> String {
        // This cannot fail, because strings, numbers and lists of them always have a JSON form.
        serde_json::to_string(&RecordingOpening {
            format: FORMAT.into(),
            version: VERSION,
            run: self.clone(),
        })
        .unwrap_or_default()
    }

    /// Reads the first line of a recording.
    pub(super) fn read(line: &[u8]) -> Result<Self, RecordingError> {
        // The version is read first, because the rest is checked by the rules of the version.
        let probe: HeaderProbe =
            serde_json::from_slice(line).map_err(|_| RecordingError::Foreign)?;
        if probe.format != FORMAT {
            return Err(RecordingError::Foreign);
        }
        if probe.version != VERSION {
            let (version, newest) = (probe.version, VERSION);
            return Err(RecordingError::Version { version, newest });
        }
        let opening: RecordingOpening = serde_json::from_slice(line)
            .map_err(|source| RecordingError::Malformed { line: 1, source })?;
        Ok(opening.run)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordingOpening {
    format: String,
    version: u32,
    run: Header,
}

#[derive(Deserialize)]
struct HeaderProbe {
    format: String,
    version: u32,
}

fn spans(timings: &Timings) -> BTreeMap<String, u64> {
    let detector = timings.detector();
    let spans = [
        ("delay_bound", Some(timings.delay_bound())),
        ("deadline", Some(timings.deadline())),
        ("heartbeat", detector.map(|detector| detector.heartbeat)),
        ("detection", detector.map(|detector| detector.detection)),
        ("lease", Some(timings.lease())),
        ("promise", Some(timings.promise())),
    ];
    spans
        .into_iter()
        .filter_map(|(name, span)| {
            let nanos = u64::try_from(span?.as_nanos()).unwrap_or(u64::MAX);
            Some((name.to_owned(), nanos))
        })
        .collect()
}

const FORMAT: &str = "actix-bully recording";
const VERSION: u32 = 1;
