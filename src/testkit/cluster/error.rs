//! Errors of a cluster's commands: each states the problem and the remedy.

use std::time::Duration;

use super::Condition;
use crate::{
    agent::{LeaveError, StartError},
    protocol::AgentId,
    testkit::faults::ConditionsError,
};

/// Errors of a cluster. Nothing was changed, unless the description of the error states a change.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// The cluster has no agent.
    #[error("a cluster needs an agent: name some by `agents(5)` or `agent(name, score)`")]
    Empty,
    /// An agent cannot be started.
    #[error("{name} cannot be started: {source}")]
    Start {
        /// The name that was requested.
        name: String,
        /// The [`StartError`], or the error of the application's own start. The application may also have started an
        /// agent of another name.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// No agent has this name.
    #[error("the cluster has no agent {name:?}: name one of {known}")]
    Unknown {
        /// The name that was requested.
        name: String,
        /// The agents of the cluster.
        known: String,
    },
    /// The agent cannot carry out the command in its present condition, the command names the agent twice, or the
    /// agent's name is taken.
    #[error("{name} {why}")]
    Refused {
        /// The agent.
        name: AgentId,
        /// The reason, with advice.
        why: String,
    },
    /// This election has no list of voters that could be changed.
    #[error("this election has no list of voters to change: use a quorum whose voters have stores")]
    NoVoters,
    /// The agent left, but without an orderly hand-over.
    #[error("{name} left without ending properly: {source}")]
    Leave {
        /// The agent.
        name: AgentId,
        /// The reason.
        #[source]
        source: LeaveError,
    },
    /// The conditions of a network are not valid.
    #[error("the network conditions are refused: {0}")]
    Conditions(#[from] ConditionsError),
    /// The cluster is not settled.
    #[error("the cluster is not settled within {waited:?}: {obstacle}")]
    NotSettled {
        /// Time for which the call waited.
        waited: Duration,
        /// The obstacle at the end of the wait.
        obstacle: String,
    },
}

debug_is_text!(ClusterError);

/// Returns the refusal of a command to an agent in this condition. The condition [`Condition::Up`] means that the agent
/// must be down first.
pub(super) fn not_now(name: &AgentId, condition: Condition) -> ClusterError {
    refuse(
        name,
        match condition {
            Condition::Up => "is up: crash or stop it first",
            Condition::Hung => "hangs: resume it first",
            Condition::Restarting => {
                "is down and will be restarted by its supervisor: let time pass"
            }
            Condition::Down => "is down: restart it first",
        },
    )
}

pub(super) fn refuse(name: &AgentId, why: impl Into<String>) -> ClusterError {
    let (name, why) = (name.clone(), why.into());
    ClusterError::Refused { name, why }
}

pub(super) fn taken(name: &AgentId) -> ClusterError {
    refuse(name, "is the name of an agent already: choose another name")
}

pub(super) fn refused(name: &str, source: StartError) -> ClusterError {
    let name = name.to_owned();
    let source = source.into();
    ClusterError::Start { name, source }
}
