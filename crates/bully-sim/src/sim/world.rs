//! The world itself: its state, its time, and its queries.
//!
//! Decided here: time and order. Not here: the effects of a step (`drive`), the actions on agents (`verbs`), and what
//! agents learn of each other (`updates`).

use std::{fmt, time::Duration};

use super::{
    WorldBuilder,
    agree::Unsettled,
    drive::Driver,
    node::{Node, NodeIndex},
    situation::{Situation, Situations},
    transit::{DroppedMessages, Hits, SentMessage, Transit},
    trap::Reaction,
    updates::{Detection, MemberUpdate},
};
use crate::{
    faults::{SplitMix64, Tally},
    trace::Trace,
};
use bully_core::protocol::{
    AgentId, Election, Event, Incarnation, InputOf, Members, Score, Time, View,
};

/// A group of agents in virtual time, with faults. The same seed and the same calls give the same run, up to the last
/// message.
///
/// A call names an agent by any value that can be read as a name (`"a"` or an [`AgentId`]). An action on an agent
/// that does not exist, or whose state does not allow the action, has no effect and returns `false`.
///
/// ```
/// use bully_core::elections::bully::{Bully, BullyConfig};
/// use bully_sim::{sim::{Participant, World}, trace::Trace};
/// use std::{sync::Arc, time::Duration};
/// let config = Arc::new(BullyConfig::default());
/// let voter = |name: &str, score: i32| -> Result<_, bully_core::protocol::IdError> {
///     Ok(Participant::<Bully>::voter(name.parse()?, Some(score.into()), Arc::clone(&config)))
/// };
/// let mut world = World::builder(1)
///     .agents([voter("a", 1)?, voter("b", 2)?, voter("c", 3)?])
///     .trace(Trace::new())
///     .build();
/// let leader = world.settle(Duration::from_secs(1))?;
/// assert_eq!(leader.as_str(), "c");
/// world.crash(&leader);
/// assert_eq!(world.settle(Duration::from_secs(1))?.as_str(), "b");
/// assert!(world.trace().to_text().contains("follows b in term 2\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct World<E: Election> {
    pub(super) seed: u64,
    pub(super) now: Time,
    pub(super) nodes: Vec<Node<E>>,
    pub(super) transit: Transit<E>,
    pub(super) driver: Driver<E>,
    pub(super) random: SplitMix64,
    /// The members that an agent learns at its start.
    pub(super) registry: super::node::KnownMembers,
    pub(super) detection: Detection,
    /// Pairs of agents: the first agent can no longer see the second agent.
    pub(super) apart: std::collections::BTreeSet<(NodeIndex, NodeIndex)>,
    /// Pairs of agents: the first agent has lost the second agent from its list of members.
    pub(super) forgotten: std::collections::BTreeSet<(NodeIndex, NodeIndex)>,
    /// Number of agents that have not started yet.
    pub(super) to_start: usize,
    pub(super) invariant: Option<Invariant<E>>,
    pub(super) violation: Option<Violation>,
    pub(super) reproduce: String,
    pub(super) steps: u64,
    /// Number of stores made so far, which gives each new store its id.
    pub(super) stores: u64,
}

/// A check after every step. Its text describes the violation.
pub(super) type Invariant<E> = Box<dyn FnMut(&World<E>) -> Result<(), String>>;

#[derive(Debug)]
pub(super) enum Scheduled<E: Election> {
    Message(SentMessage<E::Message>),
    Timer {
        at: NodeIndex,
        timer: E::Timer,
        setting: u64,
    },
    /// A command of the application, or of a user, for this incarnation.
    Command {
        at: NodeIndex,
        incarnation: Incarnation,
        input: Box<InputOf<E>>,
    },
    /// The record of this incarnation is durable.
    Written {
        at: NodeIndex,
        incarnation: Incarnation,
    },
    /// The disk of this agent is measured, if the agent wants that.
    Probe(NodeIndex),
    Start(NodeIndex),
    Update(MemberUpdate),
    Change(Box<super::change::PendingChange>),
}

/// A broken promise, which ends the run.
#[derive(Clone, PartialEq, Eq)]
pub struct Violation {
    /// The seed of the world.
    pub seed: u64,
    /// The time of the violation.
    pub at: Time,
    /// The agent that took the last step, if there was one.
    pub agent: Option<AgentId>,
    /// The description of the violation.
    pub what: String,
    /// The command that repeats the run.
    pub reproduce: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {} at {} ms", self.seed, self.at)?;
        if let Some(agent) = &self.agent {
            write!(f, ", {agent}")?;
        }
        write!(f, ": {}", self.what)?;
        if self.reproduce.is_empty() {
            return Ok(());
        }
        write!(f, "; again: {}", self.reproduce)
    }
}

impl std::error::Error for Violation {}

debug_is_text!(Violation);

impl<E: Election> World<E> {
    /// Returns a builder of a world.
    pub fn builder(seed: u64) -> WorldBuilder<E> {
        WorldBuilder::new(seed)
    }

