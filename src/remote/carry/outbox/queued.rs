//! A message that waits.
//!
//! Decided here: what it counts for, and which other message replaces it. Not here: the queue.

use std::{ops::Range, sync::Arc};

use actix::clock::Instant;

use crate::protocol::{AgentId, Incarnation, Member};

/// What makes one repeated message replace another: the same kind, of the same sender, to the same receivers. An
/// acknowledgement is no substitute for a heartbeat, although a newer one of either follows.
pub(super) type RepeatKey = (u32, &'static str, AgentId, Receivers);

/// A message that waits.
#[derive(Clone, Debug)]
pub(crate) struct Queued {
    /// Which group, in the order in which the bridge carries them.
    pub(crate) group: u32,
    pub(crate) from: AgentId,
    pub(crate) incarnation: Incarnation,
    pub(crate) to: Receivers,
    /// Where its batch keeps what it says.
    pub(super) payload: Range<usize>,
    /// Its kind, if a newer one of that kind follows anyway.
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
    /// Whether that member of that group says it, in its present incarnation.
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

    /// `None` if no other message replaces it.
    pub(super) fn key(&self) -> Option<RepeatKey> {
        Some((
            self.group,
            self.repeats?,
            self.from.clone(),
            self.to.clone(),
        ))
    }
}

/// What a queued message takes beside its payload, about.
const OVERHEAD: usize = 64;
