//! Letters of other hosts in a mailbox of this one.
//!
//! Decided here: that a mailbox holds only so many bytes of them. An agent that does not read would
//! otherwise keep all that a peer says within its rates. What agents of this process say to each
//! other is not counted: it is bounded by what they do.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use actix::{Message, Recipient};

use super::Incoming;

/// A letter from another host, which counts in its receiver's mailbox until it is opened or lost.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct FromAfar<M> {
    letter: Incoming<M>,
    held: Held,
}

impl<M> FromAfar<M> {
    /// Takes it out of its envelope: from now on it waits for nobody.
    pub(crate) fn open(self) -> Incoming<M> {
        let Self { letter, held } = self;
        drop(held);
        letter
    }
}

/// Where letters of other hosts to one member go.
#[derive(Debug)]
pub(super) struct Mail<M: Send + 'static> {
    pub(super) inbox: Recipient<FromAfar<M>>,
    /// Bytes that wait there.
    waiting: Arc<AtomicUsize>,
}

impl<M: Send + 'static> Mail<M> {
    pub(super) fn new(inbox: Recipient<FromAfar<M>>) -> Self {
        let waiting = Arc::default();
        Self { inbox, waiting }
    }

    /// Puts a letter into its envelope, if there is room for it.
    pub(super) fn envelop(&self, letter: Incoming<M>, size: Size) -> Option<FromAfar<M>> {
        let held = Held::hold(&self.waiting, size)?;
        Some(FromAfar { letter, held })
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