    /// Handles the next event. Returns `false` if no event is left, or if a promise was broken.
    pub fn step(&mut self) -> bool {
        if self.violation.is_some() {
            return false;
        }
        let Some((at, due)) = self.transit.queue.pop() else {
            return false;
        };
        // The later time counts, because a timer that was moved while its agent hung may be due in the past; clocks
        // round down, too.
        self.now = self.now.max(at);
        self.steps = self.steps.saturating_add(1);
        self.do_due(due);
        self.check();
        true
    }

    /// Handles all events within this time, and advances to its end.
    pub fn run_for(&mut self, span: Duration) {
        self.run_to(self.now.after(span));
    }

    /// Handles all events until `end`, and advances to the time `end`.
    pub fn run_to(&mut self, end: Time) {
        while self.transit.queue.next_at().is_some_and(|at| at <= end) && self.step() {}
        if self.violation.is_none() {
            self.now = self.now.max(end);
        }
    }

    /// Runs until the predicate holds, with a check after every step. Returns `false` if it does not hold within
    /// `limit`.
    pub fn run_until(&mut self, mut holds: impl FnMut(&Self) -> bool, limit: Duration) -> bool {
        let end = self.now.after(limit);
        while !holds(self) {
            let due = self.transit.queue.next_at().is_some_and(|at| at <= end);
            if !due || !self.step() {
                self.now = self.now.max(end);
                return holds(self);
            }
        }
        true
    }

    /// Runs until the agents have settled: every agent that runs follows the same leader, only this leader believes
    /// that it leads, all agents have started, and no message of an election is on its way.
    ///
    /// # Errors
    /// [`Unsettled`] with the view of each agent, if that does not happen within `limit`, or if a promise was broken
    /// before.
    pub fn settle(&mut self, limit: Duration) -> Result<AgentId, Unsettled> {
        let mut seen = None;
        let quiet = self.run_until(
            |world| {
                let moved = Some(world.moves());
                // Agreement is checked only after a step of a machine, because the check visits all agents.
                let maybe = world.is_calm() && seen != moved;
                if maybe {
                    seen = moved;
                }
                maybe && world.agreed().is_some()
            },
            limit,
        );
        let agreed = self.agreed().filter(|_| quiet && self.violation.is_none());
        agreed
            .map(|leader| leader.id)
            .ok_or_else(|| self.unsettled(limit))
    }

    /// Sets an invariant that is checked after every step. An error ends the run. A later invariant replaces it.
    pub fn set_invariant(&mut self, invariant: impl FnMut(&Self) -> Result<(), String> + 'static) {
        self.invariant = Some(Box::new(invariant));
    }

    /// Returns the broken promise; `None` if no promise was broken.
    pub fn violation(&self) -> Option<&Violation> {
        self.violation.as_ref()
    }

    /// Returns the world's time. No agent knows it.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Returns the time of the next event.
    pub fn next_at(&self) -> Option<Time> {
        self.transit.queue.next_at()
    }

    /// Returns the number of steps.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns the agent that took the last step.
    pub fn last_moved(&self) -> Option<&AgentId> {
        self.transit.directory.name(self.driver.last?)
    }

    /// Returns the names of the agents, in the order in which they came, including agents that crashed or left.
    pub fn agents(&self) -> impl Iterator<Item = &AgentId> {
        let all = (0..self.nodes.len()).map(NodeIndex);
        let first = all.filter(|at| self.transit.first_of(*at) == *at);
        first.filter_map(|at| self.transit.directory.name(at))
    }

    /// Returns an agent's present view, by its own clock; `None` if the agent does not run.
    pub fn view(&self, agent: impl AsRef<str>) -> Option<View> {
        self.view_at(self.transit.directory.find(agent.as_ref())?)
    }

    /// Returns the machine of an agent, if the agent runs.
    pub fn machine(&self, agent: impl AsRef<str>) -> Option<&E> {
        self.node(agent.as_ref())?.machine.as_ref()
    }

    /// Returns the events that an agent sent to its application in all its incarnations, with their times.
    pub fn events(&self, agent: impl AsRef<str>) -> &[(Time, Event)] {
        self.node(agent.as_ref()).map_or(&[], |node| &node.events)
    }

    /// Returns the configuration of an agent.
    pub fn config(&self, agent: impl AsRef<str>) -> Option<&E::Config> {
        self.node(agent.as_ref()).map(|node| &node.config)
    }

    /// Returns the record that an agent made durable last.
    pub fn durable(&self, agent: impl AsRef<str>) -> Option<&E::Durable> {
        self.node(agent.as_ref())?.durable.as_ref()
    }

    /// Returns the present score of an agent.
    pub fn score(&self, agent: impl AsRef<str>) -> Option<Score> {
        self.node(agent.as_ref())?.score
    }

    /// Returns the present or last incarnation of an agent.
    pub fn incarnation(&self, agent: impl AsRef<str>) -> Option<Incarnation> {
        self.node(agent.as_ref()).map(|node| node.incarnation)
    }

