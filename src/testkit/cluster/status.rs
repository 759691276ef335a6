//! The agents of a cluster with their states, as rows and as an aligned table.

use std::{fmt, time::Duration};

use super::{Cluster, agent::Condition, journal::open};
use crate::{
    agent::Status,
    protocol::{AgentId, Election, MemberKind, Score},
};

/// One agent of a cluster, at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentStatus {
    /// Name of the agent.
    pub name: AgentId,
    /// Voter or observer. A learner is shown as an observer.
    pub kind: MemberKind,
    /// Score of the agent; `None` while it cannot be elected.
    pub score: Option<Score>,
    /// The condition of the agent: it runs, hangs or is down.
    pub condition: Condition,
    /// Whether [`isolate`](Cluster::isolate) has cut all links of the agent.
    pub isolated: bool,
    /// The agent's own state, in its present or last incarnation.
    pub status: Status,
    /// Whether the agent considers itself leader at this moment.
    pub leads: bool,
    /// Time for which the agent will still lead without another acknowledgement; `None` if it does not lead, or if its
    /// leadership has no end.
    pub lease_left: Option<Duration>,
}

/// All agents of a cluster at one moment. As text it is a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterStatus(Vec<AgentStatus>);

impl ClusterStatus {
    /// Returns the agents, in the order in which they joined.
    pub fn agents(&self) -> &[AgentStatus] {
        &self.0
    }
}

impl<E: Election> Cluster<E> {
    /// Returns the agents with their states.
    pub fn status(&self) -> ClusterStatus {
        let list = self.list();
        let row = |agent: &super::agent::ClusterAgent<E>| {
            let kind = agent.kind_by(list.as_ref());
            AgentStatus {
                name: agent.id().clone(),
                kind,
                score: agent.score().filter(|_| kind == MemberKind::Voter),
                condition: agent.condition(),
                isolated: open(&self.journal).network.is_isolated(agent.id()),
                status: agent.handle.current(),
                leads: agent.handle.is_leader(),
                lease_left: agent
                    .handle
                    .leadership_left()
                    .filter(|_| agent.handle.is_leader()),
            }
        };
        ClusterStatus(self.agents.iter().map(row).collect())
    }

    /// Returns the agents that consider themselves leader, in the order of the cluster.
    pub fn believers(&self) -> Vec<AgentId> {
        let believers = self.agents.iter().filter(|agent| agent.handle.is_leader());
        believers.map(|agent| agent.id().clone()).collect()
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Up => "up",
            Self::Hung => "hung",
            Self::Restarting => "restarting",
            Self::Down => "down",
        })
    }
}

impl AgentStatus {
    /// Returns the agent's condition, and whether it is isolated: `up`, `hung, isolated`.
    fn state(&self) -> String {
        let isolated = if self.isolated { ", isolated" } else { "" };
        format!("{}{isolated}", self.condition)
    }

    /// Returns name, score, condition, role, term and leader as text. A missing value is `-`.
    fn cells(&self) -> [String; COLUMNS] {
        let nothing = || String::from("-");
        let score = match (self.kind, self.score) {
            (MemberKind::Observer, _) => String::from("observer"),
            (MemberKind::Voter, Some(score)) => score.to_string(),
            (MemberKind::Voter, None) => String::from("none"),
        };
        let runs = matches!(self.condition, Condition::Up | Condition::Hung);
        let told = |what: String| if runs { what } else { nothing() };
        let leader = self.status.leader.as_ref();
        let leader = leader.map(|leader| leader.id.to_string());
        [
            self.name.to_string(),
            score,
            self.state(),
            told(self.status.role.to_string()),
            told(self.status.term.to_string()),
            told(leader.unwrap_or_else(nothing)),
        ]
    }
}

impl fmt::Display for ClusterStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = ["AGENT", "SCORE", "STATE", "ROLE", "TERM", "LEADER"].map(String::from);
        let rows: Vec<_> = std::iter::once(head)
            .chain(self.0.iter().map(AgentStatus::cells))
            .collect();
        let mut widths = [0; COLUMNS];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        for (at, row) in rows.iter().enumerate() {
            let padded = widths.iter().zip(row);
            let cells: Vec<_> = padded
                .map(|(width, cell)| format!("{cell:<width$}"))
                .collect();
            f.write_str(if at > 0 { "\n" } else { "" })?;
            f.write_str(cells.join("  ").trim_end())?;
        }
        Ok(())
    }
}

const COLUMNS: usize = 6;
