//! A message that waits in the queue to a node.
//!
//! Decided here: the number of bytes that a message takes of the queue's limit, and which later message replaces it.
//! Not here: the queue.

use std::{ops::Range, sync::Arc};

use actix::clock::Instant;

use crate::protocol::{AgentId, Incarnation, Member};

/// The key by which one repeated message replaces another: the same kind, of the same sender, to the same receivers.
/// The kind is part of the key, because an acknowledgement must not replace a heartbeat.
pub(super) type RepeatKey = (u32, &'static str, AgentId, Receivers);

/// A message that waits to be sent to another node.
#[derive(Clone, Debug)]
pub(crate) struct Queued {
    /// The number of the group in the list of the groups that the bridge carries.
    pub(crate) group: u32,
    pub(crate) from: AgentId,
    pub(crate) incarnation: Incarnation,
    pub(crate) to: Receivers,
    /// Position of the message's payload in its batch.
    pub(super) payload: Range<usize>,
    /// The kind of a repeated message, which a newer message of this kind may replace; `None` for other messages.
    pub(super) repeats: Option<&'static str>,
    pub(super) since: Instant,
}

/// The receivers of a message, on the other node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Receivers {
    All,
    One(AgentId),
    Several(Arc<[AgentId]>),
}

impl Queued {
    /// Returns whether the sender of this message is the present incarnation of `member` in the group with this number.
    pub(crate) fn is_of(&self, group: usize, member: &Member) -> bool {
        usize::try_from(self.group) == Ok(group)
            && self.from == member.id
            && Some(self.incarnation) == member.incarnation
    }

    pub(super) fn size(&self) -> usize {
        let names = match &self.to {
            Receivers::All | Receivers::One(_) => 1,
            Receivers::Several(several) => several.len(),
        };
        let numbers = names.saturating_mul(size_of::<AgentId>());
        self.payload
            .len()
            .saturating_add(numbers)
            .saturating_add(OVERHEAD)
    }

    /// Returns the key of the message; `None` if no other message may replace the message.
    pub(super) fn key(&self) -> Option<RepeatKey> {
        Some((
            self.group,
            self.repeats?,
            self.from.clone(),
            self.to.clone(),
        ))
    }
}

/// Approximate size of a queued message without its payload, in bytes.
const OVERHEAD: usize = 64;
