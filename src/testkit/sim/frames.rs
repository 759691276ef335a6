//! Letters that nobody sent: replays and forgeries.
//!
//! Decided here: which letters are remembered to be used again. A replay is what the network may
//! do anyway, only later; a forgery is what every driver must drop. Nobody forges the name of a
//! member: that is for the transport to prevent.

use super::{
    World,
    node::Place,
    wire::{Letter, Wire},
    world::Due,
};
use crate::protocol::{AgentId, Election, PeerMessage, Time};

/// Letters that left, the newest at some place among them.
#[derive(Debug)]
pub(super) struct Kept<M> {
    letters: Vec<Letter<M>>,
    seen: usize,
    /// Nothing is kept before somebody wants it.
    is_on: bool,
}

/// How many are remembered; of those that are repeated anyway every so manieth.
const MOST: usize = 64;
const REPEATED: usize = 8;

impl<M> Default for Kept<M> {
    fn default() -> Self {
        Self {
            letters: Vec::new(),
            seen: 0,
            is_on: false,
        }
    }
}

impl<M: PeerMessage> Kept<M> {
    pub(super) fn note(&mut self, letter: &Letter<M>) {
        if !self.is_on {
            return;
        }
        self.seen = self.seen.wrapping_add(1);
        if letter.message.is_repeated() && !self.seen.is_multiple_of(REPEATED) {
            return;
        }
        if self.letters.len() < MOST {
            self.letters.push(letter.clone());
        } else if let Some(old) = self.letters.get_mut(self.seen % MOST) {
            *old = letter.clone();
        }
    }
}

/// Which letter comes once more; nobody is named who does not exist.
impl<E: Election> World<E> {
    /// From now on some letters are remembered, to come once more.
    pub fn remember_letters(&mut self) {
        self.wire.kept.is_on = true;
    }

    /// Some letter that left before arrives once more, now; says at whom. `pick` chooses one.
    pub fn replay(&mut self, pick: u64) -> Option<AgentId> {
        self.again(pick, |_, _| true, |_| ())
    }

    /// Some letter from a life that has ended arrives once more, now; says at whom.
    pub fn replay_from_the_dead(&mut self, pick: u64) -> Option<AgentId> {
        let ended = |world: &Self, letter: &Letter<E::Message>| {
            let sender = world.nodes.get(letter.from.0);
            sender.is_some_and(|n| !n.is_alive() || n.incarnation > letter.incarnation)
        };
        self.again(pick, ended, |_| ())
    }

    /// Some letter arrives once more as if a stranger had sent it; says at whom.
    pub fn forge_sender(&mut self, pick: u64) -> Option<AgentId> {
        let nobody = Place(usize::MAX);
        self.again(pick, |_, _| true, |letter| letter.from = nobody)
    }

    /// Some letter arrives once more as if it came from another epoch; says at whom.
    pub fn forge_epoch(&mut self, pick: u64) -> Option<AgentId> {
        self.again(pick, |_, _| true, |letter| letter.epoch ^= 1)
    }

    fn again(
        &mut self,
        pick: u64,
        fits: impl Fn(&Self, &Letter<E::Message>) -> bool,
        change: impl FnOnce(&mut Letter<E::Message>),
    ) -> Option<AgentId> {
        let letters = self.wire.kept.letters.iter();
        let fitting: Vec<_> = letters
            .filter(|letter| {
                let receiver = self.nodes.get(letter.to.0);
                receiver.is_some_and(super::node::Node::is_running) && fits(self, letter)
            })
            .collect();
        let count = u64::try_from(fitting.len()).ok()?;
        let place = usize::try_from(pick.checked_rem(count)?).ok()?;
        let mut letter = (*fitting.get(place)?).clone();
        change(&mut letter);
        let to = self.wire.directory.name(letter.to)?.clone();
        self.wire.slip_in(self.now, letter);
        Some(to)
    }
}

impl<E: Election> Wire<E> {
    /// Puts a letter under way that nobody sent; it arrives at once.
    fn slip_in(&mut self, now: Time, letter: Letter<E::Message>) {
        self.under_way += usize::from(!letter.message.is_repeated());
        self.last_arrival = self.last_arrival.max(now);
        self.queue.push(now, Due::Letter(letter));
    }
}
