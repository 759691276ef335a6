//! Reports of a running node for an operator, and the operator's commands.
//!
//! ```text
//!   handles of agents ─▶ Operated ── report() ──▶ Report            ─┐  plain data, JSON
//!   BridgeHandle      ─▶    │     ── explain() ──▶ Explanation     │
//!                           │     ── carry_out(Order) ──▶ Outcome   ─┘
//!                           │     ── record(RecordRequest) ──▶ AgentRecording, what an agent says and hears
//!                           ├── history() ──▶ GroupHistory       who led before, until when and why
//!                           ├── keep_history(folder)  files, with what is found meanwhile
//!                           ├── save_records(folder)  files, when a leader is missed
//!                           ├── serve_socket(path, ..)   a local socket
//!                           └── web::routes(..)          routes of actix-web, the feature `actix-web`
//! ```
//!
//! Decided here: the contents of reports, which commands exist, and **the outcome of each command**: the answer to a
//! command is never only "accepted". An [`Outcome`] contains the successor and its term, or the reason why nothing
//! happened. Not here: the rules of an election ([`elections`](crate::elections)).
//!
//! The program `bullyctl` (`tools/bullyctl`) shows and commands a node through the socket or the routes. Its command
//! `preflight` measures a host before a node runs there, as `Config::preflight` (feature `serde`) does.
//!
//! # Who may
//! A command can end a leadership, so only few users may send one: the socket answers only its own user and root, and
//! the routes accept no commands unless a token was set. Every user who may use the socket or the routes may read every
//! report.
//!
//! # Examples
//! ```
//! use actix::prelude::*;
//! use actix_bully::{Group, agent::BullyAgent, operate::{Command, Operated, Order, OutcomeVerdict}};
//! use std::time::Duration;
//!
//! System::new().block_on(async {
//!     let group = Group::new("orders")?;
//!     let first = BullyAgent::builder("api-1").score(30).join(&group).start()?;
//!     let _second = BullyAgent::builder("api-2").score(20).join(&group).start()?;
//!     first.wait_for_leader(Duration::from_secs(5)).await?;
//!
//!     let node = Operated::new(&first);
//!     assert_eq!(node.report().agents[0].members.len(), 2);
//!     let outcome = node.carry_out(Order::new(Command::StepDown { to: None })).await;
//!     assert_eq!(outcome.verdict(), OutcomeVerdict::Done, "{outcome}");
//!     # Ok::<(), Box<dyn std::error::Error>>(())
//! }).unwrap();
//! ```

mod agent;
mod carry_out;
mod command;
mod explain;
mod history;
mod json;
mod judge;
#[cfg(feature = "dashboard")]
mod listed;
mod liveness;
mod marks;
mod outcome;
mod record;
mod refusal;
mod report;
mod saved;
#[cfg(unix)]
mod socket;
#[cfg(test)]
mod tests;

use std::{fmt, sync::Arc};

use crate::{agent::ElectionHandle, protocol::Election, remote::BridgeHandle};

pub use command::{Command, Order};
pub use explain::Explanation;
#[cfg(feature = "dashboard")]
pub(crate) use listed::SavedError;
pub use outcome::{Outcome, OutcomeVerdict};
pub use record::{AgentRecording, RecordRequest};
pub use refusal::CommandRefusal;
pub use report::{AgentReport, BridgeReport, ContenderReport, LinkReport, MemberReport, Report};
pub use saved::RecordFolder;
#[cfg(unix)]
pub use socket::{SocketError, SocketGuard, serve_socket};

use agent::OperatedAgent;

/// The agents of a node, and its bridge if it has one, as an operator sees them. Clones refer to the same agents.
#[derive(Clone)]
pub struct Operated {
    agents: Vec<Arc<dyn OperatedAgent>>,
    bridge: Option<BridgeHandle>,
}

impl Operated {
    /// Returns a node of one agent.
    pub fn new<E: Election>(handle: &ElectionHandle<E>) -> Self {
        Self {
            agents: vec![Arc::new(handle.clone())],
            bridge: None,
        }
    }

    /// Adds another agent, of any election.
    #[must_use]
    pub fn agent<E: Election>(mut self, handle: &ElectionHandle<E>) -> Self {
        self.agents.push(Arc::new(handle.clone()));
        self
    }

    /// Adds the node's bridge: the report shows its peers. The bridge says goodbye to its peers when the last agent has
    /// left by [`Command::Drain`].
    #[must_use]
    pub fn bridge(mut self, bridge: &BridgeHandle) -> Self {
        self.bridge = Some(bridge.clone());
        self
    }
}

impl fmt::Debug for Operated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operated")
            .field(
                "agents",
                &self
                    .agents
                    .iter()
                    .map(|agent| agent.id())
                    .collect::<Vec<_>>(),
            )
            .field("bridge", &self.bridge)
            .finish_non_exhaustive()
    }
}
