//! The header of a run: the first line of a recording.
//!
//! Decided here: the name and the version of the format, and that both are checked before anything else. Version 1 is
//! the only one so far.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{NetworkRecord, RecordingError};
use crate::protocol::{AgentId, MemberKind, Score, Timings};

/// The beginning of a run, and the facts about all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Header {
    /// The release of this crate that wrote it.
    pub writer: String,
    /// The name of the election, such as `bully`.
    pub protocol: String,
    /// The clock of its times.
    pub clock: RecordedClock,
    /// The seed of the random numbers; 0 without one.
    pub seed: u64,
    /// The agents of the beginning, in their order.
    pub agents: Vec<RecordedAgent>,
    /// The faults of the network in the beginning, where they are known.
    pub network: Option<NetworkRecord>,
    /// The timings of the agents, in nanoseconds, by the names of [`Timings`]; empty where they are not known.
    pub timings_ns: BTreeMap<String, u64>,
    /// The command that runs it again, if there is one.
    pub again: Option<String>,
    /// The wall clock of the host at its beginning, in milliseconds since 1970, if the run has a wall clock.
    pub began_unix_ms: Option<u64>,
    /// Number of earlier entries that were forgotten because the record was bounded.
    pub forgotten: u64,
}

/// The clock of a recording's times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecordedClock {
    /// Time passes as it is wanted: the same run again has the same times.
    #[default]
    Virtual,
    /// Time passes by itself.
    Real,
}

/// An agent of the beginning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedAgent {
    /// Its name.
    pub name: AgentId,
    /// Voter or observer.
    pub kind: MemberKind,
    /// Its score; `None` if it cannot be elected.
    pub score: Option<Score>,
}

impl Header {
    /// Makes the header of a run of these agents.
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

    /// Returns a line of the format, without its end.
    pub(super) fn to_line(&self) -> String {
        // Strings, numbers and lists of them have a JSON form.
        serde_json::to_string(&RecordingOpening {
            format: FORMAT.into(),
            version: VERSION,
            run: self.clone(),
        })
        .unwrap_or_default()
    }

    /// Reads a first line.
    pub(super) fn read(line: &[u8]) -> Result<Self, RecordingError> {
        // The format has to be known before the rest is checked by its rules.
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
