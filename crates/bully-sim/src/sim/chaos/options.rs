//! The options of a history, and the report about it.

use std::{fmt, time::Duration};

use super::{Coverage, Fault};
use crate::{faults::Tally, sim::Violation, trace::Trace};
use bully_core::protocol::{AgentId, Time};

/// Options of a history.
#[derive(Clone, Debug)]
pub struct ChaosOptions {
    /// Time during which faults happen. Default: 20 s.
    pub faults_for: Duration,
    /// Time for which the agreement must last afterwards. Default: 2 s.
    pub steady_for: Duration,
    /// The kinds of faults that a history may use. Each history uses some of them, if its scenario
    /// [takes](super::Scenario::takes) them. Default: all.
    pub faults: Vec<Fault>,
    /// Largest deviation of a clock's rate, in parts per million. Default: 50,000.
    pub skew: u32,
    /// Whether some agents have sentinels, which report their crashes early or late, while nothing else is reported
    /// ([`Detection::Told`](crate::sim::Detection::Told)). Default: false, the detection is chosen at random.
    pub sentinels: bool,
    /// Longest time for which two agents may lead at once. The limit is checked after every step. Such a limit holds
    /// only if no message is lost or late, and no agent hangs. Default: no limit.
    pub contested_for: Option<Duration>,
    /// The trace that records the run. Default: nothing is recorded.
    pub trace: Trace,
    /// The command that repeats a history; `{seed}` and `{n}` are filled in.
    pub reproduce: String,
}

impl Default for ChaosOptions {
    fn default() -> Self {
        Self {
            faults_for: Duration::from_secs(20),
            steady_for: Duration::from_secs(2),
            faults: Fault::ALL.to_vec(),
            skew: 50_000,
            sentinels: false,
            contested_for: None,
            trace: Trace::off(),
            reproduce: String::new(),
        }
    }
}

/// The result of a history.
#[derive(Clone, Debug)]
pub struct HistoryReport {
    /// The seed of the history.
    pub seed: u64,
    /// Number of agents at the beginning.
    pub n: usize,
    /// The broken promise; `None` if no promise was broken. If the agents do not agree in time, a promise is broken
    /// too.
    pub violation: Option<Violation>,
    /// The leader on which all agents agreed in the end.
    pub leader: Option<AgentId>,
    /// Time until the lasting agreement, counted from when all faults had ended and old messages were gone.
    pub settled_after: Duration,
    /// Number of agreements that did not last.
    pub relapses: u32,
    /// Periods in which more than one agent believed that it leads.
    pub contested: Contested,
    /// Number of faults of each kind.
    pub coverage: Coverage,
    /// Number of messages by fate.
    pub tally: Tally,
    /// Number of events that the world handled.
    pub steps: u64,
    /// The virtual time at the end.
    pub ended: Time,
    /// The recorded run, if it was recorded.
    pub trace: Trace,
}

/// Periods in which more than one agent believed that it leads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contested {
    /// Number of periods with more than one leader.
    pub times: u32,
    /// Sum of all periods with more than one leader.
    pub total: Duration,
    /// Longest period with more than one leader.
    pub longest: Duration,
}

impl Contested {
    pub(super) fn note(&mut self, span: Duration) {
        self.times = self.times.saturating_add(1);
        self.total = self.total.saturating_add(span);
        self.longest = self.longest.max(span);
    }
}

impl fmt::Display for HistoryReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.violation, &self.leader) {
            (Some(violation), _) => write!(f, "{violation}"),
            (None, Some(leader)) => {
                let (seed, after) = (self.seed, self.settled_after);
                write!(
                    f,
                    "seed {seed}: all follow {leader} {after:?} after healing"
                )
            }
            (None, None) => write!(f, "seed {}: no agent can be elected", self.seed),
        }
    }
}
