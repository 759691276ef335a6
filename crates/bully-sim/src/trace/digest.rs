//! A run as one number: the actions of the agents, their times and their receivers.
//!
//! Decided here: the values that are hashed. For a message, its kind, term, sender and receiver are hashed; for any
//! other entry, its values, but no names from the code. So the digest does not change if a message gets another field,
//! or another place in its enum. The digests of two builds differ if one build sends a message more, later, or to
//! another agent. A text, such as the reason of a loss, is not hashed: only its entry counts. The digest grows while
//! the run is recorded, so it needs no stored entries.
//!
//! Not here: the choice of recorded entries ([`Trace`](super::Trace)).

use std::hash::{Hash, Hasher};

use super::Happening;
use bully_core::protocol::{AgentId, Event, PeerMessage, Role, Time};

/// A number that is hashed before the values of an entry, so that entries of two kinds never have the same hash input.
#[derive(Clone, Copy, Debug, Hash)]
pub(super) enum DigestStep {
    Sent,
    Lost,
    Delivered,
    Dropped,
    Role,
    Event,
    Happened,
    Mark,
}

/// FNV-1a, 64 bits, without a random start: one build gives the same number on all machines of the same word size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    pub(super) const fn value(&self) -> u64 {
        self.0
    }

    pub(super) fn message<M: PeerMessage>(
        &mut self,
        step: DigestStep,
        at: Time,
        from: &AgentId,
        to: &AgentId,
        message: &M,
    ) {
        (step, at, from, to, message.kind(), message.term()).hash(self);
    }

    /// Adds an arrival of a message, without a number. A duplicated message has several arrivals.
    pub(super) fn arrival(&mut self, at: Time) {
        at.hash(self);
    }

    pub(super) fn role(&mut self, at: Time, agent: &AgentId, role: Role) {
        (DigestStep::Role, at, agent, role).hash(self);
    }

    pub(super) fn event(&mut self, at: Time, agent: &AgentId, event: &Event) {
        (DigestStep::Event, at, agent, event).hash(self);
    }

    pub(super) fn happened(&mut self, at: Time, agent: &AgentId, what: Happening) {
        (DigestStep::Happened, at, agent, what).hash(self);
    }

    pub(super) fn mark(&mut self, at: Time) {
        (DigestStep::Mark, at).hash(self);
    }
}

impl Hasher for Digest {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
