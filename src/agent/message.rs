//! The messages between applications and an agent.
//!
//! Messages of other agents are [`Envelope`](crate::group::Envelope); the commands that go through a
//! handle are private to this layer.

use std::{fmt, pin::Pin, time::Duration};

use actix::{Message, Recipient};

use tokio::sync::oneshot;

use crate::protocol::{AgentId, Event, Score, VoterChange};

use super::{CommandError, subscribers::SubscriberId, voters::ChangeOutcome};

/// An agent's event, as subscribers receive it.
///
/// At one agent `Acquired` and `Lost` alternate, also when an incarnation ends while it leads; see
/// [`Event`].
#[derive(Clone, Debug, PartialEq, Eq, Message)]
#[rtype(result = "()")]
pub struct Notice {
    /// The agent.
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

/// As [`Subscribe`], by an actor that works while the agent leads: after [`Event::Draining`] the
/// agent waits for its [`Drained`], up to the limit set, unless the actor has stopped.
///
/// The answer is the token that it sends that message with. [`ElectionHandle::subscribe_draining`] gives it at once.
///
/// [`ElectionHandle::subscribe_draining`]: super::ElectionHandle::subscribe_draining
#[derive(Clone, Debug, Message)]
#[rtype(result = "DrainingToken")]
pub struct SubscribeDraining(pub Recipient<Notice>);

/// "My work has ended": the message of one draining subscriber, made by its [`DrainingToken`].
/// However often a subscriber sends it, a hand-over goes on when all have sent theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Message)]
#[rtype(result = "()")]
pub struct Drained {
    pub(super) subscriber: SubscriberId,
}

/// One draining subscriber of an agent, as the agent knows it.
///
/// Keep it in the actor that subscribed. Clones are the same subscriber; dropping it sends nothing.
#[derive(Clone, Debug)]
#[must_use = "a hand-over waits for the message of each draining subscriber"]
pub struct DrainingToken {
    agent: Recipient<Drained>,
    subscriber: SubscriberId,
}

impl DrainingToken {
    pub(super) fn new(agent: Recipient<Drained>, subscriber: SubscriberId) -> Self {
        Self { agent, subscriber }
    }

    /// Says that this subscriber's work under the present leadership has ended. Say it after
    /// [`Event::Draining`], when the work has ended; at other times it means nothing.
    ///
    /// # Errors
    /// [`CommandError::Ended`] when the agent left or ended for good.
    pub fn drained(&self) -> Result<(), CommandError> {
        if !self.agent.connected() {
            return Err(CommandError::Ended);
        }
        // do_send: one for each piece of work that has ended, and a hand-over waits for it.
        self.agent.do_send(self.message());
        Ok(())
    }

    /// The message that [`drained`](Self::drained) sends, to be sent in another way.
    pub const fn message(&self) -> Drained {
        Drained {
            subscriber: self.subscriber,
        }
    }
}

/// Asks an agent of a bully election to hold one (ASTRA's goal `!bully_election()`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Message)]
#[rtype(result = "()")]
pub struct BullyElection;

/// A command of a handle, or of a lead future that has ended.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) enum AgentCommand {
    Campaign,
    SetScore(Option<Score>),
    /// The score that counts is another one, because of what the agent is tied to.
    RefreshScore,
    StepDown {
        to: Option<AgentId>,
    },
    /// The work of that tenure failed: the agent steps down, and lets others go first for that long at least.
    WorkFailed {
        serial: u64,
        held_back: Duration,
    },
    /// Another list of voters.
    ChangeVoters {
        change: Box<VoterChange>,
        answer: oneshot::Sender<ChangeOutcome>,
    },
    /// The work of that tenure has said nothing of its progress for so long.
    Stalled {
        serial: u64,
        span: Duration,
    },
    /// Runs a task beside the agent, on its arbiter.
    Run(AgentTask),
    /// A lead future has ended: it may have been the last one that a hand-over waits for.
    Recheck,
    SubscribeDraining {
        id: SubscriberId,
        to: Recipient<Notice>,
    },
    /// The work of the only draining subscriber has ended.
    Drained,
    /// Hand over if leading, then stop.
    Leave,
    Stop,
}

/// A task that an agent runs on its arbiter, which goes on where an application's own arbiter hangs.
pub(super) struct AgentTask(pub(super) Pin<Box<dyn Future<Output = ()> + Send>>);

impl fmt::Debug for AgentTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AgentTask(..)")
    }
}
