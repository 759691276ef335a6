//! What a model needs to know of an election: which machine plays, and what may never be.
//!
//! Decided here: the door that each election's page passes through ([`crate::bully`],
//! [`crate::quorum`]); not how a model moves ([`crate::timed`]).

use std::{fmt::Debug, hash::Hash, time::Duration};

use bully_core::protocol::{
    AgentId, EffectOf, Election, Incarnation, InputOf, MemberKind, PeerMessage, Score,
};

use crate::timed::World;

/// What one participant says to another.
pub type MessageOf<R> = <<R as Rules>::Election as Election>::Message;
/// The names of its timers.
pub type TimerOf<R> = <<R as Rules>::Election as Election>::Timer;
/// What its disk holds.
pub type DurableOf<R> = <<R as Rules>::Election as Election>::Durable;

/// Which election is played, and what is held against it.
pub trait Rules: Clone + Debug + Sized + Send + Sync + 'static {
    /// The machine.
    type Election: Election<
            Message: PeerMessage + Eq + Hash + Sync,
            Timer: Hash + Send + Sync,
            Durable: Hash + Sync,
        > + Clone
        + Hash
        + Send
        + Sync;
    /// What has to be remembered of the past to judge the present.
    type Ledger: Clone + Debug + Default + PartialEq + Hash + Send + Sync;

    /// The machine's parameters.
    fn config(&self) -> &<Self::Election as Election>::Config;

    /// The same of one agent in one incarnation, where they differ.
    fn config_of(
        &self,
        _who: usize,
        _incarnation: Incarnation,
    ) -> &<Self::Election as Election>::Config {
        self.config()
    }

    /// The score of the k-th agent at first: the later in the alphabet, the higher.
    fn score(&self, k: usize) -> Option<Score> {
        Some(Score::from(u32::try_from(k).unwrap_or(0)))
    }

    /// Whether the k-th agent votes, or observes.
    fn kind(&self, _k: usize) -> MemberKind {
        MemberKind::Voter
    }

    /// A reading older than this is old: at least the longest span of the rules, less one tick.
    fn memory(&self) -> Duration;

    /// Whether what an agent does depends on the date, and not only on how long ago something was.
    fn reads_wall_clocks(&self) -> bool {
        false
    }

    /// What an incarnation is told at its beginning, after `Start`.
    fn taught(&self, _who: usize) -> Vec<InputOf<Self::Election>> {
        Vec::new()
    }

    /// The agent whose clock a message quotes, if it quotes one.
    fn clock_in(_message: &MessageOf<Self>) -> Owner {
        Owner::Sender
    }

    /// What the world does at that tick about an effect at once, instead of carrying it out.
    fn shortcut(
        &self,
        _now: u16,
        _effect: &EffectOf<Self::Election>,
    ) -> Option<Vec<InputOf<Self::Election>>> {
        None
    }

    /// Whether this is a question, or its answer, that arrives at once or never. Each that is asked when this timer
    /// is due is heard by all, or by any of them.
    fn is_call(&self, _message: &MessageOf<Self>) -> bool {
        false
    }

    /// Whether calls are made when that is due.
    fn makes_calls(&self, _timer: TimerOf<Self>) -> bool {
        false
    }

    /// Records what a node did.
    fn note(&self, _ledger: &mut Self::Ledger, _seen: &Seen<'_, Self::Election>) {}

    /// A crash came before a record of a node was durable: this one was kept, that one lost.
    fn forget(
        &self,
        _ledger: &mut Self::Ledger,
        _agent: usize,
        _kept: Option<&DurableOf<Self>>,
        _lost: &DurableOf<Self>,
    ) {
    }

    /// Which invariant does not hold in this world.
    fn broken(&self, world: &World<Self>) -> Option<&'static str>;

    /// What has to happen somewhere, so that the model is not vacuous: an agent is elected, as a
    /// rule. At most five.
    fn sights(&self) -> &'static [&'static str] {
        &["an agent leads"]
    }

    /// Whether this world shows that one of them.
    fn shows(&self, _sight: usize, world: &World<Self>) -> bool {
        world.believers().next().is_some()
    }

    /// Whether the model looks any further.
    fn is_within(&self, _ledger: &Self::Ledger) -> bool {
        true
    }
}

/// Whose clock a message quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// It says what time it is.
    Sender,
    /// It echoes what it was told.
    Receiver,
}

/// One effect of one step, and what led to it.
#[derive(Debug)]
pub struct Seen<'a, E: Election> {
    /// The agent that did the step.
    pub agent: usize,
    /// In which incarnation of it.
    pub incarnation: Incarnation,
    /// What it was told, and by which agent, if that was the cause.
    pub heard: Option<(usize, &'a E::Message)>,
    /// In which incarnation the other one said that.
    pub heard_of: Incarnation,
    /// What is durable just before the effect.
    pub disk: Option<&'a E::Durable>,
    /// The effect.
    pub effect: &'a EffectOf<E>,
}

/// The name of the k-th agent.
///
/// # Panics
/// If there are not so many messages.
pub fn name(agent: usize) -> AgentId {
    AgentId::new(["a", "b", "c", "d", "e"][agent]).expect("a valid name")
}

/// Which agent has that name.
pub fn position(id: &AgentId) -> usize {
    usize::from(id.as_str().as_bytes()[0] - b'a')
}
