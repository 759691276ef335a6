//! What a [`Sender`](super::sender::Sender) takes and gives.

use std::time::Duration;

use crate::{
    group::NodeDigest,
    protocol::{AgentId, Incarnation, Term},
};

use super::Overflow;

/// One life of an agent's endpoint. The incarnation alone is not enough: each node numbers incarnations for itself, so
/// that of an agent which has moved may be the one that it had before, and nothing that the former endpoint knew is
/// known to the present one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Life {
    pub(crate) node: NodeDigest,
    pub(crate) incarnation: Incarnation,
}

/// Where a run goes: an agent's endpoint, and the term in which the agent has to lead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) id: AgentId,
    /// That of its endpoint.
    pub(super) life: Life,
    pub(super) term: Term,
}

/// The limits of one proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProxyBounds {
    /// Messages that are kept, and their bytes: those in the buffer and those in flight.
    pub(super) messages: usize,
    pub(super) bytes: usize,
    pub(super) overflow: Overflow,
    /// For so long an answer is waited for.
    pub(super) patience: Duration,
}

/// A message with its number, which is its own for as long as the proxy lasts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeptMessage<P> {
    pub(super) id: u64,
    pub(super) size: usize,
    pub(super) payload: P,
}

/// Why a leader does not take the rest of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It does not lead, in that term.
    NotLeader,
    /// It leads, and what handles the messages is not there yet, or there no more.
    NotReady,
    /// It leads, and nothing there handles such messages.
    Unregistered,
    /// Something before it never came.
    Gap,
    /// The actor has no room for it, and as much waits for the actor as there is room for.
    Busy,
}

/// What has become of messages.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Settled<P> {
    pub(super) delivered: u64,
    /// May have been delivered, and are not sent again.
    pub(super) unknown: Vec<KeptMessage<P>>,
    /// Were not delivered, and cannot be.
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

/// What is to be sent now.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// So many messages, the last ones in flight, of which the first has this number in its run.
    Batch {
        to: Target,
        run: u64,
        first: u64,
        count: usize,
    },
    /// The question what became of a run; the message after the last one has this number.
    Probe { to: Target, run: u64, next: u64 },
}

/// Where a message was when its sender gave it up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cancelled {
    /// In the buffer: it is not sent.
    Unsent,
    /// On its way or delivered.
    Sent,
}

/// Who answers, and about which run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answerer<'a> {
    pub(super) id: &'a AgentId,
    pub(super) life: Life,
    pub(super) run: u64,
}
