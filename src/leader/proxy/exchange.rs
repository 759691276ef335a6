//! The input and output of a [`Sender`](super::sender::Sender).

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    group::NodeDigest,
    protocol::{AgentId, Incarnation, Term},
};

/// Identifies one endpoint of an agent, from the endpoint's start to its end. The incarnation alone is not enough,
/// because each node numbers incarnations by itself: an agent that moved to another node may have the same incarnation
/// as before, but its new endpoint does not know the state of the former endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "(u64, Incarnation)", into = "(u64, Incarnation)")]
pub(crate) struct Life {
    pub(crate) node: NodeDigest,
    pub(crate) incarnation: Incarnation,
}

impl From<(u64, Incarnation)> for Life {
    fn from((node, incarnation): (u64, Incarnation)) -> Self {
        let node = NodeDigest(node);
        Self { node, incarnation }
    }
}

impl From<Life> for (u64, Incarnation) {
    fn from(Life { node, incarnation }: Life) -> Self {
        (node.0, incarnation)
    }
}

/// The target of a *run* (messages to one leader in one term): an agent's endpoint, and the term in which it must lead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) id: AgentId,
    /// The agent's endpoint.
    pub(super) life: Life,
    pub(super) term: Term,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProxyBounds {
    /// Largest number of messages, and of their bytes, that are kept: in the buffer and in flight together.
    pub(super) messages: usize,
    pub(super) bytes: usize,
    /// Longest wait for an answer.
    pub(super) patience: Duration,
}

/// A message with its number, which no other message of the proxy has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeptMessage<P> {
    pub(super) id: u64,
    pub(super) size: usize,
    pub(super) payload: P,
}

/// Reason why a leader does not take the rest of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Refusal {
    /// The asked agent does not lead in the term of the run.
    NotLeader,
    /// The agent leads, but its actor for the messages has not started yet, or has ended.
    NotReady,
    /// The agent leads, but no actor is registered for such messages.
    Unregistered,
    /// An earlier message of the run did not arrive.
    Gap,
    /// The actor has no room for the message, and the queue of the actor is full.
    Busy,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Settled<P> {
    pub(super) delivered: u64,
    /// Messages that may have been delivered, and are not sent again.
    pub(super) unknown: Vec<KeptMessage<P>>,
    /// Messages that were not delivered, and cannot be delivered.
    pub(super) undeliverable: Vec<KeptMessage<P>>,
}

impl<P> Default for Settled<P> {
    fn default() -> Self {
        Self {
            delivered: 0,
            unknown: Vec::new(),
            undeliverable: Vec::new(),
        }
    }
}

/// The next frame to send: the last `count` messages in flight. A frame without messages asks for the outcome of a run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Next {
    pub(super) to: Target,
    pub(super) run: u64,
    /// The number of the first message of the frame in its run; in a question the number after the last message.
    pub(super) first: u64,
    pub(super) count: usize,
}

/// The agent that sent an answer, and the run that the answer is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answerer<'a> {
    pub(super) id: &'a AgentId,
    pub(super) life: Life,
    pub(super) run: u64,
}

/// Returns whether `from` may answer a message that was sent to the endpoint `to`: only the agent that was asked. A
/// message that was not sent yet has no answer.
pub(super) fn may_answer(to: Option<&(AgentId, Life)>, from: &AgentId) -> bool {
    to.is_some_and(|(asked, _)| asked == from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_agent_that_was_asked_may_answer() {
        let [leader, other] = ["leader", "other"].map(|name| AgentId::new(name).unwrap());
        let life = Life {
            node: NodeDigest(1),
            incarnation: Incarnation(1),
        };
        let asked = (leader.clone(), life);
        assert!(may_answer(Some(&asked), &leader));
        assert!(!may_answer(Some(&asked), &other));
        assert!(!may_answer(None, &leader));
    }
}
