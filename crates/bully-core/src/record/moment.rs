//! The state of a run at one moment: the role of each agent, the messages on their way, and the cuts.
//!
//! Decided here: an entry of exactly that moment counts as past, and only recorded facts are known. An agent that hangs
//! keeps its role; an agent that is down has no role. Not here: the drawing (`svg`).

use std::collections::{BTreeMap, BTreeSet};

use super::{Happening, MessageText, RecordedCommand, Recording, TraceEntry, What};
use crate::protocol::{
    AgentId, Decree, Event, Leader, MemberKind, Role, Score, Term, Time, VotersEvent,
};

/// A moment of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RecordedMoment<'a> {
    pub(super) at: Time,
    /// The agents at the beginning of the run in their order, then the agents that came later. Agents that left are not
    /// included.
    pub(super) agents: Vec<AgentMoment<'a>>,
    pub(super) under_way: Vec<UnderWay<'a>>,
    /// Pairs of agents: the first agent cannot reach the second one.
    pub(super) cut: BTreeSet<(&'a AgentId, &'a AgentId)>,
    /// The last action or result, in words, with its time.
    pub(super) caption: Option<(Time, String)>,
}

/// An agent at one moment of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentMoment<'a> {
    /// The name of the agent.
    pub name: &'a AgentId,
    /// Voter or observer.
    pub kind: MemberKind,
    /// The score of the agent; `None` if it cannot be elected.
    pub score: Option<Score>,
    /// The condition of the agent.
    pub condition: AgentCondition,
    /// The role of the agent.
    pub role: Role,
    /// The term of the agent's latest event.
    pub term: Term,
    /// The leader that the agent follows, or the agent itself if it leads.
    pub leader: Option<&'a Leader>,
}

/// The condition of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentCondition {
    /// The agent has not started.
    Absent,
    /// The agent began before the recording began, and no entry shows its state yet.
    Unknown,
    /// The agent runs.
    Up,
    /// The agent runs, but does not act.
    Hung,
    /// The agent has crashed or stopped.
    Down,
}

/// A message that has left and has not arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnderWay<'a> {
    pub(super) message: &'a MessageText,
    pub(super) left: Time,
    pub(super) arrives: Time,
}

impl<'a> RecordedMoment<'a> {
    /// Returns the state of `recording` at the time `at`.
    pub(super) fn of(recording: &'a Recording, at: Time) -> Self {
        let mut moments = RecordedMoments::begin(recording, at);
        for entry in recording.entries() {
            if entry.at > at {
                break;
            }
            moments.moment.follow(entry, &mut moments.links);
        }
        let RecordedMoments { mut moment, links } = moments;
        moment.cut = links.cut(&moment.agents);
        moment
    }

    /// Returns the state before the first entry.
    fn begin(recording: &'a Recording, at: Time) -> Self {
        // The record of a single agent begins while the other agents run already, so their state is unknown.
        let is_part = recording.header().began_unix_ms.is_some();
        let condition = if is_part {
            AgentCondition::Unknown
        } else {
            AgentCondition::Absent
        };
        let agents = recording.agents().map(|agent| AgentMoment {
            kind: agent.kind,
            score: agent.score,
            condition,
            ..AgentMoment::new(&agent.name)
        });
        Self {
            at,
            agents: agents.collect(),
            under_way: Vec::new(),
            cut: BTreeSet::new(),
            caption: None,
        }
    }

