//! The announcements of one link: the local agents that the other side knows, and the changes that it still has to
//! receive.
//!
//! Decided here: the order of announcements and messages. An agent is announced before its first message, and its end
//! is announced after its last message. So the changes are read together with the waiting messages, and are written in
//! two parts: one part before the messages, and one after them. Also decided here: a number that became free is not
//! given to another agent soon, because a message to the former agent, such as a vote, may still be on its way.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    mem,
};

use crate::{
    protocol::{AgentId, Incarnation, Leader, Member, Presence, Requirements},
    remote::wire::{LeaderHint, RawReceivers, RosterContent},
};

use super::LocalMembers;

/// The agents of one group in this process, as the other side knows them.
#[derive(Debug, Default)]
pub(crate) struct Announcer {
    /// The requirements that were sent when the group was opened on this link; `None` before the opening.
    requirements: Option<Requirements>,
    known: BTreeMap<AgentId, (u32, Member)>,
    names: BTreeMap<u32, AgentId>,
    /// Numbers that belong to no agent any more, in the order in which they became free.
    free: VecDeque<u32>,
    /// Number of slots that the other side keeps for agents of this group: one for each number below this number.
    places: u32,
    /// Every number below this number was given to an agent on this link at some time.
    given: u32,
    /// Agents that have left, and whose last messages are still to be written.
    leaving: BTreeMap<AgentId, u32>,
    leader: Option<Leader>,
}

/// The agents of this process that receive a message.
#[derive(Debug, Default)]
pub(crate) struct NamedReceivers<'a> {
    is_all: bool,
    /// The receiver, if it is the only one, as for most messages: this needs no list.
    one: Option<&'a AgentId>,
    several: Vec<&'a AgentId>,
    /// Number of receivers that have left since the message was sent.
    pub(crate) gone: usize,
    /// Number of receivers whose numbers never belonged to any agent.
    pub(crate) unknown: usize,
}

impl<'a> NamedReceivers<'a> {
    /// Returns the named agents; `None` means all members of this process.
    pub(crate) fn receivers(&self) -> Option<&[&'a AgentId]> {
        match &self.one {
            _ if self.is_all => None,
            Some(_) => Some(self.one.as_slice()),
            None => Some(&self.several),
        }
    }
}

/// The changes of one group that the other side still has to receive.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct RosterUpdate {
    /// The requirements to send first, if the group is opened, or opened again after a change of its rules or epoch.
    pub(crate) opens: Option<Requirements>,
    /// The part before the waiting messages.
    pub(crate) before: RosterContent,
    /// The part after the waiting messages.
    pub(crate) after: RosterContent,
}

/// A first or repeated opening of a group on this link.
struct RosterOpening {
    requirements: Requirements,
    /// Whether only the epoch is new. Then the agents keep their numbers, except agents that get a lower number to fill
    /// a gap.
    is_renumbered: bool,
}

impl Announcer {
    /// Returns the number under which the other side knows an agent; `None` if it does not know the agent.
    pub(crate) fn number(&self, id: &AgentId) -> Option<u32> {
        let known = self.known.get(id).map(|(number, _)| *number);
        known.or_else(|| self.leaving.get(id).copied())
    }

    /// Returns the number of slots that the other side keeps, including the slots of free numbers.
    pub(crate) fn places(&self) -> usize {
        usize::try_from(self.places).unwrap_or(usize::MAX)
    }

    /// Forgets the agents that have left, once their last messages are written: their numbers belong to no agent now.
    pub(crate) fn forget_left(&mut self) {
        self.leaving.clear();
    }

