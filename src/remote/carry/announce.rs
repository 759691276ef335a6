//! What one link has told the other side of the agents that live here, and what it has to tell.
//!
//! Decided here: the order beside letters. An agent is announced before its first letter, and its
//! end is announced after its last one: changes are taken together with the letters that wait, and
//! come in two parts, one before and one after them.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
};

use crate::{
    protocol::{AgentId, Leader, Member, Presence, Requirements},
    remote::wire::{LeaderHint, RosterContent},
};

use super::Home;

/// The agents of one group that live here, as the other side knows them.
#[derive(Debug, Default)]
pub(crate) struct Announcer {
    /// What was said when the group was opened on this link.
    requirements: Option<Requirements>,
    known: BTreeMap<AgentId, (u32, Member)>,
    names: BTreeMap<u32, AgentId>,
    free: BTreeSet<u32>,
    /// Every number below was given to somebody on this link.
    given: u32,
    /// Who has left, until what they said last is written.
    leaving: BTreeMap<AgentId, u32>,
    leader: Option<Leader>,
}

/// What has to be told of one group.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct News {
    /// The group begins anew, by other rules or with other voters.
    pub(crate) opens: Option<Requirements>,
    /// Before the letters that wait.
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

    /// What the agents that have left said last is written: their numbers mean nobody now.
    pub(crate) fn forget_left(&mut self) {
        self.leaving.clear();
    }

    /// Whom the other side means by a number.
    pub(crate) fn name(&self, number: u32) -> Option<&AgentId> {
        self.names.get(&number)
    }

    /// Whether a number that means nobody now once meant somebody: the other side may not have heard
    /// of the end yet, however late its messages are read.
    pub(crate) fn was_given(&self, number: u32) -> bool {
        number < self.given
    }

    /// Compares what is with what was told; afterwards it counts as told.
    pub(crate) fn update(&mut self, home: Home) -> News {
        let mut news = News::default();
        let is_said = |now: &Requirements| {
            self.requirements
                .as_ref()
                .is_some_and(|said| said.are_like(now))
        };
        if let Some(now) = home.requirements.filter(|now| !is_said(now)) {
            // Other rules: whoever was here before is gone, and the numbers begin anew.
            *self = Self {
                requirements: Some(now.clone()),
                given: self.given,
                ..Self::default()
            };
            news.opens = Some(now);
        }
        let mut gone = mem::take(&mut self.known);
        for member in home.members {
            let was = gone.remove(&member.id);
            if was.as_ref().is_some_and(|(_, known)| *known == member) {
                self.known.extend(was.map(|was| (member.id.clone(), was)));
                continue;
            }
            let number = match &was {
                Some((number, _)) => *number,
                None => self.free_number(gone.len()),
            };
            let ends = member.presence == Presence::Down
                && was.is_some_and(|(_, known)| known.incarnation == member.incarnation);
            let part = if ends {
                &mut news.after
            } else {
                &mut news.before
            };
            part.members.push((number, member.clone()));
            self.names.insert(number, member.id.clone());
            self.given = self.given.max(number.saturating_add(1));
            self.known.insert(member.id.clone(), (number, member));
        }
        // Numbers are free only after this was told.
        for (id, (number, _)) in gone {
            self.leaving.insert(id, number);
            news.after.left.push(number);
            self.names.remove(&number);
            self.free.insert(number);
        }
        news.before.leader = self.hint(home.leader);
        news
    }

    /// The smallest number that nobody has; `others` agents are known beside those listed.
    fn free_number(&mut self, others: usize) -> u32 {
        self.free.pop_first().unwrap_or_else(|| {
            let taken = self.known.len().saturating_add(others);
            u32::try_from(taken).unwrap_or(u32::MAX)
        })
    }

    /// Who leads is told when it changes: a hint for those who come later.
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