    /// Returns the agents that lead, as their own events show.
    pub(super) fn leaders(&self) -> impl Iterator<Item = &AgentMoment<'a>> {
        self.agents.iter().filter(|agent| agent.leads())
    }

    fn follow(&mut self, entry: &'a TraceEntry, links: &mut CutLinks<'a>) {
        let at = entry.at;
        match &entry.what {
            What::Sent { message, arrives } => {
                let now = self.at;
                let due = |arrives: &&Time| **arrives > now || (**arrives == at && at == now);
                self.under_way
                    .extend(arrives.iter().filter(due).map(|arrives| UnderWay {
                        message,
                        left: at,
                        arrives: *arrives,
                    }));
            }
            What::Role { agent, role } => {
                let agent = self.agent(agent);
                agent.role = *role;
                agent.is_heard();
            }
            What::Event { agent, event } => {
                self.agent(agent).hears(event);
                if let Event::Voters(told) = event
                    && let VotersEvent::Installed(list) = &**told
                {
                    self.list(list);
                }
            }
            What::Happened { agent, what } => {
                self.agent(agent).meets(*what);
                if *what == Happening::Left {
                    self.agents.retain(|one| one.name != agent);
                }
                self.caption = Some((at, format!("{agent} {what}")));
            }
            What::Mark(text) => self.caption = Some((at, text.clone())),
            What::Violation(text) => self.caption = Some((at, format!("BROKEN: {text}"))),
            What::Command(command) => {
                links.obey(command);
                if let RecordedCommand::Score { agent, score }
                | RecordedCommand::Join { agent, score, .. } = command
                {
                    self.agent(agent).score = *score;
                }
                if let RecordedCommand::Join { agent, kind, .. } = command {
                    self.agent(agent).kind = *kind;
                }
            }
            What::Lost { .. }
            | What::Delivered(_)
            | What::Dropped { .. }
            | What::Settled { .. }
            | What::Ended => {}
        }
    }

    /// Handles a new list of voters. An agent with a score that is not in the list becomes an observer.
    fn list(&mut self, list: &Decree) {
        let eligible = self.agents.iter_mut().filter(|agent| agent.score.is_some());
        for agent in eligible {
            agent.kind = if list.names().any(|name| name == agent.name) {
                MemberKind::Voter
            } else {
                MemberKind::Observer
            };
        }
    }

    /// Returns the agent with this name; adds the agent if it is new.
    fn agent(&mut self, name: &'a AgentId) -> &mut AgentMoment<'a> {
        let known = self.agents.iter().position(|agent| agent.name == name);
        let at = known.unwrap_or_else(|| {
            self.agents.push(AgentMoment::new(name));
            self.agents.len().saturating_sub(1)
        });
        #[expect(clippy::indexing_slicing, reason = "it was found or added there")]
        &mut self.agents[at]
    }
}

impl<'a> AgentMoment<'a> {
    fn new(name: &'a AgentId) -> Self {
        Self {
            name,
            kind: MemberKind::Voter,
            score: None,
            condition: AgentCondition::Absent,
            role: Role::Follower,
            term: Term::default(),
            leader: None,
        }
    }

    /// Returns whether the agent has reported that it leads, and runs.
    pub fn leads(&self) -> bool {
        self.role == Role::Leader
            && matches!(self.condition, AgentCondition::Up | AgentCondition::Hung)
    }

    /// Notes that the agent has sent a message, so it runs.
    fn is_heard(&mut self) {
        if matches!(
            self.condition,
            AgentCondition::Absent | AgentCondition::Unknown
        ) {
            self.condition = AgentCondition::Up;
        }
    }

    fn hears(&mut self, event: &'a Event) {
        self.is_heard();
        match event {
            Event::Acquired { term } | Event::Renewed { term } | Event::Draining { term, .. } => {
                (self.role, self.term, self.leader) = (Role::Leader, *term, None);
            }
            Event::Lost { .. } | Event::NoLeader { .. } => {
                (self.role, self.leader) = (Role::Follower, None);
            }
            Event::NewLeader(leader) => {
                (self.role, self.term) = (Role::Follower, leader.term);
                self.leader = Some(leader);
            }
            Event::Voters(_) => {}
        }
    }

    fn meets(&mut self, what: Happening) {
        self.condition = match what {
            Happening::Started | Happening::Joined | Happening::Restarted => {
                (self.role, self.leader) = (Role::Follower, None);
                AgentCondition::Up
            }
            Happening::Resumed => AgentCondition::Up,
            Happening::Paused => AgentCondition::Hung,
            Happening::Left | Happening::Crashed | Happening::Stopped => {
                (self.role, self.leader) = (Role::Follower, None);
                AgentCondition::Down
            }
        };
    }
}

