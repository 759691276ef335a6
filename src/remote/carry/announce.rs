//! What one link has told the other side of the agents that live here, and what it has to tell.
//!
//! Decided here: the order beside messages. An agent is announced before its first message, and its
//! end is announced after its last one: changes are taken together with the messages that wait, and
//! come in two parts, one before and one after them.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
};

use crate::{
    protocol::{AgentId, Incarnation, Leader, Member, Presence, Requirements},
    remote::wire::{LeaderHint, RawReceivers, RosterContent},
};

use super::LocalMembers;

/// The agents of one group that live here, as the other side knows them.
#[derive(Debug, Default)]
pub(crate) struct Announcer {
    /// What was said when the group was opened on this link.
    requirements: Option<Requirements>,
    known: BTreeMap<AgentId, (u32, Member)>,
    names: BTreeMap<u32, AgentId>,
    free: BTreeSet<u32>,
    /// Every number below was given to an agent on this link.
    given: u32,
    /// The agents that have left, until what they said last is written.
    leaving: BTreeMap<AgentId, u32>,
    leader: Option<Leader>,
}

/// The agents here that a message is for.
#[derive(Debug, Default)]
pub(crate) struct NamedReceivers<'a> {
    is_all: bool,
    /// Most messages are for one: that takes no list.
    one: Option<&'a AgentId>,
    several: Vec<&'a AgentId>,
    /// How many numbers stand for agents that have left meanwhile.
    pub(crate) gone: usize,
    /// How many numbers never stood for any agent.
    pub(crate) unknown: usize,
}

impl<'a> NamedReceivers<'a> {
    /// These; `None`: all members here.
    pub(crate) fn receivers(&self) -> Option<&[&'a AgentId]> {
        match &self.one {
            _ if self.is_all => None,
            Some(_) => Some(self.one.as_slice()),
            None => Some(&self.several),
        }
    }
}

/// What has to be told of one group.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct RosterUpdate {
    /// The group begins anew, by other rules or with other voters.
    pub(crate) opens: Option<Requirements>,
    /// Before the messages that wait.
    pub(crate) before: RosterContent,
    /// After them.
    pub(crate) after: RosterContent,
}

impl Announcer {
    /// The number under which the other side knows an agent.
    pub(crate) fn number(&self, id: &AgentId) -> Option<u32> {
        let known = self.known.get(id).map(|(number, _)| *number);
        known.or_else(|| self.leaving.get(id).copied())
    }

    /// How many agents the other side has numbers for.
    pub(crate) fn agents(&self) -> usize {
        self.known.len().saturating_add(self.leaving.len())
    }

    /// What the agents that have left said last is written: their numbers mean no agent now.
    pub(crate) fn forget_left(&mut self) {
        self.leaving.clear();
    }

    /// The agents that the other side means by the receivers of a message.
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

    /// The agent that the other side means by a number.
    pub(crate) fn name(&self, number: u32) -> Option<&AgentId> {
        self.names.get(&number)
    }

    /// Whether a number that means no agent now once meant one: the other side may not have heard
    /// of the end yet, however late its messages are read.
    pub(crate) fn was_given(&self, number: u32) -> bool {
        number < self.given
    }

