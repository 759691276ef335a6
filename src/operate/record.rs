//! The records of a node's agents, for an operator, who can turn them on and off, and read them.
//!
//! Decided here: the requests and the answers, as plain data. A record contains only agents and messages of elections.
//! Not here: the contents of a record (`agent::record`), and its form ([`record`](crate::record)).

use serde::{Deserialize, Serialize};

use super::{Operated, agent::OperatedAgent};
use crate::{protocol::AgentId, record::RecordLimits};

/// A request about the records of a node's agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum RecordRequest {
    /// Each agent begins a new record, within these limits. The agent's earlier record is lost, except the record that
    /// was kept when there was no leader for too long.
    On(RecordLimits),
    /// Each agent ends its record; the record can still be read.
    Off,
    /// Return the record of each agent.
    Read,
    /// Return the record that each agent kept when it last had no leader for too long.
    ReadKept,
}

/// The record of one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentRecording {
    /// The agent.
    pub agent: AgentId,
    /// The agent's group.
    pub group: String,
    /// Whether the agent is writing a record.
    pub is_on: bool,
    /// The requested record, in the form of the file of a [`Recording`](crate::record::Recording); `None` if there is
    /// no record, or if the request did not ask for records.
    pub jsonl: Option<String>,
}

impl Operated {
    /// Carries out the request for each agent of the node.
    pub fn record(&self, request: RecordRequest) -> Vec<AgentRecording> {
        let agents = self.agents.iter();
        agents.map(|agent| asked(&**agent, request)).collect()
    }
}

fn asked(agent: &dyn OperatedAgent, request: RecordRequest) -> AgentRecording {
    let jsonl = match request {
        RecordRequest::On(limits) => {
            agent.record(Some(limits));
            None
        }
        RecordRequest::Off => {
            agent.record(None);
            None
        }
        RecordRequest::Read => agent.recorded(false),
        RecordRequest::ReadKept => agent.recorded(true),
    };
    AgentRecording {
        agent: agent.id().clone(),
        group: agent.group().to_owned(),
        is_on: agent.is_recording(),
        jsonl,
    }
}
