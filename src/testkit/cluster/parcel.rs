//! Messages under way between the agents of a cluster.
//!
//! Decided here: messages of applications are carried like messages of their agents, and are not part of an election.
//! Not here: the fate of a message, and the order of arrival (`journal.rs`).

use actix::Recipient;

use crate::{
    group::{AppMessage, Envelope},
    protocol::{AgentId, PeerMessage},
};

/// A message under way.
#[derive(Clone, Debug)]
pub(super) struct Parcel<M: PeerMessage> {
    pub(super) to: AgentId,
    pub(super) envelope: Envelope<M>,
    pub(super) inbox: Recipient<Envelope<M>>,
}

impl<M: PeerMessage> Parcel<M> {
    pub(super) fn new(to: &AgentId, envelope: Envelope<M>, inbox: &Recipient<Envelope<M>>) -> Self {
        let (to, inbox) = (to.clone(), inbox.clone());
        Self {
            to,
            envelope,
            inbox,
        }
    }
}

/// A message under way, of an agent or of its application.
#[derive(Clone, Debug)]
pub(super) enum Load<M: PeerMessage> {
    /// A message of an agent, and its worth to the election.
    Agent(Parcel<M>, Worth),
    /// A message of an application.
    Application(Parcel<AppMessage>),
}

/// The worth of a message to an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Worth {
    /// The message is part of the election.
    Election,
    /// The message is of a kind that agents repeat, such as a heartbeat, and it is not equal to the last message of this
    /// kind from the same sender to the same receiver.
    Changed,
    /// The message is of a kind that agents repeat, and it is equal to the last message of this kind from the same sender
    /// to the same receiver.
    Nothing,
}

impl<M: PeerMessage> Load<M> {
    /// Returns whether the message is under way from the agent `from` to the agent `to`.
    pub(super) fn is_between(&self, from: &AgentId, to: &AgentId) -> bool {
        let (sender, receiver) = match self {
            Self::Agent(parcel, _) => (&parcel.envelope.from, &parcel.to),
            Self::Application(parcel) => (&parcel.envelope.from, &parcel.to),
        };
        sender == from && receiver == to
    }

    /// Returns the receiver, if the message may change something for the election.
    pub(super) fn matters_to(&self) -> Option<&AgentId> {
        match self {
            Self::Agent(_, Worth::Nothing) | Self::Application(_) => None,
            Self::Agent(parcel, Worth::Election | Worth::Changed) => Some(&parcel.to),
        }
    }
}
