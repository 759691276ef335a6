//! What a recording says of one moment: what each agent is, what is under way, and what is cut.
//!
//! Decided here: that an entry of the very moment has happened, and that only what was recorded is known. An agent that
//! hangs keeps its role; one that is down has none. Not here: how that is drawn (`svg`).

use std::collections::{BTreeMap, BTreeSet};

use super::{Command, Happening, MessageText, Recording, TraceEntry, What};
use crate::protocol::{AgentId, Event, Leader, MemberKind, Role, Score, Term, Time};

/// A moment of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Moment<'a> {
    pub(super) at: Time,
    /// In the order of the beginning, later ones as they came; those that left are gone.
    pub(super) agents: Vec<AgentMoment<'a>>,
    pub(super) under_way: Vec<UnderWay<'a>>,
    /// Pairs of which the first does not reach the second.
    pub(super) cut: BTreeSet<(&'a AgentId, &'a AgentId)>,
    /// What was last done or found, in words.
    pub(super) caption: Option<(Time, String)>,
}

/// An agent at that moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AgentMoment<'a> {
    pub(super) name: &'a AgentId,
    pub(super) kind: MemberKind,
    pub(super) score: Option<Score>,
    pub(super) condition: Condition,
    pub(super) role: Role,
    pub(super) term: Term,
    pub(super) leader: Option<&'a Leader>,
}

/// Whether an agent runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// It has not started.
    Absent,
    Up,
    Hung,
    Down,
}

/// A message that has left and not arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnderWay<'a> {
    pub(super) message: &'a MessageText,
    pub(super) left: Time,
    pub(super) arrives: Time,
}

impl<'a> Moment<'a> {
    /// What `recording` says of that moment.
    pub(super) fn of(recording: &'a Recording, at: Time) -> Self {
        let agents = recording.agents().map(|agent| AgentMoment {
            kind: agent.kind,
            score: agent.score,
            ..AgentMoment::new(&agent.name)
        });
        let mut moment = Self {
            at,
            agents: agents.collect(),
            under_way: Vec::new(),
            cut: BTreeSet::new(),
            caption: None,
        };
        let mut links = Links::default();
        for entry in recording.entries() {
            if entry.at > at {
                break;
            }
            moment.follow(entry, &mut links);
        }
        moment.cut = links.cut(&moment.agents);
        moment
    }

    /// The agents that lead, as far as they have said.
    pub(super) fn leaders(&self) -> impl Iterator<Item = &AgentMoment<'a>> {
        self.agents.iter().filter(|agent| agent.leads())
    }

    fn follow(&mut self, entry: &'a TraceEntry, links: &mut Links<'a>) {
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
            What::Role { agent, role } => self.agent(agent).role = *role,
            What::Event { agent, event } => self.agent(agent).hears(event),
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
                if let Command::Score { agent, score } | Command::Join { agent, score, .. } =
                    command
                {
                    self.agent(agent).score = *score;
                }
                if let Command::Join { agent, kind, .. } = command {
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

    /// The agent of that name, which may be new.
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
            condition: Condition::Absent,
            role: Role::Follower,
            term: Term::default(),
            leader: None,
        }
    }

    /// Whether it said that it leads, and runs.
    pub(super) fn leads(&self) -> bool {
        self.role == Role::Leader && matches!(self.condition, Condition::Up | Condition::Hung)
    }

    fn hears(&mut self, event: &'a Event) {
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
                Condition::Up
            }
            Happening::Resumed => Condition::Up,
            Happening::Paused => Condition::Hung,
            Happening::Left | Happening::Crashed | Happening::Stopped => {
                (self.role, self.leader) = (Role::Follower, None);
                Condition::Down
            }
        };
    }
}

/// What was done to the network.
#[derive(Debug, Default)]
struct Links<'a> {
    /// The side of each agent that was named on one.
    sides: BTreeMap<&'a AgentId, usize>,
    one_way: BTreeSet<(&'a AgentId, &'a AgentId)>,
    isolated: BTreeSet<&'a AgentId>,
}

impl<'a> Links<'a> {
    fn obey(&mut self, command: &'a Command) {
        match command {
            Command::Partition(sides) => {
                let named = sides.iter().enumerate();
                self.sides = named
                    .flat_map(|(at, side)| side.iter().map(move |agent| (agent, at)))
                    .collect();
            }
            Command::Cut(one, other) => {
                self.one_way.extend([(one, other), (other, one)]);
            }
            Command::CutOneWay(from, to) => drop(self.one_way.insert((from, to))),
            Command::Isolate(agent) => drop(self.isolated.insert(agent)),
            Command::Heal => *self = Self::default(),
            Command::Crash(_)
            | Command::Stop(_)
            | Command::Kill(_)
            | Command::Restart(_)
            | Command::Hang(_)
            | Command::Freeze(_)
            | Command::Resume(_)
            | Command::Expire(_)
            | Command::Join { .. }
            | Command::Leave(_)
            | Command::Score { .. }
            | Command::StepDown { .. }
            | Command::Campaign(_)
            | Command::Network(_)
            | Command::Settle => {}
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
