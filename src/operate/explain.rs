//! Why there is no leader, or why this one leads, for an operator.
//!
//! Decided here: the form in which a diagnosis travels: its lines for people, and the whole of it for programs. Not
//! here: what it finds ([`Diagnosis`](crate::agent::Diagnosis)).

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
    /// Why there is no leader, or why this one leads, as each agent of the node sees it. It goes through no
    /// mailbox: an agent that hangs is explained as well.
    pub fn explain(&self) -> Vec<Explanation> {
        self.agents.iter().map(|agent| explain(&**agent)).collect()
    }
}

fn explain(agent: &dyn OperatedAgent) -> Explanation {
    let diagnosis = agent.diagnosis();
    Explanation {
        text: diagnosis.to_string(),
        // It is made of names, numbers and texts: there is nothing that JSON cannot hold.
        diagnosis: serde_json::to_value(&diagnosis).unwrap_or_default(),
    }
}