    /// Compares what is with what was told; afterwards it counts as told. `has_said` says whether a message
    /// of a member, in its present incarnation, waits to be written between the two parts.
    pub(crate) fn update(
        &mut self,
        local: LocalMembers,
        has_said: impl Fn(&Member) -> bool,
    ) -> RosterUpdate {
        let mut announcement = RosterUpdate::default();
        let is_said = |now: &Requirements| {
            self.requirements
                .as_ref()
                .is_some_and(|said| said.are_like(now))
        };
        if let Some(now) = local.requirements.filter(|now| !is_said(now)) {
            // Other rules: all agents of before are gone, and the numbers begin anew.
            *self = Self {
                requirements: Some(now.clone()),
                // A late message by a former number is still no mistake of the other side.
                given: self.given,
                ..Self::default()
            };
            announcement.opens = Some(now);
        }
        let mut gone = mem::take(&mut self.known);
        for member in local.members {
            let was = gone.remove(&member.id);
            if was.as_ref().is_some_and(|(_, known)| *known == member) {
                self.known.extend(was.map(|was| (member.id.clone(), was)));
                continue;
            }
            let number = match &was {
                Some((number, _)) => *number,
                None => self.free_number(gone.len()),
            };
            let is_known = was.is_some_and(|(_, known)| known.incarnation == member.incarnation);
            let is_down = member.presence == Presence::Down;
            // Of one that came and went since the last look, the messages would be dropped there as those of
            // an ended incarnation. Without messages no member there has to take it for up for a moment.
            let speaks = is_down && !is_known && has_said(&member);
            if speaks {
                announcement
                    .before
                    .members
                    .push((number, before_its_end(&member)));
            }
            // A sender that was not announced ends the link.
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
        // Numbers are free only after this was told.
        for (id, (number, _)) in gone {
            self.leaving.insert(id, number);
            announcement.after.left.push(number);
            // Messages that still name it count as gone: the other side hears of the end later.
            self.names.remove(&number);
            self.free.insert(number);
        }
        // After the members: a leader that has just come has its number by now.
        announcement.before.leader = self.hint(local.leader);
        announcement
    }

    /// The smallest number that no agent has; `others` agents are known beside those listed.
    fn free_number(&mut self, others: usize) -> u32 {
        self.free.pop_first().unwrap_or_else(|| {
            let taken = self.known.len().saturating_add(others);
            u32::try_from(taken).unwrap_or(u32::MAX)
        })
    }

    /// The leader is told when it changes: a hint for agents that come later.
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

/// A member that is down, as it was before.
fn before_its_end(member: &Member) -> Member {
    let is_earlier = |ended: &Incarnation| Some(*ended) < member.incarnation;
    Member {
        presence: Presence::Up,
        ended: member.ended.filter(is_earlier),
        ..member.clone()
    }
}

impl RosterUpdate {
    /// In pieces that fit into frames: so many members and numbers in each, the hint in the last.
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
        // By the last piece every agent is announced, the leader that the hint names among them.
        if let Some(last) = pieces.last_mut() {
            last.leader = content.leader;
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Incarnation, MemberKind, Rules, Term};

    fn up(name: &str, incarnation: u64) -> Member {
        let id = AgentId::new(name).unwrap();
        Member::up(
            id,
            MemberKind::Voter,
            Some(1.into()),
            Incarnation(incarnation),
        )
    }

    fn rules(name: &'static str) -> Requirements {
        Requirements::new(Rules::new(name))
    }

    fn local(members: &[Member]) -> LocalMembers {
        let requirements = Some(rules("available"));
        let members = members.to_vec();
        LocalMembers {
            requirements,
            members,
            leader: None,
        }
    }

    /// Where no message waits.
    fn update(announcer: &mut Announcer, local: LocalMembers) -> RosterUpdate {
        announcer.update(local, |_| false)
    }

    fn down(mut member: Member) -> Member {
        member.presence = Presence::Down;
        member.ended = member.incarnation;
        member
    }

    #[test]
    fn an_agent_that_comes_is_told_before_the_messages_and_one_that_goes_after_them() {
        let mut announcer = Announcer::default();
        let announcement = update(&mut announcer, local(&[up("a", 1), up("b", 1)]));
        assert_eq!(announcement.opens, Some(rules("available")));
        assert_eq!(
            announcement.before.members,
            [(0, up("a", 1)), (1, up("b", 1))]
        );

        let announcement = update(&mut announcer, local(&[down(up("a", 1)), up("c", 1)]));
        assert_eq!(announcement.opens, None);
        assert_eq!(announcement.before.members, [(2, up("c", 1))]);
        assert_eq!(announcement.after.members, [(0, down(up("a", 1)))]);
        assert_eq!(announcement.after.left, [1]);
        let names = [0, 1, 2].map(|number| announcer.name(number).is_some());
        assert_eq!(names, [true, false, true]);
        let given = [0, 1, 2, 3].map(|number| announcer.was_given(number));
        assert_eq!(given, [true, true, true, false]);

        let announcement = update(&mut announcer, local(&[up("a", 2), up("c", 1), up("d", 1)]));
        let again = [(0, up("a", 2)), (1, up("d", 1))];
        assert_eq!(
            announcement.before.members, again,
            "a free number is given again"
        );
        assert_eq!(announcement.after, RosterContent::default());
        assert_eq!(
            update(&mut announcer, local(&[up("a", 2), up("c", 1), up("d", 1)])),
            RosterUpdate::default()
        );
    }

    #[test]
    fn numbers_stay_dense_and_belong_to_one_agent() {
        let mut announcer = Announcer::default();
        let mut rng = fastrand::Rng::with_seed(7);
        for _ in 0..300 {
            let here: Vec<_> = (0..20u32).filter(|_| rng.bool()).collect();
            let members: Vec<_> = here.iter().map(|k| up(&format!("n{k:02}"), 1)).collect();
            update(&mut announcer, local(&members));
            let numbers: BTreeSet<_> = announcer.known.values().map(|(n, _)| *n).collect();
            assert_eq!(numbers.len(), here.len());
            assert!(numbers.iter().all(|number| *number < 40));
        }
    }

    #[test]
    fn other_rules_begin_a_group_anew() {
        let mut announcer = Announcer::default();
        assert_eq!(
            update(&mut announcer, LocalMembers::default()),
            RosterUpdate::default(),
            "no agent, no rules"
        );
        update(&mut announcer, local(&[up("a", 1), up("b", 1)]));
        let requirements = Some(rules("quorum"));
        let members = vec![up("b", 2)];
        let announcement = update(
            &mut announcer,
            LocalMembers {
                requirements: requirements.clone(),
                members,
                leader: None,
            },
        );
        assert_eq!(announcement.opens, requirements);
        assert_eq!(announcement.before.members, [(0, up("b", 2))]);
        assert!(announcement.after.left.is_empty());
        let given = [0, 1, 2].map(|number| announcer.was_given(number));
        assert_eq!(
            given,
            [true, true, false],
            "messages to them may be under way"
        );
    }

    #[test]
    fn an_agent_that_has_left_keeps_its_number_until_its_last_messages_are_written() {
        let mut announcer = Announcer::default();
        update(&mut announcer, local(&[up("a", 1), up("b", 1)]));
        update(&mut announcer, local(&[up("b", 1)]));
        let a = AgentId::new("a").unwrap();
        assert_eq!((announcer.number(&a), announcer.name(0)), (Some(0), None));
        announcer.forget_left();
        assert_eq!(announcer.number(&a), None);
    }

    #[test]
    fn a_long_roster_is_told_in_pieces_and_nothing_of_it_is_left_out() {
        let members = |from: u32, to: u32| {
            let named = (from..to).map(|k| (k, up(&format!("n{k}"), 1)));
            RosterContent {
                members: named.collect(),
                ..RosterContent::default()
            }
        };
        let left = |left: &[u32]| RosterContent {
            left: left.to_vec(),
            ..RosterContent::default()
        };
        let content = RosterContent {
            left: vec![7, 8, 9],
            ..members(0, 3)
        };
        let pieces = [left(&[7, 8]), left(&[9]), members(0, 2), members(2, 3)];
        assert_eq!(RosterUpdate::pieces(&content, 2), pieces);
        assert_eq!(RosterUpdate::pieces(&RosterContent::default(), 2), []);
        let leader = Some(LeaderHint {
            agent: 1,
            incarnation: Incarnation(1),
            term: Term(4),
        });
        let hint = RosterContent {
            leader,
            ..RosterContent::default()
        };
        assert_eq!(RosterUpdate::pieces(&hint, 2), [hint]);
    }

    #[test]
    fn the_leader_is_a_hint_that_is_told_once() {
        let mut announcer = Announcer::default();
        let leader = || {
            let id = AgentId::new("b").unwrap();
            let (incarnation, term) = (Incarnation(1), Term(4));
            Some(Leader {
                id,
                incarnation,
                term,
            })
        };
        let with = |leader| LocalMembers {
            leader,
            ..local(&[up("a", 1), up("b", 1)])
        };
        let announcement = update(&mut announcer, with(leader()));
        let hint = announcement.before.leader.unwrap();
        assert_eq!((hint.agent, hint.term), (1, Term(4)));
        assert_eq!(update(&mut announcer, with(leader())).before.leader, None);
        let pieces = RosterUpdate::pieces(&announcement.before, 1);
        assert_eq!(pieces.len(), 2);
        assert!(pieces[0].leader.is_none() && pieces[1].leader.is_some());
    }

    #[test]
    fn an_agent_that_came_and_went_is_told_as_ended_after_its_messages() {
        let mut announcer = Announcer::default();
        let says = |member: &Member| member.id.as_str() != "c";
        update(&mut announcer, local(&[up("a", 1)]));
        // Since then `a` was restarted and crashed, and `b` and `c` came and crashed; `c` said nothing.
        let now = [up("a", 2), up("b", 1), up("c", 1)].map(down);
        let announcement = announcer.update(local(&now), says);
        let before = [(0, up("a", 2)), (1, up("b", 1)), (2, down(up("c", 1)))];
        assert_eq!(announcement.before.members, before);
        let after = [(0, down(up("a", 2))), (1, down(up("b", 1)))];
        assert_eq!(announcement.after.members, after);
    }
}
