//! Explains to an operator why no agent leads, or why the present leader leads.
//!
//! Decided here: the form in which a diagnosis is sent: lines for people, and the whole diagnosis for programs. Not
//! here: the findings ([`Diagnosis`](crate::agent::Diagnosis)).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Operated, agent::OperatedAgent};

/// The diagnosis of one agent, as its node wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Explanation {
    /// A line with the leader, and a line for each finding, the worst finding first.
    pub text: String,
    /// The same for programs: the JSON of a [`Diagnosis`](crate::agent::Diagnosis).
    pub diagnosis: Value,
}

impl Operated {
    /// Explains why no agent leads, or why the present leader leads, from the view of each agent of the node. It uses
    /// no mailbox, so it also explains an agent that hangs.
    pub fn explain(&self) -> Vec<Explanation> {
        self.agents.iter().map(|agent| explain(&**agent)).collect()
    }
}

fn explain(agent: &dyn OperatedAgent) -> Explanation {
    let diagnosis = agent.diagnosis();
    Explanation {
        text: diagnosis.to_string(),
        // A diagnosis has only names, numbers and texts, and JSON can hold all of these.
        diagnosis: serde_json::to_value(&diagnosis).unwrap_or_default(),
    }
}
