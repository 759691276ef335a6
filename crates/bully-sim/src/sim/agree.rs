//! Checks whether the agents agree on a leader, and shows the view of each agent if they do not.

use std::{fmt, time::Duration};

use super::{
    World,
    node::{Node, NodeIndex},
};
use bully_core::protocol::{AgentId, Election, Leader, MemberKind, Rank, Term, Time, View};

impl<E: Election> World<E> {
    /// Returns the agents that now believe themselves to be leader, including agents that hang. When an agent that hung
    /// runs again, it still believes that it leads, unless its belief has a limit in time.
    pub fn believers(&self) -> Vec<AgentId> {
        self.beliefs().map(|(id, _)| id.clone()).collect()
    }

    /// Returns the agents that now believe that they lead, each with its term. This query is cheap enough for every
    /// step.
    pub fn beliefs(&self) -> impl Iterator<Item = (&AgentId, Term)> {
        let all = self.believing();
        all.filter_map(|(at, term)| Some((self.transit.directory.name(at)?, term)))
    }

    /// Returns whether two or more agents now believe that they lead. This query is cheap enough for every step.
    pub fn is_contested(&self) -> bool {
        self.driver.published > 1 && self.believing().nth(1).is_some()
    }

    /// Returns the agents whose applications may now read that they lead, each with its term: the published belief is
    /// still valid.
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

    /// Returns the leader that all running members follow, if only this leader believes that it leads; otherwise
    /// `None`.
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

    /// Returns the highest rank of the agents that run and can be elected. Agents that hang do not count.
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

    /// Returns whether every agent has started, no message of an election is on its way, and no record is being
    /// written.
    pub fn is_calm(&self) -> bool {
        let is_saving = |node: &Node<E>| node.saving.is_some();
        self.to_start == 0 && self.transit.under_way == 0 && !self.nodes.iter().any(is_saving)
    }

    /// Returns the members that run, with their views, in the order in which they came. Members that hang do not count.
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

/// The view of each agent if the agents did not agree on a leader; see [`World::settle`].
#[derive(Clone, PartialEq, Eq)]
pub struct Unsettled {
    /// The time for which the world waited.
    pub within: Duration,
    /// The agents that believe that they lead.
    pub believers: Vec<AgentId>,
    /// The agents that run, each with its view.
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
        write!(f, "; believe that they lead: [{}]", believers.join(", "))
    }
}

impl std::error::Error for Unsettled {}

debug_is_text!(Unsettled);