    /// Returns the members that an agent knows.
    pub fn known(&self, agent: impl AsRef<str>) -> Option<&Members> {
        self.node(agent.as_ref()).map(|node| &*node.known.members)
    }

    /// Returns whether an agent runs and does not hang.
    pub fn is_running(&self, agent: impl AsRef<str>) -> bool {
        self.node(agent.as_ref()).is_some_and(Node::is_running)
    }

    /// Returns the recorded run.
    pub fn trace(&self) -> &Trace {
        &self.transit.trace
    }

    /// Returns the recorder, to configure it or to take it out.
    pub fn trace_mut(&mut self) -> &mut Trace {
        &mut self.transit.trace
    }

    /// Returns the number of messages by fate.
    pub fn tally(&self) -> Tally {
        self.transit.network.tally()
    }

    /// Returns the number of messages that arrived and were dropped.
    pub fn dropped(&self) -> DroppedMessages {
        self.transit.dropped
    }

    /// Returns the number of sprung traps with this reaction.
    pub fn sprung(&self, reaction: Reaction) -> u64 {
        self.transit.traps.sprung(reaction).total()
    }

    /// Returns the effects of the network on messages, by the situations of their senders.
    pub(super) fn hits(&self) -> &Hits {
        &self.transit.hits
    }

    /// Returns the situations of the agents that a trap with this reaction caught.
    pub(super) fn trapped(&self, reaction: Reaction) -> Situations {
        self.transit.traps.sprung(reaction)
    }

    /// Returns the situation of an agent; `None` if it does not run.
    pub fn situation(&self, agent: impl AsRef<str>) -> Option<Situation> {
        self.view(agent).as_ref().map(Situation::of)
    }

    /// Returns whether an agent depends on a record that must not be lost.
    pub fn depends_on_a_record(&self, agent: impl AsRef<str>) -> bool {
        let node = self.node(agent.as_ref());
        node.is_some_and(Node::keeps_record)
    }

    /// Returns the time of an agent's own clock; `None` if it does not run.
    pub fn reading(&self, agent: impl AsRef<str>) -> Option<Time> {
        let node = self.node(agent.as_ref()).filter(|node| node.is_alive());
        node.map(|node| node.clock.read(self.now))
    }

    /// Returns the number of steps of machines. Between such steps, a view changes only because time passes.
    pub(super) fn moves(&self) -> u64 {
        self.driver.moves
    }

    /// Returns a value that changes whenever an agent begins or stops to run, gets another leader or another score, or
    /// gains or loses the leadership. Until then, [`agreed`](Self::agreed) returns the same leader.
    pub(super) fn shape(&self) -> (u64, usize) {
        (self.driver.shifts, self.beliefs().count())
    }

    /// Returns the arrival time of the last message on its way.
    pub fn last_arrival(&self) -> Time {
        self.transit.last_arrival
    }

    /// Returns the time at which the last message has arrived, every record is written, and every agent knows the
    /// present members, unless another event happens before.
    pub(super) fn all_told_at(&self) -> Time {
        let told = self.now.after(self.detection.takes().max);
        let saving = self.nodes.iter().filter_map(|node| node.saving.as_ref());
        let written = saving.map(|saving| saving.until).max();
        self.transit
            .last_arrival
            .max(told)
            .max(written.unwrap_or_default())
    }

    /// Ends the run with a broken promise. Only the first broken promise counts.
    pub fn violate(&mut self, what: impl Into<String>) {
        if self.violation.is_none() {
            self.violation = Some(Violation {
                seed: self.seed,
                at: self.now,
                agent: self.last_moved().cloned(),
                what: what.into(),
                reproduce: self.reproduce.clone(),
            });
        }
    }

    /// Returns the same world, but it reports the seed from which its own seed was derived.
    pub(super) fn called(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    pub(super) fn node(&self, name: &str) -> Option<&Node<E>> {
        self.nodes.get(self.transit.directory.find(name)?.0)
    }

    pub(super) fn view_at(&self, at: NodeIndex) -> Option<View> {
        let node = self.nodes.get(at.0)?;
        let clock = node.clock.read(self.now);
        let mut view = node.machine.as_ref()?.view(clock);
        // A leadership that has ended is hidden even if the machine still shows it, as in an application's handle.
        if clock >= view.valid_until && view.valid_until < Time::MAX {
            view.leading = None;
        }
        Some(view)
    }

    fn check(&mut self) {
        if let Some(broken) = self.driver.broken.take() {
            self.violate(broken);
        }
        if self.violation.is_some() {
            return;
        }
        // The invariant is taken out while it runs, because it gets a reference to the whole world.
        if let Some(mut invariant) = self.invariant.take() {
            let checked = invariant(self);
            self.invariant = Some(invariant);
            if let Err(what) = checked {
                self.violate(what);
            }
        }
    }
}

impl<E: Election> fmt::Debug for World<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("seed", &self.seed)
            .field("now", &self.now)
            .field("nodes", &self.nodes)
            .field("violation", &self.violation)
            .finish_non_exhaustive()
    }
}
