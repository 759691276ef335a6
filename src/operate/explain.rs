//! Explains to an operator why no agent leads, or why the present leader leads.
//!
//! Decided here: a diagnosis is sent in two forms, as lines for people and as JSON for programs. Not here: the findings
//! ([`Diagnosis`](crate::agent::Diagnosis)).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Operated, agent::OperatedAgent};

/// The diagnosis of one agent, as text and as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Explanation {
    /// A line with the leader, and a line for each finding, the worst finding first.
    pub text: String,
    /// The same explanation for programs: the JSON of a [`Diagnosis`](crate::agent::Diagnosis).
    pub diagnosis: Value,
}

impl Operated {
    /// Explains why no agent leads, or why the present leader leads, from the view of each agent of the node. The call
    /// sends no message to the agents, so it also works for an agent that hangs.
    pub fn explain(&self) -> Vec<Explanation> {
        self.agents.iter().map(|agent| explain(&**agent)).collect()
    }
}

fn explain(agent: &dyn OperatedAgent) -> Explanation {
    let diagnosis = agent.diagnosis();
    Explanation {
        text: diagnosis.to_string(),
        // An error is not possible: a diagnosis has only names, numbers and texts.
        diagnosis: serde_json::to_value(&diagnosis).unwrap_or_default(),
    }
}
