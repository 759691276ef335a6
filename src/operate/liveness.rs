//! Whether a node is alive, ready, or leads, as supervisors of processes and load balancers ask.
//!
//! Decided here: an agent is alive if it comes to its messages in time, or crashed and is about to be restarted
//! by its own supervisor, or was drained on purpose. A process that merely answers says nothing of its agents.

use std::{sync::atomic::Ordering::Relaxed, time::Duration};

use actix::clock::timeout;
use futures::future::join_all;

use crate::agent::{Lifecycle, has_timers};

use super::{Operated, agent::OperatedAgent};

/// An agent that is alive has come to a message within this time; kubelet asks for a second by default.
const WITHIN: Duration = Duration::from_millis(500);

impl Operated {
    /// Whether all agents of the node are alive: none hangs for half a second, and none has ended, unless the
    /// node was [drained](super::Command::Drain). Whether they lead, or know a leader, does not matter.
    ///
    /// An agent that waits for its disk so long counts as one that hangs.
    pub async fn is_alive(&self) -> bool {
        let agents = self
            .agents
            .iter()
            .map(|agent| self.is_agent_alive(&**agent));
        has_timers() && join_all(agents).await.into_iter().all(|alive| alive)
    }

    /// Whether all agents of the node run. Whether they lead does not matter, so that a group without a leader
    /// is not without any node as well.
    pub fn is_ready(&self) -> bool {
        let mut agents = self.agents.iter();
        agents.all(|agent| agent.status().lifecycle == Lifecycle::Running)
    }

    /// Whether all agents of the node know a leader.
    pub fn has_leader(&self) -> bool {
        let mut agents = self.agents.iter();
        agents.all(|agent| agent.status().leader.is_some())
    }

    /// Whether all agents of the node lead.
    pub fn is_leading(&self) -> bool {
        let mut agents = self.agents.iter();
        agents.all(|agent| agent.status().leading.is_some())
    }

    async fn is_agent_alive(&self, agent: &dyn OperatedAgent) -> bool {
        let lifecycle = || match agent.status().lifecycle {
            Lifecycle::Running => None,
            Lifecycle::Down => Some(true),
            Lifecycle::Ended => Some(self.is_drained.load(Relaxed)),
        };
        match lifecycle() {
            Some(alive) => alive,
            None => match timeout(WITHIN, agent.answers()).await {
                Ok(true) => true,
                // It may have crashed, or ended, since it was looked at.
                Ok(false) | Err(_) => lifecycle().unwrap_or(false),
            },
        }
    }
}