impl News {
    /// In pieces that fit into frames: so many members and numbers in each, the hint in the last.
    pub(crate) fn pieces(content: &RosterContent, most: usize) -> Vec<RosterContent> {
        let most = most.max(1);
        let mut pieces = Vec::new();
        for left in content.left.chunks(most) {
            let left = left.to_vec();
            pieces.push(RosterContent {
                left,
                ..RosterContent::default()
            });
        }
        for members in content.members.chunks(most) {
            let members = members.to_vec();
            pieces.push(RosterContent {
                members,
                ..RosterContent::default()
            });
        }
        if content.leader.is_some() && pieces.is_empty() {
            pieces.push(RosterContent::default());
        }
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

    fn up(name: &str, life: u64) -> Member {
        let id = AgentId::new(name).unwrap();
        Member::up(id, MemberKind::Voter, Some(1.into()), Incarnation(life))
    }

    fn rules(name: &'static str) -> Requirements {
        Requirements::new(Rules::new(name))
    }

    fn home(members: &[Member]) -> Home {
        let requirements = Some(rules("available"));
        let members = members.to_vec();
        Home {
            requirements,
            members,
            leader: None,
        }
    }

    fn down(mut member: Member) -> Member {
        member.presence = Presence::Down;
        member.ended = member.incarnation;
        member
    }

    #[test]
    fn who_comes_is_told_before_the_letters_and_who_goes_after_them() {
        let mut announcer = Announcer::default();
        let news = announcer.update(home(&[up("a", 1), up("b", 1)]));
        assert_eq!(news.opens, Some(rules("available")));
        assert_eq!(news.before.members, [(0, up("a", 1)), (1, up("b", 1))]);

        let news = announcer.update(home(&[down(up("a", 1)), up("c", 1)]));
        assert_eq!(news.opens, None);
        assert_eq!(news.before.members, [(2, up("c", 1))]);
        assert_eq!(news.after.members, [(0, down(up("a", 1)))]);
        assert_eq!(news.after.left, [1]);
        let names = [0, 1, 2].map(|number| announcer.name(number).is_some());
        assert_eq!(names, [true, false, true]);
        let given = [0, 1, 2, 3].map(|number| announcer.was_given(number));
        assert_eq!(given, [true, true, true, false]);

        let news = announcer.update(home(&[up("a", 2), up("c", 1), up("d", 1)]));
        let again = [(0, up("a", 2)), (1, up("d", 1))];
        assert_eq!(news.before.members, again, "a free number is given again");
        assert_eq!(news.after, RosterContent::default());
        assert_eq!(
            announcer.update(home(&[up("a", 2), up("c", 1), up("d", 1)])),
            News::default()
        );
    }

    #[test]
    fn numbers_stay_dense_and_belong_to_one() {
        let mut announcer = Announcer::default();
        let mut rng = fastrand::Rng::with_seed(7);
        for _ in 0..300 {
            let here: Vec<_> = (0..20u32).filter(|_| rng.bool()).collect();
            let members: Vec<_> = here.iter().map(|k| up(&format!("n{k:02}"), 1)).collect();
            announcer.update(home(&members));
            let numbers: BTreeSet<_> = announcer.known.values().map(|(n, _)| *n).collect();
            assert_eq!(numbers.len(), here.len());
            assert!(numbers.iter().all(|number| *number < 40));
        }
    }

    #[test]
    fn other_rules_begin_a_group_anew() {
        let mut announcer = Announcer::default();
        assert_eq!(
            announcer.update(Home::default()),
            News::default(),
            "nobody, no rules"
        );
        announcer.update(home(&[up("a", 1), up("b", 1)]));
        let requirements = Some(rules("quorum"));
        let members = vec![up("b", 2)];
        let news = announcer.update(Home {
            requirements: requirements.clone(),
            members,
            leader: None,
        });
        assert_eq!(news.opens, requirements);
        assert_eq!(news.before.members, [(0, up("b", 2))]);
        assert!(news.after.left.is_empty());
        let given = [0, 1, 2].map(|number| announcer.was_given(number));
        assert_eq!(
            given,
            [true, true, false],
            "messages to them may be under way"
        );
    }

    #[test]
    fn who_has_left_keeps_its_number_until_its_last_messages_are_written() {
        let mut announcer = Announcer::default();
        announcer.update(home(&[up("a", 1), up("b", 1)]));
        announcer.update(home(&[up("b", 1)]));
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
        assert_eq!(News::pieces(&content, 2), pieces);
        assert_eq!(News::pieces(&RosterContent::default(), 2), []);
        let leader = Some(LeaderHint {
            agent: 1,
            incarnation: Incarnation(1),
            term: Term(4),
        });
        let hint = RosterContent {
            leader,
            ..RosterContent::default()
        };
        assert_eq!(News::pieces(&hint, 2), [hint]);
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
        let with = |leader| Home {
            leader,
            ..home(&[up("a", 1), up("b", 1)])
        };
        let news = announcer.update(with(leader()));
        let hint = news.before.leader.unwrap();
        assert_eq!((hint.agent, hint.term), (1, Term(4)));
        assert_eq!(announcer.update(with(leader())).before.leader, None);
        let pieces = News::pieces(&news.before, 1);
        assert_eq!(pieces.len(), 2);
        assert!(pieces[0].leader.is_none() && pieces[1].leader.is_some());
    }
}
