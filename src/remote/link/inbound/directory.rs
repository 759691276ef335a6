//! The announcements of a peer on one link: groups and agents by the peer's numbers.
//!
//! Decided here: numbers have no gaps and are bounded, so this side never stores more entries than a peer announced.

use std::collections::BTreeMap;

use crate::protocol::{AgentId, Incarnation};

use super::{GroupStanding, MayBe};

#[derive(Debug, Default)]
pub(super) struct LinkDirectory {
    groups: Vec<Option<AnnouncedGroup>>,
    /// Number of slots for the peer's agents in all groups, including free slots.
    pub(super) entries: usize,
}

/// A group as the peer announced it.
#[derive(Debug)]
pub(super) struct AnnouncedGroup {
    pub(super) name: AgentId,
    pub(super) standing: GroupStanding,
    agents: Vec<Option<AnnouncedAgent>>,
    numbers: BTreeMap<AgentId, u32>,
}

/// An agent as the peer announced it.
#[derive(Clone, Debug)]
pub(super) struct AnnouncedAgent {
    pub(super) id: AgentId,
    pub(super) incarnation: Option<Incarnation>,
    pub(super) may_be: MayBe,
    /// The role that the agent needs for the kind and the score with which it was announced.
    pub(super) needed: MayBe,
    pub(super) ended: Option<Incarnation>,
}

impl LinkDirectory {
    pub(super) fn group(&self, number: u32) -> Option<&AnnouncedGroup> {
        self.groups.get(index(number))?.as_ref()
    }

    pub(super) fn group_mut(&mut self, number: u32) -> Option<&mut AnnouncedGroup> {
        self.groups.get_mut(index(number))?.as_mut()
    }

    pub(super) fn open(&mut self, number: u32, name: AgentId, standing: GroupStanding) {
        let freed = self.group(number).map_or(0, |group| group.agents.len());
        // The slots of the former opening no longer count. Otherwise repeated openings would bring an honest peer to
        // the limit.
        self.entries = self.entries.saturating_sub(freed);
        let at = index(number);
        if at >= self.groups.len() {
            // A number beyond the limit was refused before, so a peer cannot make the list long.
            self.groups.resize_with(at.saturating_add(1), || None);
        }
        if let Some(group) = self.groups.get_mut(at) {
            *group = Some(AnnouncedGroup {
                name,
                standing,
                agents: Vec::new(),
                numbers: BTreeMap::new(),
            });
        }
    }

    /// Gives a number to an agent of a group; see [`AnnouncedGroup::set`].
    pub(super) fn set(&mut self, group: u32, number: u32, agent: AnnouncedAgent) -> Option<()> {
        let grown = self.group_mut(group)?.set(number, agent)?;
        self.entries = self.entries.saturating_add(usize::from(grown));
        Some(())
    }

    pub(super) fn remove(&mut self, group: u32, number: u32) -> Option<AnnouncedAgent> {
        self.group_mut(group)?.remove(number)
    }

    /// Judges all agents again by the peer's present rights. Returns whether each agent still has its announced
    /// role.
    pub(super) fn rejudge(&mut self, may_be: impl Fn(&AgentId, &AgentId) -> Option<MayBe>) -> bool {
        let mut are_allowed = true;
        for group in self.groups.iter_mut().flatten() {
            let name = &group.name;
            for agent in group.agents.iter_mut().flatten() {
                match may_be(name, &agent.id) {
                    Some(may_be) if may_be >= agent.needed => agent.may_be = may_be,
                    Some(_) | None => are_allowed = false,
                }
            }
        }
        are_allowed
    }

    /// Returns whether another number already means the group `name`.
    pub(super) fn has_other(&self, number: u32, name: &AgentId) -> bool {
        let mut groups = self.groups.iter().enumerate();
        groups.any(|(at, group)| {
            at != index(number) && group.as_ref().is_some_and(|group| group.name == *name)
        })
    }
}

impl AnnouncedGroup {
    pub(super) fn agent(&self, number: u32) -> Option<&AnnouncedAgent> {
        self.agents.get(index(number))?.as_ref()
    }

    pub(super) fn agent_mut(&mut self, number: u32) -> Option<&mut AnnouncedAgent> {
        self.agents.get_mut(index(number))?.as_mut()
    }

    /// Gives a number to an agent, or changes the facts about it. Returns whether the agent took a new slot. `None` if
    /// a rule is broken: a number means one agent, an agent has one number, and the numbers have no gaps.
    fn set(&mut self, number: u32, agent: AnnouncedAgent) -> Option<bool> {
        let at = index(number);
        if self.numbers.get(&agent.id).is_some_and(|n| *n != number) {
            return None;
        }
        let is_grown = at == self.agents.len();
        if is_grown {
            self.agents.push(None);
        }
        let entry = self.agents.get_mut(at)?;
        match entry {
            Some(known) if known.id != agent.id => return None,
            Some(known) => *known = agent,
            None => {
                self.numbers.insert(agent.id.clone(), number);
                *entry = Some(agent);
            }
        }
        Some(is_grown)
    }

    fn remove(&mut self, number: u32) -> Option<AnnouncedAgent> {
        // The entry stays and counts: the numbers have no gaps, and this number may be given again.
        let agent = self.agents.get_mut(index(number))?.take()?;
        self.numbers.remove(&agent.id);
        Some(agent)
    }
}

/// Returns a number as an index of a list. A number too large for an index is beyond every limit.
fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
