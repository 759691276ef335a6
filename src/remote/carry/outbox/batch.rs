//! Messages in the order of sending, each with a number by which it can be removed.
//!
//! Decided here: the payloads of all messages are in one block, so that a message needs no memory of its own. A message
//! that is removed from the middle leaves a gap in the batch and a hole in the block. The number of gaps is limited by
//! the number of messages, and the bytes of holes by the bytes of payloads.
//!
//! A block for each message would be simpler, but was slower. In a measurement of a backlog, one shared buffer for each
//! payload took a fifth more CPU, and an ordered map instead of gaps took half more.

use std::{collections::VecDeque, ops::Range};

use bytes::BytesMut;
use serde::Serialize;

use super::Queued;
use crate::remote::wire::{Unencodable, encode_payload};

/// A batch of messages. Their numbers grow, and stay valid until all gaps are closed.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The messages in the order of sending; `None` is the gap of a removed message. The first entry is never a gap.
    entries: VecDeque<Option<Queued>>,
    /// The number of the first entry.
    first: u64,
    gaps: usize,
    /// The payloads of the messages, in their order.
    payloads: BytesMut,
    /// End of the last message's payload, as a position in `payloads`.
    end: usize,
    /// Bytes of messages that were removed.
    holes: usize,
}

impl Batch {
    pub(super) fn len(&self) -> usize {
        self.entries.len().saturating_sub(self.gaps)
    }

    /// Returns the number of messages and gaps, and the number of bytes of payloads and holes.
    #[cfg(test)]
    pub(super) fn room(&self) -> (usize, usize) {
        (self.entries.len(), self.payloads.len())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn oldest(&self) -> Option<&Queued> {
        self.entries.front()?.as_ref()
    }

    /// Returns all messages with their payloads.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Queued, &[u8])> {
        let messages = self.entries.iter().flatten();
        messages.map(|message| (message, self.written(&message.payload)))
    }

    /// Writes the payload of the next message. Returns its range.
    pub(super) fn write<M: Serialize>(&mut self, message: &M) -> Result<Range<usize>, Unencodable> {
        self.payloads.truncate(self.end); // removes bytes of a write that panicked
        encode_payload(message, &mut self.payloads)?;
        Ok(self.end..self.payloads.len())
    }

    /// Returns the payload at this position.
    pub(super) fn written(&self, payload: &Range<usize>) -> &[u8] {
        self.payloads.get(payload.clone()).unwrap_or_default()
    }

    /// Appends the message whose payload was written last. Returns its number.
    pub(super) fn push(&mut self, message: Queued) -> u64 {
        let ahead = u64::try_from(self.entries.len()).unwrap_or(u64::MAX);
        // `end` moves only here: if a message had no room in the queue, it was not pushed, and the next payload
        // overwrites its payload.
        self.end = message.payload.end;
        self.entries.push_back(Some(message));
        self.first.saturating_add(ahead)
    }

    /// Removes the message with this number; `None` if the message was removed before.
    pub(super) fn remove(&mut self, number: u64) -> Option<Queued> {
        let at = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let message = self.entries.get_mut(at)?.take()?;
        self.gaps = self.gaps.saturating_add(1);
        self.removed(&message);
        Some(message)
    }

    /// Removes the oldest message if `holds` returns `true` for it. Returns its number and the message.
    pub(super) fn take_oldest_if(
        &mut self,
        holds: impl FnOnce(&Queued) -> bool,
    ) -> Option<(u64, Queued)> {
        if !holds(self.oldest()?) {
            return None;
        }
        let number = self.first;
        let message = self.entries.pop_front()??;
        self.first = self.first.saturating_add(1);
        self.removed(&message);
        Some((number, message))
    }

    /// Removes all messages, and keeps a little memory for later messages.
    pub(crate) fn clear(&mut self) {
        let gone = u64::try_from(self.entries.len()).unwrap_or(u64::MAX);
        // The numbers continue after the removed messages, because a former number must never mean a later message.
        self.first = self.first.saturating_add(gone);
        self.entries.clear();
        self.entries.shrink_to(KEPT_ENTRIES);
        self.gaps = 0;
        if self.payloads.capacity() > KEPT_BYTES {
            self.payloads = BytesMut::new();
        }
        self.close_holes();
    }

    /// Returns whether the gaps should be closed.
    pub(super) fn has_many_gaps(&self) -> bool {
        self.gaps > self.len().saturating_add(FEW)
    }

    /// Closes all gaps; returns the messages with their new numbers.
    pub(super) fn close_gaps(&mut self) -> impl Iterator<Item = (u64, &Queued)> {
        self.entries.retain(Option::is_some);
        self.gaps = 0;
        (self.first..).zip(self.entries.iter().flatten())
    }

    fn removed(&mut self, message: &Queued) {
        self.holes = self.holes.saturating_add(message.payload.len());
        // The first entry must be the oldest message: with a gap in its place, the batch would seem empty.
        while let Some(None) = self.entries.front() {
            self.entries.pop_front();
            self.first = self.first.saturating_add(1);
            self.gaps = self.gaps.saturating_sub(1);
        }
        let many = self
            .end
            .saturating_sub(self.holes)
            .saturating_add(FEW_BYTES);
        if self.holes > many {
            self.close_holes();
        }
    }

    /// Moves all payloads together.
    fn close_holes(&mut self) {
        let mut end: usize = 0;
        for message in self.entries.iter_mut().flatten() {
            let payload = message.payload.clone();
            let next = end.saturating_add(payload.len());
            // `copy_within` panics if the range is out of bounds, and the queue is locked here.
            if payload.end <= self.payloads.len() {
                self.payloads.copy_within(payload, end);
            }
            message.payload = end..next;
            end = next;
        }
        self.payloads.truncate(end);
        self.end = end;
        self.holes = 0;
    }
}

/// Largest number of gaps beyond the number of messages.
const FEW: usize = 16;
/// Largest number of bytes of holes beyond the bytes of payloads.
const FEW_BYTES: usize = 4 * 1024;

/// Capacity that `Batch::clear` keeps, in messages and in bytes of payloads.
const KEPT_ENTRIES: usize = 1_024;
const KEPT_BYTES: usize = 64 * 1024;
