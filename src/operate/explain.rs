//! Explains to an operator why no agent leads, or why this one leads.
//!
//! Decided here: the form of a diagnosis that is sent: its lines for people, and the whole of it for programs. Not
//! here: the findings ([`Diagnosis`](crate::agent::Diagnosis)).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Operated, agent::OperatedAgent};

/// The diagnosis of one agent, as its node wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Explanation {
    /// A line that says which agent leads, and a line for each finding, the worst first.
    pub text: String,
    /// The same for programs: the JSON of a [`Diagnosis`](crate::agent::Diagnosis).
    pub diagnosis: Value,
}

impl Operated {
    /// Explains why no agent leads, or why this one leads, as each agent of the node sees it. It uses no mailbox, so it
    /// explains an agent that hangs as well.
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