    /// Returns the agents that the other side names as the receivers of a message.
    pub(crate) fn named(&self, to: RawReceivers<'_>) -> NamedReceivers<'_> {
        let mut named = NamedReceivers::default();
        match to {
            RawReceivers::All => named.is_all = true,
            RawReceivers::One(number) => named.one = self.find(number, &mut named),
            RawReceivers::Several(numbers) => {
                let several = numbers.into_iter();
                let several = several.filter_map(|number| self.find(number, &mut named));
                named.several = several.collect();
            }
        }
        named
    }

    fn find(&self, number: u32, named: &mut NamedReceivers<'_>) -> Option<&AgentId> {
        let id = self.name(number);
        if id.is_none() {
            let was_given = self.was_given(number);
            let count = if was_given {
                &mut named.gone
            } else {
                &mut named.unknown
            };
            *count = count.saturating_add(1);
        }
        id
    }

    /// Returns the agent that has this number at the other side; `None` if no agent has it any more.
    pub(crate) fn name(&self, number: u32) -> Option<&AgentId> {
        self.names.get(&number)
    }

    /// Returns whether a number was ever given to an agent. If so, the other side may still use it, because it may not
    /// have received that agent's end yet.
    pub(crate) fn was_given(&self, number: u32) -> bool {
        number < self.given
    }

    /// Compares the present members with the announced members, and returns the difference, which then counts as
    /// announced. `has_said` returns whether a message of a member's present incarnation waits to be written between
    /// the two parts. `spare` is the number of slots that the other side has for new numbers.
    pub(crate) fn update(
        &mut self,
        local: LocalMembers,
        mut spare: usize,
        has_said: impl Fn(&Member) -> bool,
    ) -> RosterUpdate {
        let mut announcement = RosterUpdate::default();
        let opening = self.open(local.requirements, &local.members);
        let is_anew = opening
            .as_ref()
            .is_some_and(|opening| opening.is_renumbered);
        if is_anew {
            // The numbers must have no gap, so free numbers are used at once. Late messages contain the former epoch.
            spare = 0;
        }
        announcement.opens = opening.map(|opening| opening.requirements);
        let mut gone = mem::take(&mut self.known);
        for member in local.members {
            let was = gone.remove(&member.id);
            if !is_anew && was.as_ref().is_some_and(|(_, known)| *known == member) {
                self.known.extend(was.map(|was| (member.id.clone(), was)));
                continue;
            }
            let number = match &was {
                Some((number, _)) => *number,
                None => self.free_number(&mut spare),
            };
            let is_same = |(_, known): &(u32, Member)| known.incarnation == member.incarnation;
            let is_known = !is_anew && was.as_ref().is_some_and(is_same);
            let is_down = member.presence == Presence::Down;
            // This agent came and ended since the last update. If it has messages, it is first announced as up:
            // otherwise the other side would drop them as messages of an ended incarnation. Without messages only its
            // end is announced.
            let speaks = is_down && !is_known && has_said(&member);
            if speaks {
                announcement
                    .before
                    .members
                    .push((number, before_its_end(&member)));
            }
            // The end of an agent is sent after its messages. Other changes are sent before them, because a message of
            // a sender that was not announced would end the link.
            let part = if is_down && (is_known || speaks) {
                &mut announcement.after
            } else {
                &mut announcement.before
            };
            part.members.push((number, member.clone()));
            self.names.insert(number, member.id.clone());
            self.given = self.given.max(number.saturating_add(1));
            self.known.insert(member.id.clone(), (number, member));
        }
        // The departed agents are handled last, so that no new agent gets the number of an agent whose departure is not
        // announced yet.
        for (id, (number, _)) in gone {
            self.leaving.insert(id, number);
            announcement.after.left.push(number);
            // The other side learns of the end later. Until then its messages to this number are counted as gone.
            self.names.remove(&number);
            self.free.push_back(number);
        }
        if is_anew {
            // The other side takes the numbers in ascending order only.
            announcement
                .before
                .members
                .sort_by_key(|(number, _)| *number);
        }
        // The hint is set after the members, so that a leader that has just joined already has a number.
        announcement.before.leader = self.hint(local.leader);
        announcement
    }

    /// Opens the group, unless the other side has already received requirements like the present ones.
    fn open(&mut self, now: Option<Requirements>, members: &[Member]) -> Option<RosterOpening> {
        let said = self.requirements.take();
        let Some(requirements) = now.filter(|now| !said.as_ref().is_some_and(|s| s.are_like(now)))
        else {
            self.requirements = said;
            return None;
        };
        let is_renumbered = said.is_some_and(|said| said.rules == requirements.rules);
        if is_renumbered {
            self.renumber(members);
        } else {
            // The group follows other rules now: the other side forgets all agents, and the numbers begin at 0 again.
            *self = Self {
                // The other side may still send a late message with a former number, which is not a mistake.
                given: self.given,
                ..Self::default()
            };
        }
        self.requirements = Some(requirements.clone());
        Some(RosterOpening {
            requirements,
            is_renumbered,
        })
    }

    /// Begins another epoch of the same rules. All agents are announced again, and keep their numbers, since messages
    /// with these numbers may be on their way. Numbers must have no gap, so the agents with the highest numbers take
    /// the numbers of agents that have left.
    fn renumber(&mut self, members: &[Member]) {
        let is_there = |id: &AgentId| members.binary_search_by(|member| member.id.cmp(id)).is_ok();
        self.known.retain(|id, _| is_there(id));
        let most = u32::try_from(members.len()).unwrap_or(u32::MAX);
        let taken: BTreeSet<u32> = self.known.values().map(|(number, _)| *number).collect();
        self.free = (0..most).filter(|number| !taken.contains(number)).collect();
        self.places = most;
        self.names.clear();
        for (id, (number, _)) in &mut self.known {
            if *number >= most
                && let Some(free) = self.free.pop_front()
            {
                *number = free;
            }
            self.names.insert(*number, id.clone());
        }
        self.leaving.clear();
        self.leader = None;
    }

    /// Returns a number for a new agent. The number that has been free for longest is used again if many are free, or
    /// if the other side has no slot for a new number.
    fn free_number(&mut self, spare: &mut usize) -> u32 {
        let is_to_reuse = self.free.len() > RESTING || *spare == 0;
        if is_to_reuse && let Some(number) = self.free.pop_front() {
            return number;
        }
        *spare = spare.saturating_sub(1);
        let number = self.places;
        self.places = number.saturating_add(1);
        number
    }

    /// Returns the leader if it has changed: a hint for agents that join later.
    fn hint(&mut self, leader: Option<Leader>) -> Option<LeaderHint> {
        if leader == self.leader {
            return None;
        }
        self.leader.clone_from(&leader);
        let leader = leader?;
        Some(LeaderHint {
            agent: self.number(&leader.id)?,
            incarnation: leader.incarnation,
            term: leader.term,
        })
    }
}

/// Number of free numbers that are kept unused. A number is given again only after this many other agents have left,
/// because a message to its former agent may be on its way. The peer keeps a slot for each of them.
const RESTING: usize = 64;

/// Returns a member that is down, as it was before its end.
fn before_its_end(member: &Member) -> Member {
    let is_earlier = |ended: &Incarnation| Some(*ended) < member.incarnation;
    let first = member.incarnation.unwrap_or_default();
    Member {
        presence: Presence::Up,
        ended: member.ended.filter(is_earlier),
        ends: member.ends.before(first),
        ..member.clone()
    }
}

impl RosterUpdate {
    /// Splits the content into parts that fit into frames: at most `most` members or numbers in each part, and the hint
    /// in the last part.
    pub(crate) fn pieces(content: &RosterContent, most: usize) -> Vec<RosterContent> {
        let most = most.max(1);
        let mut pieces = Vec::new();
        pieces.extend(content.left.chunks(most).map(|left| RosterContent {
            left: left.to_vec(),
            ..RosterContent::default()
        }));
        pieces.extend(content.members.chunks(most).map(|members| RosterContent {
            members: members.to_vec(),
            ..RosterContent::default()
        }));
        if content.leader.is_some() && pieces.is_empty() {
            pieces.push(RosterContent::default());
        }
        // The name of the leader is in the last piece: the earlier pieces have announced that agent.
        if let Some(last) = pieces.last_mut() {
            last.leader = content.leader;
        }
        pieces
    }
}

/// Returns how many new numbers may be used before free numbers are reused, if the other side keeps `most` agents and
/// `used` numbers are in use. Half of its limit is reserved for present agents.
pub(crate) const fn places_to_spare(most: usize, used: usize) -> usize {
    (most / 2).saturating_sub(used)
}

#[cfg(test)]
mod tests;
