//! The mailbox of a member of this process, and how much of other hosts it holds.
//!
//! Decided here: that a mailbox holds only so many bytes of them. An agent that does not read would
//! otherwise keep all that a peer says within its rates. What agents of this process say to each
//! other is not counted: it is bounded by what they do.

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

/// A letter from another host, which counts in its receiver's mailbox until it is opened or lost.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct FromAfar<M> {
    letter: Envelope<M>,
    held: Held,
}

impl<M> FromAfar<M> {
    /// Takes it out of its envelope: from now on it waits for nobody.
    pub(crate) fn open(self) -> Envelope<M> {
        let Self { letter, held } = self;
        drop(held);
        letter
    }
}

/// The mailbox of a member of this process.
///
/// One object for all that goes there: each `Recipient` of actix holds three allocations.
pub(super) trait Mailbox<M: Send + 'static>: fmt::Debug + Send + Sync {
    /// Takes a letter of this process. One that is repeated needs room; any other is queued.
    fn put(&self, letter: Envelope<M>) -> Put;

    /// Takes a letter of another host.
    fn put_from_afar(&self, letter: Envelope<M>, size: Size) -> Put;

    /// Tells of a change of the membership.
    fn poke(&self);

    /// Where a wire delivers.
    fn inbox(&self) -> Recipient<Envelope<M>>;
}

/// What became of a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Put {
    Queued,
    Full,
    Closed,
}

impl Put {
    /// Queues a letter; one that is repeated only where there is room, since a newer one follows.
    fn queue<L>(letter: L, is_repeated: bool, to: &impl Queue<L>) -> Self {
        if is_repeated {
            return Self::of(&to.try_send(letter));
        }
        if !to.connected() {
            return Self::Closed;
        }
        to.do_send(letter);
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

/// What an address and a recipient of actix have in common.
trait Queue<L> {
    fn connected(&self) -> bool;
    fn try_send(&self, letter: L) -> Result<(), SendError<L>>;
    fn do_send(&self, letter: L);
}

impl<L, A> Queue<L> for Addr<A>
where
    L: Message<Result = ()> + Send + 'static,
    A: Actor<Context = Context<A>> + Handler<L>,
{
    fn connected(&self) -> bool {
        Self::connected(self)
    }

    fn try_send(&self, letter: L) -> Result<(), SendError<L>> {
        Self::try_send(self, letter)
    }

    fn do_send(&self, letter: L) {
        Self::do_send(self, letter);
    }
}

impl<L: Message<Result = ()> + Send + 'static> Queue<L> for Recipient<L> {
    fn connected(&self) -> bool {
        Self::connected(self)
    }

    fn try_send(&self, letter: L) -> Result<(), SendError<L>> {
        Self::try_send(self, letter)
    }

    fn do_send(&self, letter: L) {
        Self::do_send(self, letter);
    }
}

/// An agent, which counts what other hosts say to it.
pub(super) struct Counted<A: Actor> {
    addr: Addr<A>,
    /// Bytes that wait there.
    waiting: Arc<AtomicUsize>,
}

impl<A: Actor> Counted<A> {
    pub(super) fn new(addr: Addr<A>) -> Self {
        let waiting = Arc::default();
        Self { addr, waiting }
    }
}

impl<A: Actor> fmt::Debug for Counted<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Counted");
        shown
            .field("waiting", &self.waiting)
            .finish_non_exhaustive()
    }
}

impl<M, A> Mailbox<M> for Counted<A>
where
    M: PeerMessage,
    A: Actor<Context = Context<A>>
        + Handler<Envelope<M>>
        + Handler<FromAfar<M>>
        + Handler<MembersChanged>,
{
    fn put(&self, letter: Envelope<M>) -> Put {
        let is_repeated = letter.message.is_repeated();
        Put::queue(letter, is_repeated, &self.addr)
    }

    fn put_from_afar(&self, letter: Envelope<M>, size: Size) -> Put {
        let is_repeated = letter.message.is_repeated();
        let Some(held) = Held::hold(&self.waiting, size) else {
            return Put::Full;
        };
        Put::queue(FromAfar { letter, held }, is_repeated, &self.addr)
    }

    fn poke(&self) {
        self.addr.do_send(MembersChanged);
    }

    fn inbox(&self) -> Recipient<Envelope<M>> {
        self.addr.clone().recipient()
    }
}

/// A member that does not tell letters of other hosts apart: they need room.
#[derive(Debug)]
pub(super) struct Plain<M: Send + 'static> {
    pub(super) inbox: Recipient<Envelope<M>>,
    pub(super) pokes: Recipient<MembersChanged>,
}

impl<M: PeerMessage> Mailbox<M> for Plain<M> {
    fn put(&self, letter: Envelope<M>) -> Put {
        let is_repeated = letter.message.is_repeated();
        Put::queue(letter, is_repeated, &self.inbox)
    }

    fn put_from_afar(&self, letter: Envelope<M>, _: Size) -> Put {
        Put::of(&self.inbox.try_send(letter))
    }

    fn poke(&self) {
        self.pokes.do_send(MembersChanged);
    }

    fn inbox(&self) -> Recipient<Envelope<M>> {
        self.inbox.clone()
    }
}

/// How much a letter counts, and how much may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    bytes: usize,
    most: usize,
}

impl Size {
    /// A letter whose payload is that long.
    pub(crate) fn of(payload: usize, most: usize) -> Self {
        let bytes = payload.saturating_add(OVERHEAD);
        Self { bytes, most }
    }
}

/// Bytes that wait; given back when this is dropped.
#[derive(Debug)]
struct Held {
    waiting: Arc<AtomicUsize>,
    bytes: usize,
}

impl Held {
    /// One letter has room in any case.
    fn hold(waiting: &Arc<AtomicUsize>, Size { bytes, most }: Size) -> Option<Self> {
        let before = waiting.fetch_add(bytes, Relaxed);
        let held = Self {
            waiting: Arc::clone(waiting),
            bytes,
        };
        (before == 0 || before.saturating_add(bytes) <= most).then_some(held)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.waiting.fetch_sub(self.bytes, Relaxed);
    }
}

/// What a letter takes in a mailbox beside its payload, about.
const OVERHEAD: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_have_room_up_to_the_limit_and_give_it_back() {
        let waiting = Arc::default();
        let hold = |payload| Held::hold(&waiting, Size::of(payload, 1_000));
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