/// The states of a run, from one moment to the next. The messages on their way are known only for the moment `at` of
/// [`begin`](Self::begin).
#[derive(Debug)]
pub struct RecordedMoments<'a> {
    moment: RecordedMoment<'a>,
    links: CutLinks<'a>,
}

impl<'a> RecordedMoments<'a> {
    /// Returns the state before the first entry. `at` is the moment for which the messages on their way are known.
    pub fn begin(recording: &'a Recording, at: Time) -> Self {
        Self {
            moment: RecordedMoment::begin(recording, at),
            links: CutLinks::default(),
        }
    }

    /// Goes on to the state after the next entry.
    pub fn follow(&mut self, entry: &'a TraceEntry) {
        self.moment.follow(entry, &mut self.links);
    }

    /// Returns the agents at the beginning of the run in their order, then the agents that came later.
    pub fn agents(&self) -> &[AgentMoment<'a>] {
        &self.moment.agents
    }

    /// Returns the number of the partition's side to which an agent belongs; 0 if it belongs to no side.
    pub fn side(&self, agent: &AgentId) -> usize {
        let side = self.links.sides.get(agent);
        side.map_or(0, |side| side.saturating_add(1))
    }

    /// Returns whether an agent is cut off from all others.
    pub fn is_isolated(&self, agent: &AgentId) -> bool {
        self.links.isolated.contains(agent)
    }

    /// Returns the directions that a cut closes. Partitions and isolations are not included.
    pub fn cuts(&self) -> impl Iterator<Item = (&'a AgentId, &'a AgentId)> {
        self.links.one_way.iter().copied()
    }
}

/// The partitions and cuts of the network.
#[derive(Debug, Default)]
struct CutLinks<'a> {
    /// The side of each agent that belongs to a side.
    sides: BTreeMap<&'a AgentId, usize>,
    one_way: BTreeSet<(&'a AgentId, &'a AgentId)>,
    isolated: BTreeSet<&'a AgentId>,
}

impl<'a> CutLinks<'a> {
    fn obey(&mut self, command: &'a RecordedCommand) {
        match command {
            RecordedCommand::Partition(sides) => {
                let named = sides.iter().enumerate();
                self.sides = named
                    .flat_map(|(at, side)| side.iter().map(move |agent| (agent, at)))
                    .collect();
            }
            RecordedCommand::Cut(one, other) => {
                self.one_way.extend([(one, other), (other, one)]);
            }
            RecordedCommand::CutOneWay(from, to) => drop(self.one_way.insert((from, to))),
            RecordedCommand::Isolate(agent) => drop(self.isolated.insert(agent)),
            RecordedCommand::Mend(one, other) => {
                self.one_way
                    .retain(|pair| *pair != (one, other) && *pair != (other, one));
            }
            RecordedCommand::Rejoin(agent) => drop(self.isolated.remove(agent)),
            RecordedCommand::Heal => *self = Self::default(),
            RecordedCommand::Crash(_)
            | RecordedCommand::Stop(_)
            | RecordedCommand::Kill(_)
            | RecordedCommand::Restart(_)
            | RecordedCommand::Hang(_)
            | RecordedCommand::Freeze(_)
            | RecordedCommand::Resume(_)
            | RecordedCommand::Expire(_)
            | RecordedCommand::Join { .. }
            | RecordedCommand::Leave(_)
            | RecordedCommand::Score { .. }
            | RecordedCommand::StepDown { .. }
            | RecordedCommand::ChangeVoters(_)
            | RecordedCommand::Campaign(_)
            | RecordedCommand::Network(_)
            | RecordedCommand::Settle => {}
        }
    }

    fn cut(&self, agents: &[AgentMoment<'a>]) -> BTreeSet<(&'a AgentId, &'a AgentId)> {
        let names = || agents.iter().map(|agent| agent.name);
        let pairs = names().flat_map(|from| names().map(move |to| (from, to)));
        pairs
            .filter(|(from, to)| {
                let is_apart = self.sides.get(from) != self.sides.get(to)
                    || self.isolated.contains(from)
                    || self.isolated.contains(to);
                from != to && (is_apart || self.one_way.contains(&(*from, *to)))
            })
            .collect()
    }
}
