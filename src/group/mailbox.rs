//! The mailbox of a member of this process, which counts the bytes of messages from other hosts and from applications.
//!
//! Decided here: a mailbox holds a limited number of bytes of such messages. Without the limit, an agent that does not
//! read would keep everything that a peer sends within its rate limits. Messages of applications take at most half of
//! the limit, and count until the application's actor has them. Other messages between agents of this process are not
//! counted: the agents' own behaviour bounds them.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use actix::{Actor, Addr, Context, Handler, Message, Recipient, prelude::SendError};

use crate::protocol::PeerMessage;

use super::{Envelope, MembersChanged};

/// An envelope from another host or of an application, which counts in its receiver's mailbox until it is opened or lost.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct RemoteEnvelope<M> {
    envelope: Envelope<M>,
    held: HeldBytes,
}

impl<M> RemoteEnvelope<M> {
    /// Opens the envelope: from now on its bytes take no room in the mailbox.
    pub(crate) fn open(self) -> Envelope<M> {
        let Self { envelope, held } = self;
        drop(held);
        envelope
    }

    /// Opens the envelope, but counts its bytes until the returned `HeldBytes` are dropped.
    pub(crate) fn split(self) -> (Envelope<M>, HeldBytes) {
        (self.envelope, self.held)
    }
}

/// The mailbox of a member of this process.
///
/// One object takes all kinds of messages, because several `Recipient`s of actix would cost three allocations each.
pub(super) trait Mailbox<M: Send + 'static>: fmt::Debug + Send + Sync {
    /// Takes a message of this process. A full mailbox drops a message that its sender repeats (a heartbeat), and
    /// queues any other message.
    fn put(&self, envelope: Envelope<M>) -> PutOutcome;

    /// Takes a message of another host.
    fn put_remote(&self, envelope: Envelope<M>, size: Size) -> PutOutcome;

    /// Sends a notice of a change of the membership.
    fn notify(&self);

    /// Returns the recipient to which a wire delivers.
    fn inbox(&self) -> Recipient<Envelope<M>>;
}

/// Result of putting a message into a mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PutOutcome {
    Queued,
    Full,
    Closed,
}

impl PutOutcome {
    /// Queues a message. A message that its sender repeats is queued only if there is room, because a newer message
    /// follows.
    fn queue<L>(envelope: L, is_repeated: bool, to: &impl MessageQueue<L>) -> Self {
        if is_repeated {
            return Self::of(&to.try_send(envelope));
        }
        if !to.connected() {
            return Self::Closed;
        }
        // do_send: may exceed the mailbox's bound, because no repetition follows, and the loss of the message would
        // delay an election. Messages of other hosts have passed the limit in bytes.
        to.do_send(envelope);
        Self::Queued
    }

    fn of<L>(tried: &Result<(), SendError<L>>) -> Self {
        match tried {
            Ok(()) => Self::Queued,
            Err(SendError::Full(_)) => Self::Full,
            Err(SendError::Closed(_)) => Self::Closed,
        }
    }
}

/// The methods that an address and a recipient of actix have in common.
trait MessageQueue<L> {
    fn connected(&self) -> bool;
    fn try_send(&self, envelope: L) -> Result<(), SendError<L>>;
    fn do_send(&self, envelope: L);
}

impl<L, A> MessageQueue<L> for Addr<A>
where
    L: Message<Result = ()> + Send + 'static,
    A: Actor<Context = Context<A>> + Handler<L>,
{
    fn connected(&self) -> bool {
        Self::connected(self)
    }

    fn try_send(&self, envelope: L) -> Result<(), SendError<L>> {
        Self::try_send(self, envelope)
    }

    fn do_send(&self, envelope: L) {
        // do_send: see `PutOutcome::queue`, which calls it.
        Self::do_send(self, envelope);
    }
}

impl<L: Message<Result = ()> + Send + 'static> MessageQueue<L> for Recipient<L> {
    fn connected(&self) -> bool {
        Self::connected(self)
    }

    fn try_send(&self, envelope: L) -> Result<(), SendError<L>> {
        Self::try_send(self, envelope)
    }

    fn do_send(&self, envelope: L) {
        // do_send: see `PutOutcome::queue`, which calls it.
        Self::do_send(self, envelope);
    }
}

/// The mailbox of an agent, which counts the messages of other hosts.
pub(super) struct CountedMailbox<A: Actor> {
    addr: Addr<A>,
    /// Number of bytes that wait in this mailbox.
    waiting: Arc<AtomicUsize>,
}

impl<A: Actor> CountedMailbox<A> {
    pub(super) fn new(addr: Addr<A>) -> Self {
        let waiting = Arc::default();
        Self { addr, waiting }
    }
}

impl<A: Actor> CountedMailbox<A> {
    fn put_counted<M>(&self, envelope: Envelope<M>, size: Size) -> PutOutcome
    where
        M: PeerMessage,
        A: Actor<Context = Context<A>> + Handler<RemoteEnvelope<M>>,
    {
        let is_repeated = envelope.message.is_repeated();
        let size = match envelope.message.application_bytes() {
            Some(_) => size.halved(),
            None => size,
        };
        let Some(held) = HeldBytes::hold(&self.waiting, size) else {
            return PutOutcome::Full;
        };
        PutOutcome::queue(RemoteEnvelope { envelope, held }, is_repeated, &self.addr)
    }
}

