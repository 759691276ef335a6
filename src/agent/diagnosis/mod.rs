//! Explains why a group has no leader, or why its present leader leads.
//!
//! ```text
//!   the agent's status ─┐
//!   its vital signs ────┤            judge, timings: pure functions
//!   the group: members, ├─▶ Facts ─────────────────────────▶ Diagnosis: findings, worst first
//!   rules, voters ──────┤                                      │ a line each for people, JSON for programs
//!   the bridge: peers ──┘                                      └ the warning while no agent leads
//! ```
//!
//! Decided here: the parts of a diagnosis. A diagnosis does not ask the agent through its mailbox, so it also works for
//! an agent that hangs. Not here: the findings (`finding.rs`) and their order (`order.rs`), the conditions of a finding
//! (`judge.rs`, `records.rs`, `register.rs`, `recovery.rs`, `timings.rs`; of schedules `leader/schedule/`), and its words
//! (`sentence.rs`).

mod finding;
mod judge;
mod not_leading;
mod order;
mod records;
mod recovery;
mod register;
mod schedule;
mod sentence;
#[cfg(test)]
mod tests;
mod timings;
mod words;

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize, Serializer};

use crate::{
    elections::quorum::epoch::SpokenTerm,
    group::PeerReport,
    protocol::{AgentId, Leader, Measurement},
    shown::{self, ShownLeader, ShownMeasurement},
};

pub use finding::Finding;
pub(super) use judge::Facts;
pub use not_leading::NotLeading;
pub use schedule::ScheduleFinding;
pub(super) use schedule::ScheduleSigns;

use words::Span;

/// The reasons why a group has no leader, or why its present leader leads, as far as one agent knows them; see
/// [`ElectionHandle::diagnosis`](super::ElectionHandle::diagnosis).
///
/// As text a diagnosis has a line with the leader, then a line for each finding, the worst finding first. As JSON its
/// fields have the names below; each finding has its sentence as `text`.
///
/// ```
/// # use actix_bully::agent::BullyHandle;
/// fn explain(handle: &BullyHandle) {
///     let diagnosis = handle.diagnosis();
///     if diagnosis.leader.is_none() {
///         eprintln!("{diagnosis}");
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnosis {
    /// The agent.
    pub node: AgentId,
    /// The name of the agent's group.
    pub group: String,
    /// The leader that the agent follows, or the agent itself if it leads.
    pub leader: Option<Leader>,
    /// Time since the agent last had a leader; `None` while the agent knows a leader. If the leader fell silent, the
    /// time counts from the leader's last sign of life. As JSON: `leaderless_ms`.
    pub leaderless_for: Option<Duration>,
    /// Numbers of reachable and of needed voters; `None` while the group's rules are unknown.
    pub voters: Option<VoterCount>,
    /// The findings, the worst first.
    pub findings: Vec<Finding>,
    /// The longest times that this agent has measured recently: the echo of a linked peer, a write of its store, a
    /// standstill of its own. A time is zero if it was not measured.
    /// [`Timings::measured`](crate::protocol::Timings::measured) makes timings from it.
    pub measured: Measurement,
    /// The nodes to which the group's messages go. The findings say what is wrong with these nodes. The JSON form lists
    /// the nodes as `peers`.
    pub(crate) peers: Vec<PeerReport>,
}

/// Number of voters that can be reached, that exist, and that are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct VoterCount {
    /// Number of voters that can be reached: as far as this agent knows, they are up and their nodes are linked.
    pub reachable: u32,
    /// Number of all voters.
    pub all: u32,
    /// Number of voters that are needed to elect a leader: a quorum, or 1 in a mode in which each side of a partition
    /// elects its own leader.
    pub needed: u32,
}

impl Diagnosis {
    pub(super) fn new(group: String, facts: Facts) -> Self {
        let leaderless = facts.signs.leaderless_since.unwrap_or(facts.now);
        let leader = facts.status.leader.clone();
        Self {
            leaderless_for: leader.is_none().then(|| facts.now.since(leaderless)),
            voters: facts.voters(),
            findings: facts.judge(),
            measured: facts.measured(),
            node: facts.id,
            group,
            leader,
            peers: facts.peers,
        }
    }

    /// Returns the first findings in one line, for the log.
    pub(super) fn summary(&self) -> String {
        let first = self.findings.iter().take(IN_A_LINE);
        let lines: Vec<_> = first.map(Finding::to_string).collect();
        if lines.is_empty() {
            return "no obstacle to an election is known".to_owned();
        }
        lines.join("; ")
    }
}

/// Largest number of findings in a summary.
const IN_A_LINE: usize = 3;

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (node, group) = (&self.node, &self.group);
        match (&self.leader, self.leaderless_for) {
            (Some(leader), _) if leader.id == *node => {
                write!(
                    f,
                    "{node} leads {group} in term {}",
                    SpokenTerm(leader.term)
                )?;
            }
            (Some(leader), _) => {
                write!(
                    f,
                    "{node} follows {} in {group}, in term {}",
                    leader.id,
                    SpokenTerm(leader.term)
                )?;
            }
            (None, Some(span)) => {
                write!(
                    f,
                    "{node} has known no leader of {group} for {}",
                    Span(span)
                )?;
            }
            (None, None) => write!(f, "{node} knows no leader of {group}")?,
        }
        for finding in &self.findings {
            write!(f, "\n- {finding}")?;
        }
        Ok(())
    }
}

impl Serialize for Diagnosis {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct ShownDiagnosis<'a> {
            node: &'a AgentId,
            group: &'a str,
            leader: Option<ShownLeader<'a>>,
            #[serde(serialize_with = "shown::optional_millis")]
            leaderless_ms: Option<Duration>,
            voters: Option<VoterCount>,
            findings: Vec<ShownFinding<'a>>,
            measured: ShownMeasurement,
            peers: &'a [PeerReport],
        }
        #[derive(Serialize)]
        struct ShownFinding<'a> {
            #[serde(flatten)]
            finding: &'a Finding,
            text: String,
        }
        let shown = |finding| ShownFinding {
            finding,
            text: finding.to_string(),
        };
        ShownDiagnosis {
            node: &self.node,
            group: &self.group,
            leader: self.leader.as_ref().map(ShownLeader::from),
            leaderless_ms: self.leaderless_for,
            voters: self.voters,
            findings: self.findings.iter().map(shown).collect(),
            measured: self.measured.into(),
            peers: &self.peers,
        }
        .serialize(to)
    }
}
