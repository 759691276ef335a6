//! Answers to commands as JSON, between the lines of the recording: an object per line, with its kind in `type`.

use actix_bully::testkit::cluster::{AgentStatus, ClusterStatus};
use serde_json::{Value, json};

pub(crate) fn status(status: &ClusterStatus) -> String {
    let agents: Vec<_> = status.agents().iter().map(agent).collect();
    json!({ "type": "status", "agents": agents }).to_string()
}

pub(crate) fn text(text: &str) -> String {
    json!({ "type": "text", "text": text }).to_string()
}

fn agent(agent: &AgentStatus) -> Value {
    json!({
        "name": agent.name.to_string(),
        "score": agent.score.map(|score| score.to_string()),
        "state": agent.condition.to_string(),
        "isolated": agent.isolated,
        "role": agent.status.role.to_string(),
        "term": agent.status.term.0,
        "leader": agent.status.leader.as_ref().map(|leader| leader.id.to_string()),
        "leads": agent.leads,
    })
}
