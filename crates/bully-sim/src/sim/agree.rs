//! Checks whether the agents agree, and shows their beliefs if they do not.

use std::{fmt, time::Duration};

use super::{
    World,
    node::{Node, NodeIndex},
};
use bully_core::protocol::{AgentId, Election, Leader, MemberKind, Rank, Term, Time, View};

impl<E: Election> World<E> {
    /// Returns the agents that believe at this moment that they lead, including hanging agents. These believe it still
    /// when they go on, unless their belief has a limit.
    pub fn believers(&self) -> Vec<AgentId> {
        self.beliefs().map(|(id, _)| id.clone()).collect()
    }

    /// The agents that believe right now that they lead, and in which term. Asking this after every step
    /// is cheap.
    pub fn beliefs(&self) -> impl Iterator<Item = (&AgentId, Term)> {
        let all = self.believing();
        all.filter_map(|(at, term)| Some((self.transit.directory.name(at)?, term)))
    }

    /// Returns whether two or more believe right now that they lead. Asking this after every step is cheap.
    pub fn is_contested(&self) -> bool {
        self.driver.published > 1 && self.believing().nth(1).is_some()
    }

    /// Returns the beliefs that applications may read: a published belief, until its validity ends.
    fn believing(&self) -> impl Iterator<Item = (NodeIndex, Term)> {
        let nodes = if self.driver.published == 0 {
            &[]
        } else {
            self.nodes.as_slice()
        };
        nodes.iter().enumerate().filter_map(|(at, node)| {
            let term = node.published?;
            let always = node.valid_until == Time::MAX;
            let valid = always || node.clock.read(self.now) < node.valid_until;
            valid.then_some((NodeIndex(at), term))
        })
    }

    /// Returns the leader that all running members follow, if it believes that it leads and no other agent does; `None`
    /// otherwise.
    pub fn agreed(&self) -> Option<Leader> {
        let mut agreed: Option<Leader> = None;
        let mut believers = 0;
        for (at, node) in self.nodes.iter().enumerate() {
            let Some(view) = self.view_at(NodeIndex(at)) else {
                continue;
            };
            believers += usize::from(view.leading.is_some());
            if believers > 1 {
                return None;
            }
            if !node.is_running() {
                continue;
            }
            match &agreed {
                None => agreed = Some(view.leader?),
                Some(one) if view.leader.as_ref() != Some(one) => return None,
                Some(_) => {}
            }
        }
        let leader = agreed?;
        let view = self.view(&leader.id)?;
        let node = self.node(leader.id.as_str())?;
        let leads = view.leading == Some(leader.term)
            && node.incarnation == leader.incarnation
            && node.is_running();
        leads.then_some(leader)
    }

    /// The highest rank of the agents that run and may be elected; hanging ones do not count.
    pub fn highest(&self) -> Option<Rank> {
        let running = self
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, n)| n.is_running());
        let ranks = running.filter_map(|(at, node)| {
            let score = node.score.filter(|_| node.kind == MemberKind::Voter)?;
            let id = self.transit.directory.name(NodeIndex(at))?.clone();
            Some(Rank { score, id })
        });
        ranks.max()
    }

    /// Returns whether every agent has started, and neither a message of an election is under way nor a record is
    /// written.
    pub fn is_calm(&self) -> bool {
        let is_saving = |node: &Node<E>| node.saving.is_some();
        self.to_start == 0 && self.transit.under_way == 0 && !self.nodes.iter().any(is_saving)
    }

    /// The members that run, hanging ones not counted, with their views; in the order in which they
    /// came.
    pub fn views(&self) -> impl Iterator<Item = (&AgentId, View)> {
        let running = self
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, n)| n.is_running());
        running.filter_map(|(at, _)| {
            let name = self.transit.directory.name(NodeIndex(at))?;
            Some((name, self.view_at(NodeIndex(at))?))
        })
    }

    pub(super) fn unsettled(&self, within: Duration) -> Unsettled {
        Unsettled {
            within,
            believers: self.believers(),
            views: self
                .views()
                .map(|(name, view)| (name.clone(), view))
                .collect(),
        }
    }
}

/// What each agent believes where no agreement was reached; see [`World::settle`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsettled {
    /// The time of the wait.
    pub within: Duration,
    /// The agents that believe that they lead.
    pub believers: Vec<AgentId>,
    /// The agents that run, and what each believes.
    pub views: Vec<(AgentId, View)>,
}

impl fmt::Display for Unsettled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no agreement within {:?}:", self.within)?;
        for (at, (name, view)) in self.views.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma} {name} is {} in term {}", view.role, view.term)?;
            if let Some(leader) = &view.leader {
                let (id, term) = (&leader.id, leader.term);
                write!(f, " with {id} of term {term}")?;
            }
        }
        let believers: Vec<&str> = self.believers.iter().map(AgentId::as_str).collect();
        write!(f, "; believers: [{}]", believers.join(", "))
    }
}

impl std::error::Error for Unsettled {}
