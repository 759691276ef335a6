//! The interface between a model and an election: its machine and its invariants.
//!
//! Decided here: the trait that each election implements ([`crate::bully`], [`crate::quorum`]). How a model moves is
//! decided in [`crate::timed`].

use std::{fmt::Debug, hash::Hash, time::Duration};

use bully_core::protocol::{
    AgentId, EffectOf, Election, Incarnation, InputOf, MemberKind, PeerMessage, Score,
};

use crate::timed::{Bounds, World};

/// A message of the election's machine.
pub type MessageOf<R> = <<R as Rules>::Election as Election>::Message;
/// A timer of the election's machine.
pub type TimerOf<R> = <<R as Rules>::Election as Election>::Timer;
/// The durable record of the election's machine.
pub type DurableOf<R> = <<R as Rules>::Election as Election>::Durable;

/// The election that a model plays, and its invariants.
pub trait Rules: Clone + Debug + Sized + Send + Sync + 'static {
    type Election: Election<
            Message: PeerMessage + Eq + Hash + Sync,
            Timer: Hash + Send + Sync,
            Durable: Hash + Sync,
        > + Clone
        + Hash
        + Send
        + Sync;
    /// The part of the past that the invariants need.
    type Ledger: Clone + Debug + Default + PartialEq + Hash + Send + Sync;

    /// Sets the limit with this name in the rules, and in the bounds if it concerns both. Returns whether the rules have
    /// such a limit.
    fn set(&mut self, _bounds: &mut Bounds, _name: &str, _value: &'static str) -> bool {
        false
    }

    /// The configuration of the machine.
    fn config(&self) -> &<Self::Election as Election>::Config;

    /// The configuration of one agent in one incarnation; the default is the same for all.
    fn config_of(
        &self,
        _who: usize,
        _incarnation: Incarnation,
    ) -> &<Self::Election as Election>::Config {
        self.config()
    }

    /// The score of the `k`-th agent at the beginning: the later its name in the alphabet, the higher its score.
    fn score(&self, k: usize) -> Option<Score> {
        Some(Score::from(u32::try_from(k).unwrap_or(0)))
    }

    /// The kind of the `k`-th agent: voter or observer.
    fn kind(&self, _k: usize) -> MemberKind {
        MemberKind::Voter
    }

    /// The age beyond which a reading is old: at least the longest span of the rules, less one tick.
    fn memory(&self) -> Duration;

    /// Returns whether the behaviour of an agent depends on the date, and not only on the age of readings.
    fn reads_wall_clocks(&self) -> bool {
        false
    }

    /// The inputs of an incarnation at its beginning, after `Start`.
    fn taught(&self, _who: usize) -> Vec<InputOf<Self::Election>> {
        Vec::new()
    }

    /// Returns whether a message quotes a time of its receiver's clock, which the sender returns; otherwise it quotes the
    /// sender's clock, or none.
    fn quotes_receiver(_message: &MessageOf<Self>) -> bool {
        false
    }

    /// The inputs that the world returns at once for an effect at tick `now`, instead of carrying the effect out.
    fn shortcut(
        &self,
        _now: u16,
        _effect: &EffectOf<Self::Election>,
    ) -> Option<Vec<InputOf<Self::Election>>> {
        None
    }

    /// Returns whether this message is a call: a question, or its answer, that arrives at once or never. When the timer
    /// of [`makes_calls`](Self::makes_calls) fires, its questions reach any subset of the agents.
    fn is_call(&self, _message: &MessageOf<Self>) -> bool {
        false
    }

    /// Returns whether calls are made when this timer fires.
    fn makes_calls(&self, _timer: TimerOf<Self>) -> bool {
        false
    }

    /// Records one effect of an agent.
    fn note(&self, _ledger: &mut Self::Ledger, _seen: &Seen<'_, Self::Election>) {}

    /// Notes that a crash came before the record `lost` was durable; the disk has the record `kept`.
    fn forget(
        &self,
        _ledger: &mut Self::Ledger,
        _agent: usize,
        _kept: Option<&DurableOf<Self>>,
        _lost: &DurableOf<Self>,
    ) {
    }

    /// Returns an invariant that does not hold in this world.
    fn broken(&self, world: &World<Self>) -> Option<&'static str>;

    /// Sights: each must occur in some state, so that the model is not vacuous. At most four. By default: an agent is
    /// elected.
    fn sights(&self) -> &'static [&'static str] {
        &["an agent leads"]
    }

    /// Returns whether this world shows the sight with this index.
    fn shows(&self, _sight: usize, world: &World<Self>) -> bool {
        world.believers().next().is_some()
    }

    /// Returns whether the search continues from this state.
    fn is_within(&self, _ledger: &Self::Ledger) -> bool {
        true
    }
}

/// One effect of one step, with its cause.
#[derive(Debug)]
pub struct Seen<'a, E: Election> {
    /// The agent of the step.
    pub agent: usize,
    /// The incarnation of the agent.
    pub incarnation: Incarnation,
    /// The message that caused the step, and its sender, if a message was the cause.
    pub heard: Option<(usize, &'a E::Message)>,
    /// The incarnation of the sender of the message.
    pub heard_of: Incarnation,
    /// The durable record just before the effect.
    pub disk: Option<&'a E::Durable>,
    pub effect: &'a EffectOf<E>,
}

/// Returns the name of the agent at this position.
///
/// # Panics
/// If `agent` is above 4.
pub fn name(agent: usize) -> AgentId {
    AgentId::new(["a", "b", "c", "d", "e"][agent]).expect("a valid name")
}

/// Returns the position of the agent with this name.
pub fn position(id: &AgentId) -> usize {
    usize::from(id.as_str().as_bytes()[0] - b'a')
}
