//! What applications say to an agent, and what it says to them.
//!
//! Letters from other agents are [`Envelope`](crate::group::Envelope); the wishes that go through
//! a handle are private to this layer.

use actix::{Message, Recipient};

use crate::protocol::{AgentId, Event, Score};

use super::{CommandError, audience::Number};

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

/// As [`Subscribe`], by an actor that works while the agent leads: after [`Event::Draining`] the
/// agent waits for its [`Drained`], up to the limit set, unless the actor has stopped.
///
/// The answer is what it says so with. [`ElectionHandle::subscribe_draining`] gives it at once.
///
/// [`ElectionHandle::subscribe_draining`]: super::ElectionHandle::subscribe_draining
#[derive(Clone, Debug, Message)]
#[rtype(result = "DrainingToken")]
pub struct SubscribeDraining(pub Recipient<Notice>);

/// "My work has ended": the word of one subscriber, made by its [`DrainingToken`]. However often it
/// is said, a hand-over goes on when all have said theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Message)]
#[rtype(result = "()")]
pub struct Drained {
    pub(super) number: Number,
}

/// One draining subscriber of an agent, as the agent knows it.
///
/// Keep it in the actor that subscribed. Clones are the same subscriber; dropping it says nothing.
#[derive(Clone, Debug)]
#[must_use = "a hand-over waits for the word of each draining subscriber"]
pub struct DrainingToken {
    agent: Recipient<Drained>,
    number: Number,
}

impl DrainingToken {
    pub(super) fn new(agent: Recipient<Drained>, number: Number) -> Self {
        Self { agent, number }
    }

    /// Says that this subscriber's work under the present leadership has ended. Say it after
    /// [`Event::Draining`], when nothing is at work any more; at other times it means nothing.
    ///
    /// # Errors
    /// [`CommandError::Ended`] when the agent has, and nobody waits.
    pub fn drained(&self) -> Result<(), CommandError> {
        if !self.agent.connected() {
            return Err(CommandError::Ended);
        }
        self.agent.do_send(self.word());
        Ok(())
    }

    /// The message that [`drained`](Self::drained) sends, for those who send it in another way.
    pub const fn word(&self) -> Drained {
        Drained {
            number: self.number,
        }
    }
}

/// Asks an agent of a bully election to hold one (ASTRA's goal `!bully_election()`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Message)]
#[rtype(result = "()")]
pub struct BullyElection;

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
    /// Somebody subscribes who works.
    Work {
        number: Number,
        subscriber: Recipient<Notice>,
    },
    /// The work of the only one who works has ended.
    Drained,
    /// Hand over if leading, then stop.
    Leave,
    Stop,
}
