//! The messages that wait for one actor, of all types.
//!
//! Decided here: messages are handed over in the order of their arrival, while the actor takes them. A message without
//! room is dropped and counted. A message counts in the endpoint's mailbox while it waits in this queue, so a sender of
//! this process is refused before the queue is full. Not here: how many messages an actor takes
//! ([`Intake`](crate::supervisor::Intake)).

use std::sync::{Arc, PoisonError};

use crate::{group::AppMessage, protocol::Time};

use super::{
    Messages,
    state::{ActorQueue, Arrived, Hand, InboxContext},
};

impl ActorQueue {
    /// Hands a message over, or keeps it behind earlier messages.
    pub(super) fn receive(&self, here: &InboxContext<'_>, to: Arc<dyn Hand>, arrived: Arrived) {
        // If the application's code panics under this lock, the queue is still complete.
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.messages.is_empty() && to.hand(here.state, &arrived.envelope) {
            return;
        }
        let bytes = waiting.bytes.saturating_add(arrived.len());
        if bytes > MOST {
            let (id, kind) = (here.state.id(), AppMessage::KIND);
            return here.snapshot.count_full(id, kind);
        }
        waiting.bytes = bytes;
        waiting.messages.push_back((to, arrived));
    }

    /// Hands over messages while the actor takes them. Returns the time of the next attempt, if messages still wait.
    pub(super) fn look(&self, here: &InboxContext<'_>) -> Option<Time> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((to, arrived)) = waiting.messages.pop_front() {
            // The message is removed before the call: if the application's code panics at it, it is not handed over
            // again.
            waiting.bytes = waiting.bytes.saturating_sub(arrived.len());
            if to.hand(here.state, &arrived.envelope) {
                waiting.retries.clear();
                continue;
            }
            waiting.bytes = waiting.bytes.saturating_add(arrived.len());
            waiting.messages.push_front((to, arrived));
            return Some(here.now.after(waiting.retries.pause()));
        }
        None
    }
}

/// Largest number of bytes that wait for one actor: more than a mailbox holds by default.
const MOST: usize = 32 * Messages::MAX_LEN;
