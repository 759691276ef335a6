//! What applications and tests say to an agent, and what it says to them.
//!
//! Letters from other agents are [`Incoming`](crate::group::Incoming); the wishes that go through
//! a handle are private to this layer.

use std::{fmt, future::Future, pin::Pin};

use actix::{Message, Recipient};

use crate::protocol::{AgentId, Event, Score};

/// What subscribers receive: an agent's event.
///
/// At one agent `Acquired` and `Lost` alternate, also when a life ends while it leads; see
/// [`Event`].
#[derive(Clone, Debug, PartialEq, Eq, Message)]
#[rtype(result = "()")]
pub struct Notice {
    /// Whose.
    pub agent: AgentId,
    /// What happened.
    pub event: Event,
}

/// Subscribes to an agent's events; the present state comes first.
///
/// The agent does not keep its subscriber alive: keep an address of it.
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct Subscribe(pub Recipient<Notice>);

/// As [`Subscribe`], by somebody who works while the agent leads: after
/// [`Event::Draining`] the agent waits for its [`Drained`], up to the limit set.
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct SubscribeDraining(pub Recipient<Notice>);

/// "My work has ended": the answer of one who sent [`SubscribeDraining`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Message)]
#[rtype(result = "()")]
pub struct Drained;

/// Asks an agent of a bully election to hold one (ASTRA's goal `!bully_election()`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Message)]
#[rtype(result = "()")]
pub struct BullyElection;

/// A fault to be had on purpose, for tests and demonstrations.
#[derive(Message)]
#[rtype(result = "()")]
#[non_exhaustive]
pub enum Inject {
    /// The agent panics, without the noise of a panic.
    Crash,
    /// The agent stops as it stands, without handing over.
    Stop,
    /// The agent handles nothing, neither mail nor timers, until this has ended.
    Hang(Pin<Box<dyn Future<Output = ()> + Send>>),
}

impl Inject {
    /// See [`Inject::Hang`].
    pub fn hang(until: impl Future<Output = ()> + Send + 'static) -> Self {
        Self::Hang(Box::pin(until))
    }
}

impl fmt::Debug for Inject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Crash => "Crash",
            Self::Stop => "Stop",
            Self::Hang(_) => "Hang(..)",
        })
    }
}

/// What a handle, or the end of a lead future, asks of the agent.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) enum Command {
    Campaign,
    SetScore(Option<Score>),
    StepDown {
        to: Option<AgentId>,
    },
    /// A lead future has ended: there may be nobody left who drains.
    Recheck,
    /// Hand over if leading, then stop.
    Leave,
    Stop,
}
