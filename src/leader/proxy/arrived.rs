//! Messages from other agents' proxies that wait for a leader's actor.
//!
//! Decided here: the queue has one limit for all senders together. If the queue is full, the sender with the most bytes
//! is refused. Not here: when the actor has room ([`Intake`](crate::supervisor::Intake)), and how a waiting message is
//! handled (`inbox/leader.rs`).

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;

use super::{exchange::ProxyBounds, frame::RunHead};
use crate::protocol::AgentId;

pub(super) struct ArrivedMessage {
    pub(super) from: AgentId,
    pub(super) head: RunHead,
    /// The number under which the message's sender waits for an answer; 0 if the sender does not wait.
    pub(super) ask: u64,
    pub(super) bytes: Bytes,
}

/// The waiting messages, in the order of their arrival.
#[derive(Default)]
pub(super) struct ArrivedQueue {
    messages: VecDeque<ArrivedMessage>,
    bytes: usize,
}

impl ArrivedQueue {
    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    pub(super) fn push(&mut self, message: ArrivedMessage) {
        self.bytes = self.bytes.saturating_add(message.bytes.len());
        self.messages.push_back(message);
    }

    pub(super) fn pop(&mut self) -> Option<ArrivedMessage> {
        let message = self.messages.pop_front()?;
        self.bytes = self.bytes.saturating_sub(message.bytes.len());
        Some(message)
    }

    /// Puts a message back at the front of the queue.
    pub(super) fn put_back(&mut self, message: ArrivedMessage) {
        self.bytes = self.bytes.saturating_add(message.bytes.len());
        self.messages.push_front(message);
    }

    /// Returns whether one more message of `len` bytes may wait.
    pub(super) fn has_room(&self, len: usize, bounds: &ProxyBounds) -> bool {
        self.messages.len() < bounds.messages && self.bytes.saturating_add(len) <= bounds.bytes
    }

    /// Returns the sender with the most waiting bytes, and the head of its latest message. This sender is refused, so
    /// that a fast sender cannot crowd out the other senders.
    pub(super) fn largest(&self) -> Option<(AgentId, RunHead)> {
        let mut by_sender = BTreeMap::<&AgentId, (usize, RunHead)>::new();
        for message in &self.messages {
            let (bytes, head) = by_sender.entry(&message.from).or_insert((0, message.head));
            *bytes = bytes.saturating_add(message.bytes.len());
            *head = message.head;
        }
        let largest = by_sender.into_iter().max_by_key(|(_, (bytes, _))| *bytes);
        largest.map(|(from, (_, head))| (from.clone(), head))
    }

    /// Drops the waiting messages of a sender, because its run is refused.
    pub(super) fn drop_of(&mut self, from: &AgentId) {
        self.messages.retain(|message| message.from != *from);
        let lengths = self.messages.iter().map(|message| message.bytes.len());
        self.bytes = lengths.sum();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{super::exchange::Life, *};
    use crate::{
        group::NodeDigest,
        protocol::{Incarnation, Term, fixture::id},
    };

    fn message(from: &str, bytes: usize) -> ArrivedMessage {
        message_of_run(1, from, bytes)
    }

    fn message_of_run(run: u64, from: &str, bytes: usize) -> ArrivedMessage {
        let life = Life {
            node: NodeDigest(1),
            incarnation: Incarnation(1),
        };
        let head = RunHead {
            from: life,
            to: life,
            term: Term(1),
            run,
            first: 0,
        };
        ArrivedMessage {
            from: id(from),
            head,
            ask: 0,
            bytes: vec![0; bytes].into(),
        }
    }

    #[test]
    fn messages_and_bytes_of_all_senders_together_are_bounded() {
        let bounds = ProxyBounds {
            messages: 3,
            bytes: 10,
            patience: Duration::ZERO,
        };
        let mut queue = ArrivedQueue::default();
        for (from, bytes) in [("a", 4), ("b", 5)] {
            assert!(queue.has_room(bytes, &bounds));
            queue.push(message(from, bytes));
        }
        assert!(queue.has_room(1, &bounds) && !queue.has_room(2, &bounds));
        queue.push(message("a", 0));
        assert!(!queue.has_room(0, &bounds), "three wait");
        assert_eq!(queue.largest().map(|(from, _)| from), Some(id("b")));
        queue.drop_of(&id("b"));
        assert!(queue.has_room(6, &bounds) && !queue.has_room(7, &bounds));
        while let Some(taken) = queue.pop() {
            assert_eq!(taken.from, id("a"));
        }
        assert!(queue.has_room(10, &bounds), "its bytes are gone");
    }

    /// A sender has already given up an earlier run, so a refusal of that run would have no effect.
    #[test]
    fn the_run_that_is_refused_is_the_latest_one_of_the_sender_with_the_most_bytes() {
        let mut queue = ArrivedQueue::default();
        queue.push(message_of_run(1, "a", 4));
        queue.push(message_of_run(2, "a", 1));
        queue.push(message_of_run(3, "b", 4));
        let largest = queue.largest().map(|(from, head)| (from, head.run));
        assert_eq!(largest, Some((id("a"), 2)));
    }
}
