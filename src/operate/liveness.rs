//! Answers whether a node is alive, is ready, or leads. Process supervisors and load balancers ask these questions.
//!
//! Decided here: an agent is alive if it handles its messages in time, or if it has crashed and its own supervisor will
//! restart it, or if it was drained on purpose. An answer of the process alone would prove nothing about its agents, so
//! each agent is asked.

use std::time::Duration;

use actix::clock::timeout;
use futures::future::join_all;

use crate::agent::{Lifecycle, has_timers};

use super::{Operated, agent::OperatedAgent};

/// Time within which a living agent handles a message. It is shorter than kubelet's default limit of a second.
const WITHIN: Duration = Duration::from_millis(500);

impl Operated {
    /// Returns whether all agents of the node are alive: no agent hangs for half a second, and no agent has ended,
    /// unless it was [drained](super::Command::Drain). Whether the agents lead, or know a leader, does not matter.
    ///
    /// An agent that waits for its disk for half a second counts as hanging as well.
    pub async fn is_alive(&self) -> bool {
        let agents = self.agents.iter();
        let agents = agents.map(|agent| Self::is_agent_alive(&**agent));
        has_timers() && join_all(agents).await.into_iter().all(|alive| alive)
    }

    /// Returns whether all agents of the node run. Whether the agents lead does not matter: otherwise all nodes of a
    /// group without a leader would count as not ready.
    pub fn is_ready(&self) -> bool {
        let mut agents = self.agents.iter();
        agents.all(|agent| agent.status().lifecycle == Lifecycle::Running)
    }

    /// Returns whether all agents of the node know a leader.
    pub fn has_leader(&self) -> bool {
        let mut agents = self.agents.iter();
        agents.all(|agent| agent.status().leader.is_some())
    }

    /// Returns whether all agents of the node lead.
    pub fn is_leading(&self) -> bool {
        let mut agents = self.agents.iter();
        agents.all(|agent| agent.status().leading.is_some())
    }

    async fn is_agent_alive(agent: &dyn OperatedAgent) -> bool {
        let lifecycle = || match agent.status().lifecycle {
            Lifecycle::Running => None,
            Lifecycle::Down => Some(true),
            Lifecycle::Ended => Some(agent.drain_mark().is_set()),
        };
        match lifecycle() {
            Some(alive) => alive,
            None => match timeout(WITHIN, agent.answers()).await {
                Ok(true) => true,
                // The agent may have crashed or ended since its state was read first.
                Ok(false) | Err(_) => lifecycle().unwrap_or(false),
            },
        }
    }
}
