//! The record of a node's agents, for an operator: on, off, and what is written.
//!
//! Decided here: what is asked and answered, as plain data. A record names agents and messages of elections only. Not
//! here: what is written (`agent::record`), and its form ([`record`](crate::record)).

use serde::{Deserialize, Serialize};

use super::{Operated, agent::OperatedAgent};
use crate::{protocol::AgentId, record::RecordLimits};

/// What is asked of the records of a node's agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum RecordRequest {
    /// Each agent begins to write, within these limits; what it has written before is gone, but what was kept when its leader
    /// was missed.
    On(RecordLimits),
    /// Each agent writes no more; what it has written can still be read.
    Off,
    /// What each agent has written.
    Read,
    /// What each agent had written when its leader was missed last.
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
    /// Whether it writes.
    pub is_on: bool,
    /// What was asked for, as the file of a [`Recording`](crate::record::Recording); `None` where there is nothing, or
    /// nothing was asked for.
    pub jsonl: Option<String>,
}

impl Operated {
    /// Does what is asked with the record of each agent of the node.
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
