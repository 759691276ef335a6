//! The records of a node's agents, for an operator: turned on, turned off, and read.
//!
//! Decided here: the requests and the answers, as plain data. A record names agents and messages of elections only. Not
//! here: the contents of a record (`agent::record`), and its form ([`record`](crate::record)).

use serde::{Deserialize, Serialize};

use super::{Operated, agent::OperatedAgent};
use crate::{protocol::AgentId, record::RecordLimits};

/// A request about the records of a node's agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum RecordRequest {
    /// Each agent begins to write, within these limits. Its earlier record is lost, except the record that was kept
    /// when its leader was missed.
    On(RecordLimits),
    /// Each agent stops writing; its record can still be read.
    Off,
    /// Return the record of each agent.
    Read,
    /// Return the record that each agent kept when its leader was missed last.
    ReadKept,
}

/// The record of one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentRecording {
    /// The agent.
    pub agent: AgentId,
    /// Its group.
    pub group: String,
    /// Whether the agent writes.
    pub is_on: bool,
    /// The requested record, as the file of a [`Recording`](crate::record::Recording); `None` if there is no record, or
    /// the request asked for none.
    pub jsonl: Option<String>,
}

impl Operated {
    /// Does the request with the record of each agent of the node.
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
