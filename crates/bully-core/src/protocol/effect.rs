//! Effects of a machine, in the order in which they must be executed.

use std::{convert::Infallible, iter, sync::Arc, time::Duration};

use super::{AgentId, Election, Event};

/// One action of the driver; see [`Election::handle`].
///
/// `A` is the type of the questions that the machine asks a store. The type of an election without a store has no
/// value, so that no question can be made.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect<M, T, D, A = Infallible> {
    /// Make the contained record durable before any later effect of the step leaves the agent.
    Persist(D),
    /// Send a message to other members.
    Send {
        /// The receivers.
        to: To,
        /// The message.
        message: M,
    },
    /// Ask the store that the participants share.
    Ask(A),
    /// Set a timer, which replaces a running timer of the same name.
    SetTimer {
        /// The name of the timer.
        timer: T,
        /// Time until the timer fires, counted from the step's clock reading.
        after: After,
    },
    /// Cancel a timer, if it is running.
    CancelTimer(T),
    /// Report an event to the application.
    Notify(Event),
}

/// An effect of the machine `E`.
pub type EffectOf<E> = Effect<
    <E as Election>::Message,
    <E as Election>::Timer,
    <E as Election>::Durable,
    <E as Election>::Ask,
>;

/// The messages of the election `E`: `Group<MessageOf<Ring>>`.
pub type MessageOf<E> = <E as Election>::Message;

/// The effects of the machine `E`. Machines with the same messages, timers, records and questions share this type.
pub type EffectsOf<E> = Effects<
    <E as Election>::Message,
    <E as Election>::Timer,
    <E as Election>::Durable,
    <E as Election>::Ask,
>;

/// The receivers of a message. The sender is never among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum To {
    /// One member.
    One(AgentId),
    /// Every member: voters and observers.
    All,
    /// The listed members. One effect lists all of them, so that the message is encoded once.
    Set(Arc<[AgentId]>),
}

/// A span of time, or a range in which the driver chooses a random time (jitter).
///
/// A machine that re-checks a deadline uses [`min`](Self::min), because the timer never fires earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct After {
    /// Shortest span that the driver may choose.
    pub min: Duration,
    /// Longest span that the driver may choose.
    pub max: Duration,
}

impl After {
    /// Makes a range from `min` to `min + jitter`.
    #[must_use]
    pub fn jittered(min: Duration, jitter: Duration) -> Self {
        Self {
            min,
            max: min.saturating_add(jitter),
        }
    }
}

impl From<Duration> for After {
    fn from(exactly: Duration) -> Self {
        Self {
            min: exactly,
            max: exactly,
        }
    }
}

/// The effects of one step, in order. The buffer is reused between steps, so a steady state allocates nothing.
#[derive(Debug)]
pub struct Effects<M, T, D, A = Infallible>(Vec<Effect<M, T, D, A>>);

impl<M, T, D, A> Default for Effects<M, T, D, A> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M, T, D, A> Effects<M, T, D, A> {
    /// Makes an empty list.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Appends [`Effect::Persist`].
    pub fn persist(&mut self, record: D) {
        self.push(|| Effect::Persist(record));
    }

    /// Appends [`Effect::Send`] to one member.
    pub fn send(&mut self, to: &AgentId, message: impl Into<M>) {
        self.send_to(To::One(to.clone()), message);
    }

    /// Appends [`Effect::Send`] to every member.
    pub fn send_all(&mut self, message: impl Into<M>) {
        self.send_to(To::All, message);
    }

    /// Appends [`Effect::Send`].
    pub fn send_to(&mut self, to: To, message: impl Into<M>) {
        self.push(|| Effect::Send {
            to,
            message: message.into(),
        });
    }

    /// Appends [`Effect::Ask`].
    pub fn ask(&mut self, question: A) {
        self.push(|| Effect::Ask(question));
    }

    /// Appends [`Effect::SetTimer`].
    pub fn set_timer(&mut self, timer: T, after: impl Into<After>) {
        self.push(|| Effect::SetTimer {
            timer,
            after: after.into(),
        });
    }

    /// Appends [`Effect::CancelTimer`].
    pub fn cancel_timer(&mut self, timer: T) {
        self.push(|| Effect::CancelTimer(timer));
    }

    /// Appends [`Effect::Notify`].
    pub fn notify(&mut self, event: Event) {
        self.push(|| Effect::Notify(event));
    }

    /// Reserves memory first, so that the effect is written directly into its place and not moved afterwards.
    fn push(&mut self, effect: impl FnOnce() -> Effect<M, T, D, A>) {
        self.0.extend(iter::once_with(effect));
    }

    /// Appends the effects of a machine with other messages and questions, and empties `own`.
    pub fn append<N, B>(
        &mut self,
        own: &mut Effects<N, T, D, B>,
        message: impl Fn(N) -> M,
        question: impl Fn(B) -> A,
    ) {
        let translated = own.0.drain(..).map(|effect| match effect {
            Effect::Persist(record) => Effect::Persist(record),
            Effect::Send { to, message: said } => Effect::Send {
                to,
                message: message(said),
            },
            Effect::Ask(asked) => Effect::Ask(question(asked)),
            Effect::SetTimer { timer, after } => Effect::SetTimer { timer, after },
            Effect::CancelTimer(timer) => Effect::CancelTimer(timer),
            Effect::Notify(event) => Effect::Notify(event),
        });
        self.0.extend(translated);
    }

    /// Takes the effects out, in order, and keeps the memory.
    pub fn drain(&mut self) -> impl Iterator<Item = Effect<M, T, D, A>> + '_ {
        self.0.drain(..)
    }

    /// Returns the effects so far.
    pub fn as_slice(&self) -> &[Effect<M, T, D, A>] {
        &self.0
    }

    /// Returns whether there are no effects.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effects_are_seen_in_their_order_until_they_are_taken_out() {
        let mut out = Effects::<(), u8, ()>::default();
        out.cancel_timer(7);
        out.cancel_timer(3);
        let expected = [Effect::CancelTimer(7), Effect::CancelTimer(3)];
        assert_eq!(out.as_slice(), expected);
        assert!(out.drain().eq(expected) && out.as_slice().is_empty());
    }

    #[test]
    fn jitter_saturates() {
        let after = After::jittered(Duration::MAX, Duration::from_secs(1));
        assert_eq!(
            after,
            After {
                min: Duration::MAX,
                max: Duration::MAX
            }
        );
    }
}
