//! Messages that no agent sent: replays and forgeries.
//!
//! Decided here: which messages are remembered for another use. A replay is a late repetition, which a network may
//! cause anyway. A forgery is a message that every driver must drop. The name of a member is never forged: the
//! transport has to prevent that.

use super::{
    World,
    node::NodeIndex,
    transit::{SentMessage, Transit},
    world::Scheduled,
};
use bully_core::protocol::{AgentId, Election, PeerMessage, Time};

/// Some of the sent messages. Newer messages replace older messages.
#[derive(Debug)]
pub(super) struct Remembered<M> {
    pub(super) messages: Vec<(Time, SentMessage<M>)>,
    seen: usize,
    /// Whether messages are remembered. The world turns this on when a caller asks for it.
    is_on: bool,
}

/// Largest number of remembered messages. Only one in `REPEATED` of the repeated messages is remembered. Without
/// `REPEATED`, heartbeats would replace the rare messages. With a far larger `MOST`, most replays would be old.
const MOST: usize = 64;
const REPEATED: usize = 8;

impl<M> Default for Remembered<M> {
    fn default() -> Self {
        Self {
            messages: Vec::new(),
            seen: 0,
            is_on: false,
        }
    }
}

impl<M: PeerMessage> Remembered<M> {
    pub(super) fn note(&mut self, now: Time, sent: &SentMessage<M>) {
        if !self.is_on {
            return;
        }
        self.seen = self.seen.wrapping_add(1);
        if sent.message.is_repeated() && !self.seen.is_multiple_of(REPEATED) {
            return;
        }
        if self.messages.len() < MOST {
            self.messages.push((now, sent.clone()));
        } else if let Some(old) = self.messages.get_mut(self.seen % MOST) {
            *old = (now, sent.clone());
        }
    }
}

/// Repeats and forges messages. The receiver is always an agent that exists.
impl<E: Election> World<E> {
    /// Remembers some messages from now on, so that they can be repeated.
    pub fn remember_messages(&mut self) {
        self.transit.remembered.is_on = true;
    }

    /// Repeats a message that left earlier. The repeated message arrives now. Returns the receiver. `pick` chooses the
    /// message.
    pub fn replay(&mut self, pick: u64) -> Option<AgentId> {
        self.again(pick, |_, _, _| true, |_| ())
    }

    /// Repeats a message of an incarnation that has ended. The repeated message arrives now. Returns the receiver.
    pub fn replay_of_ended_incarnation(&mut self, pick: u64) -> Option<AgentId> {
        let ended = |world: &Self, _, sent: &SentMessage<E::Message>| {
            let sender = world.nodes.get(sent.from.0);
            sender.is_some_and(|n| !n.is_alive() || n.incarnation > sent.incarnation)
        };
        self.again(pick, ended, |_| ())
    }

    /// Repeats a message at a later incarnation of its receiver than the incarnation that was up when the message left.
    /// The repeated message arrives now. Returns the receiver.
    pub fn replay_to_later_incarnation(&mut self, pick: u64) -> Option<AgentId> {
        let is_later = |world: &Self, left, sent: &SentMessage<E::Message>| {
            let receiver = world.nodes.get(sent.to.0);
            receiver.is_some_and(|node| node.began > left)
        };
        self.again(pick, is_later, |_| ())
    }

    /// Repeats a message as if an agent that does not exist had sent it. Returns the receiver.
    pub fn forge_sender(&mut self, pick: u64) -> Option<AgentId> {
        let stranger = NodeIndex(usize::MAX);
        self.again(pick, |_, _, _| true, |sent| sent.from = stranger)
    }

    /// Repeats a message as if it came from another epoch. Returns the receiver.
    pub fn forge_epoch(&mut self, pick: u64) -> Option<AgentId> {
        self.again(pick, |_, _, _| true, |sent| sent.epoch ^= 1)
    }

    fn again(
        &mut self,
        pick: u64,
        fits: impl Fn(&Self, Time, &SentMessage<E::Message>) -> bool,
        change: impl FnOnce(&mut SentMessage<E::Message>),
    ) -> Option<AgentId> {
        let messages = self.transit.remembered.messages.iter();
        let fitting: Vec<_> = messages
            .filter(|(left, sent)| {
                let receiver = self.nodes.get(sent.to.0);
                receiver.is_some_and(super::node::Node::is_running) && fits(self, *left, sent)
            })
            .map(|(_, sent)| sent)
            .collect();
        let count = u64::try_from(fitting.len()).ok()?;
        let place = usize::try_from(pick.checked_rem(count)?).ok()?;
        let mut sent = (*fitting.get(place)?).clone();
        change(&mut sent);
        let to = self.transit.directory.name(sent.to)?.clone();
        self.transit.slip_in(self.now, sent);
        Some(to)
    }
}

impl<E: Election> Transit<E> {
    /// Adds a message that no agent sent to the messages on their way; it arrives at once. The message is counted like
    /// a sent message (`transit.rs`), because the checks wait until no message is on its way, and measure from the last
    /// arrival.
    fn slip_in(&mut self, now: Time, sent: SentMessage<E::Message>) {
        self.under_way += usize::from(!sent.message.is_repeated());
        self.last_arrival = self.last_arrival.max(now);
        self.queue.push(now, Scheduled::Message(sent));
    }
}
