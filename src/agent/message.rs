//! The messages between applications and an agent.
//!
//! Messages of other agents are [`Envelope`](crate::group::Envelope). The commands of a handle are private to this
//! layer.

use std::{fmt, pin::Pin, time::Duration};

use actix::{Message, Recipient};

use tokio::sync::oneshot;

use crate::protocol::{AgentId, Event, Score, VoterChange};

use super::{CommandError, subscribers::SubscriberId, voters::ChangeOutcome};

/// An agent's event, as subscribers receive it.
///
/// `Acquired` and `Lost` of one agent alternate, even if an incarnation ends while it leads; see [`Event`].
#[derive(Clone, Debug, PartialEq, Eq, Message)]
#[rtype(result = "()")]
pub struct Notice {
    /// The name of the agent.
    pub agent: AgentId,
    /// The event.
    pub event: Event,
}

/// Subscribes to an agent's events; the present state comes first.
///
/// The agent does not keep its subscriber alive: keep an address of it.
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct Subscribe(pub Recipient<Notice>);

/// Subscribes an actor that works while the agent leads. After [`Event::Draining`] the agent waits for its [`Drained`],
/// up to the drain limit, unless the actor has stopped.
///
/// The answer is the token with which the actor sends [`Drained`]. [`ElectionHandle::subscribe_draining`] returns the
/// token at once.
///
/// [`ElectionHandle::subscribe_draining`]: super::ElectionHandle::subscribe_draining
#[derive(Clone, Debug, Message)]
#[rtype(result = "DrainingToken")]
pub struct SubscribeDraining(pub Recipient<Notice>);

/// The message "my work has ended" of one draining subscriber, made by its [`DrainingToken`]. A subscriber may send the
/// message several times. A hand-over goes on when each draining subscriber has sent the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Message)]
#[rtype(result = "()")]
pub struct Drained {
    pub(super) subscriber: SubscriberId,
}

/// A token that identifies one draining subscriber of an agent.
///
/// Keep it in the actor that subscribed. Clones are the same subscriber. Dropping it sends nothing.
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

    /// Reports that this subscriber's work under the present leadership has ended. Call it after [`Event::Draining`],
    /// when the work has ended. At other times it has no effect.
    ///
    /// # Errors
    /// [`CommandError::Ended`] if the agent left or ended for good.
    pub fn drained(&self) -> Result<(), CommandError> {
        if !self.agent.connected() {
            return Err(CommandError::Ended);
        }
        // do_send: may exceed the mailbox's bound by one message for each end of work; a hand-over waits for it.
        self.agent.do_send(self.message());
        Ok(())
    }

    /// Returns the message that [`drained`](Self::drained) sends, to send it in another way.
    pub const fn message(&self) -> Drained {
        Drained {
            subscriber: self.subscriber,
        }
    }
}

/// Asks an agent of a bully election to start an election (ASTRA's goal `!bully_election()`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Message)]
#[rtype(result = "()")]
pub struct BullyElection;

/// A command to the agent, from a handle or from a task beside the agent, such as a lead future that has ended.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) enum AgentCommand {
    Campaign,
    SetScore(Option<Score>),
    /// The score that counts has changed, because the agent's tie changed.
    RefreshScore,
    StepDown {
        to: Option<AgentId>,
    },
    /// The work of the tenure `serial` ended, so the agent steps down. If the work failed, the agent then lets other
    /// agents lead first, for at least `held_back`.
    WorkEnded {
        serial: u64,
        held_back: Option<Duration>,
    },
    /// Asks for a change of the list of voters.
    ChangeVoters {
        change: Box<VoterChange>,
        answer: oneshot::Sender<ChangeOutcome>,
    },
    /// The work of the tenure `serial` has reported no progress for the time `span`.
    Stalled {
        serial: u64,
        span: Duration,
    },
    /// Runs a task beside the agent, on its arbiter.
    Run(AgentTask),
    /// A lead future has ended. A hand-over may have waited for this lead future only.
    Recheck,
    SubscribeDraining {
        id: SubscriberId,
        to: Recipient<Notice>,
    },
    /// The work of the only draining subscriber has ended.
    Drained,
    /// Hands over if the agent leads, then stops the agent.
    Leave,
    Stop,
}

/// A task that an agent runs on its arbiter, so that it goes on if an application's own arbiter hangs.
pub(super) struct AgentTask(pub(super) Pin<Box<dyn Future<Output = ()> + Send>>);

impl fmt::Debug for AgentTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AgentTask(..)")
    }
}
