//! A running node, and its orderly end.
//!
//! Decided here: the order of the end (the agent hands over and leaves, the bridge says goodbye to peers, the arbiter
//! stops), and how these steps share a deadline.

use std::time::Duration;

use actix::clock::Instant;

use crate::{
    agent::{BullyHandle, ElectionArbiter, LeaveError},
    elections::AnyMessage,
    group::Group,
    leader::{ShutdownError, leave_when_asked},
    operate::Operated,
    remote::BridgeHandle,
};

/// An agent that a configuration started, with its bridge and its thread.
///
/// Keep this value as long as the agent has to run, and call [`leave`](Self::leave) before you drop it. With voters, a
/// drop without `leave` stops the agent and the bridge like a crash, and waits until their thread has ended.
#[derive(Debug)]
#[must_use = "dropping it may stop the agent"]
pub struct RunningNode {
    pub(super) agent: BullyHandle,
    pub(super) group: Group<AnyMessage>,
    pub(super) bridge: Option<BridgeHandle>,
    #[cfg(feature = "tls")]
    pub(super) tls: Option<crate::remote::tls::TlsConfig>,
    /// The thread of the agent and the bridge, if they have a thread of their own.
    #[expect(dead_code, reason = "held for its end")]
    pub(super) arbiter: Option<ElectionArbiter>,
}

impl RunningNode {
    /// Returns the agent.
    pub fn agent(&self) -> &BullyHandle {
        &self.agent
    }

    /// Returns the group.
    pub fn group(&self) -> &Group<AnyMessage> {
        &self.group
    }

    /// Returns the bridge, if the configuration has peers, an address to listen at, or zenoh.
    pub fn bridge(&self) -> Option<&BridgeHandle> {
        self.bridge.as_ref()
    }

    /// Returns the agent and its bridge for an operator, who can read their state and give commands.
    pub fn operated(&self) -> Operated {
        let operated = Operated::new(&self.agent);
        match &self.bridge {
            Some(bridge) => operated.bridge(bridge),
            None => operated,
        }
    }

    /// Returns the certificates. Renewed files are read before the next handshake, or within an hour.
    #[cfg(feature = "tls")]
    #[cfg_attr(docsrs, doc(cfg(feature = "tls")))]
    pub fn tls(&self) -> Option<&crate::remote::tls::TlsConfig> {
        self.tls.as_ref()
    }

    /// Ends the node in the right order. First the agent hands over if it leads, and leaves its group. Then the bridge
    /// sends the waiting messages and says goodbye to its peers. An eighth of `deadline` is kept for the goodbye.
    ///
    /// # Errors
    /// [`ShutdownError::Agent`] or [`ShutdownError::Bridge`]: the first error that occurred. All parts have ended even
    /// after an error, except without a runtime with timers ([`LeaveError::NoRuntime`]): then nothing was ended.
    pub async fn leave(&self, deadline: Duration) -> Result<(), ShutdownError> {
        leave(&self.agent, self.bridge.as_ref(), deadline).await
    }

    /// Waits for SIGTERM or Ctrl-C, then [leaves](Self::leave); returns when all parts have ended. Also leaves and
    /// returns when the agent has ended for good by itself: only a new process brings the agent back.
    ///
    /// The rules are the rules of [`leave_on_signals`](crate::leader::leave_on_signals): signals are received from this
    /// call on, the agent hands over first, and the server stops afterwards. The future does not borrow this value, but
    /// keep the value until the future has ended. With actix-web:
    ///
    /// ```ignore
    /// let leave = running.leave_on_signals(Duration::from_secs(10));
    /// HttpServer::new(App::new).shutdown_signal(async move { leave.await.ok(); })
    /// ```
    ///
    /// # Errors
    /// The errors of [`leave`](Self::leave); [`ShutdownError::Signals`], at once, if this process cannot wait for
    /// signals; [`ShutdownError::Ended`] if the agent has ended for good by itself.
    pub fn leave_on_signals(
        &self,
        deadline: Duration,
    ) -> impl Future<Output = Result<(), ShutdownError>> + Send + 'static + use<> {
        let (agent, bridge) = (self.agent.clone(), self.bridge.clone());
        leave_when_asked(deadline, agent.retired(), move |deadline| {
            let (agent, bridge) = (agent.clone(), bridge.clone());
            async move { leave(&agent, bridge.as_ref(), deadline).await }
        })
    }
}

async fn leave(
    agent: &BullyHandle,
    bridge: Option<&BridgeHandle>,
    deadline: Duration,
) -> Result<(), ShutdownError> {
    let Some(bridge) = bridge else {
        return Ok(agent.leave(deadline).await?);
    };
    // Time is kept for the goodbye: without it, the peers would think that the node has crashed.
    let goodbye = deadline / 8;
    let began = Instant::now();
    let left = agent.leave(deadline.saturating_sub(goodbye)).await;
    if left == Err(LeaveError::NoRuntime) {
        return Ok(left?);
    }
    // The goodbye may use the time that the hand-over did not need.
    let rest = deadline.saturating_sub(began.elapsed()).max(goodbye);
    let drained = bridge.drain(rest).await;
    left?;
    Ok(drained?)
}
