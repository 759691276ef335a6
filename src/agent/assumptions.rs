//! The assumptions of an agent's configuration, for the diagnosis: its timings, and the longest time of an election.
//!
//! Not here: what the agent publishes while it runs (`vitals.rs`).

use std::time::Duration;

use crate::protocol::{MemberKind, Timings};
use bully_core::elections::bully::BullyConfig;

/// The assumptions of an agent's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Assumptions {
    pub(super) kind: MemberKind,
    pub(super) timings: Option<Timings>,
    /// The name of the timings, if they are a preset.
    pub(super) preset: Option<&'static str>,
    /// Time without a leader after which the agent warns. It is as long as the longest election.
    pub(super) patience: Duration,
}

impl Assumptions {
    /// Makes the assumptions. `worst_case` is the longest time of an election by the agent's configuration, if it is
    /// known.
    pub(super) fn new(
        kind: MemberKind,
        timings: Option<&Timings>,
        worst_case: Option<Duration>,
    ) -> Self {
        Self {
            kind,
            timings: timings.cloned(),
            preset: timings.and_then(preset),
            patience: timings
                .map_or(PATIENCE, patience)
                .max(worst_case.unwrap_or_default()),
        }
    }

    /// Returns whether the agent notices a silent leader.
    pub(super) fn has_detector(&self) -> bool {
        let timings = self.timings.as_ref();
        timings.is_some_and(|timings| timings.detector().is_some())
    }
}

/// Returns the presets in the order of their delay bounds, with their names in the API.
pub(super) fn presets() -> [(&'static str, Timings); 6] {
    [
        ("Timings::in_process()", Timings::in_process()),
        ("Timings::fast()", Timings::fast()),
        ("Timings::lan()", Timings::lan()),
        ("Timings::default()", Timings::default()),
        ("Timings::wan()", Timings::wan()),
        ("Timings::astra()", Timings::astra()),
    ]
}

fn preset(timings: &Timings) -> Option<&'static str> {
    let mut presets = presets().into_iter();
    presets
        .find(|(_, preset)| preset == timings)
        .map(|(name, _)| name)
}

/// Returns the longest time of an election with `timings`, in any mode.
fn patience(timings: &Timings) -> Duration {
    let timings = timings.clone();
    let quorum = timings.worst_case_quorum_failover(SLOTS);
    let available = BullyConfig {
        timings,
        ..BullyConfig::default()
    };
    available.worst_case_failover().max(quorum)
}

/// Largest number of slots that an agent waits before it holds an election (rule `rank-staggered-slots` of the bully).
const SLOTS: u32 = 8;

/// Longest time of an election, assumed if the configuration of the election has no timings.
const PATIENCE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_election_takes_as_long_as_in_the_slower_mode() {
        let available = Duration::from_millis(4_150);
        assert_eq!(patience(&Timings::default()), available);
        let quorum = Duration::from_nanos(24_935_955_056); // 10 s / 0.89 + 8 x 0.9 s + 2 s + 5 x 0.9 s
        assert_eq!(patience(&Timings::astra()), quorum);
    }
}