impl<A: Actor> fmt::Debug for CountedMailbox<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("CountedMailbox");
        shown
            .field("waiting", &self.waiting)
            .finish_non_exhaustive()
    }
}

impl<M, A> Mailbox<M> for CountedMailbox<A>
where
    M: PeerMessage,
    A: Actor<Context = Context<A>>
        + Handler<Envelope<M>>
        + Handler<RemoteEnvelope<M>>
        + Handler<MembersChanged>,
{
    fn put(&self, envelope: Envelope<M>) -> PutOutcome {
        if let Some(bytes) = envelope.message.application_bytes() {
            return self.put_counted(envelope, Size::of(bytes, MAILBOX));
        }
        let is_repeated = envelope.message.is_repeated();
        PutOutcome::queue(envelope, is_repeated, &self.addr)
    }

    fn put_remote(&self, envelope: Envelope<M>, size: Size) -> PutOutcome {
        self.put_counted(envelope, size)
    }

    fn notify(&self) {
        // do_send: may exceed the mailbox's bound by one hint: without it the agent would rely on absent members.
        self.addr.do_send(MembersChanged);
    }

    fn inbox(&self) -> Recipient<Envelope<M>> {
        self.addr.clone().recipient()
    }
}

/// The mailbox of a member that is not an agent. It counts no bytes: if it is full, it drops messages of other hosts.
#[derive(Debug)]
pub(super) struct PlainMailbox<M: Send + 'static> {
    pub(super) inbox: Recipient<Envelope<M>>,
    pub(super) changes: Recipient<MembersChanged>,
}

impl<M: PeerMessage> Mailbox<M> for PlainMailbox<M> {
    fn put(&self, envelope: Envelope<M>) -> PutOutcome {
        let is_repeated = envelope.message.is_repeated();
        PutOutcome::queue(envelope, is_repeated, &self.inbox)
    }

    fn put_remote(&self, envelope: Envelope<M>, _: Size) -> PutOutcome {
        PutOutcome::of(&self.inbox.try_send(envelope))
    }

    fn notify(&self) {
        // do_send: see `notify` of `CountedMailbox`.
        self.changes.do_send(MembersChanged);
    }

    fn inbox(&self) -> Recipient<Envelope<M>> {
        self.inbox.clone()
    }
}

/// The size of a message, and the limit for waiting bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    bytes: usize,
    most: usize,
}

impl Size {
    /// Returns the size of a message with a payload of `payload` bytes, and with the limit `most`.
    pub(crate) fn of(payload: usize, most: usize) -> Self {
        let bytes = payload.saturating_add(OVERHEAD);
        Self { bytes, most }
    }

    /// Returns this size with half of the limit, for messages of applications. Other messages have the full limit.
    fn halved(self) -> Self {
        let Self { bytes, most } = self;
        Self {
            bytes,
            most: most / 2,
        }
    }
}

/// Bytes that wait in a mailbox; dropping this value frees their room.
#[derive(Debug)]
pub(crate) struct HeldBytes {
    waiting: Arc<AtomicUsize>,
    bytes: usize,
}

impl HeldBytes {
    /// Takes room for a message. In an empty mailbox any message has room: otherwise a limit below the size of a
    /// message would block that message for ever.
    fn hold(waiting: &Arc<AtomicUsize>, Size { bytes, most }: Size) -> Option<Self> {
        // The bytes are added before the check, so that two senders cannot both take the last room.
        let before = waiting.fetch_add(bytes, Relaxed);
        let held = Self {
            waiting: Arc::clone(waiting),
            bytes,
        };
        (before == 0 || before.saturating_add(bytes) <= most).then_some(held)
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        self.waiting.fetch_sub(self.bytes, Relaxed);
    }
}

/// Largest number of bytes that wait in a mailbox, for messages that pass no bridge: the default of a bridge's
/// `mailbox`.
pub(super) const MAILBOX: usize = 1 << 20;
/// Approximate number of bytes that a message takes in a mailbox in addition to its payload.
const OVERHEAD: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_room_up_to_the_limit_and_give_it_back() {
        let waiting = Arc::default();
        let hold = |payload| HeldBytes::hold(&waiting, Size::of(payload, 1_000));
        let first = hold(72).unwrap();
        let others: Vec<_> = (0..4).map(|_| hold(72).unwrap()).collect();
        assert_eq!(waiting.load(Relaxed), 1_000);
        assert!(hold(0).is_none());
        assert_eq!(waiting.load(Relaxed), 1_000, "what was refused is not held");
        drop(first);
        assert!(hold(73).is_none());
        let last = hold(72).unwrap();
        drop((others, last));
        assert_eq!(waiting.load(Relaxed), 0);
        let long = hold(5_000).unwrap();
        assert!(hold(0).is_none());
        drop(long);
        assert!(hold(0).is_some(), "one has room in any case");
    }
}
