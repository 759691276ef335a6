//! The knowledge of a participant about itself and about the other members.
//!
//! Decided here: how ranks compare, which agents can be elected at all, and which agent can take over from a leader
//! that steps down. Not here: whether an agent asks for the leadership at a given moment; that is a rule of each
//! election.

use std::sync::Arc;

use tracing::debug;

use crate::protocol::{
    About, AgentId, Birth, Identity, Incarnation, Leader, LeaderEnd, Member, MemberKind, Members,
    Role, Score, Term,
};

use super::{Untracked, slot};

/// One agent among the members of its group, in one incarnation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Participant {
    /// The name of the agent.
    pub id: AgentId,
    /// The incarnation: the number of this start of the agent.
    pub incarnation: Incarnation,
    /// Voter or observer.
    pub kind: MemberKind,
    /// The score of the agent; `None` while the agent cannot be elected.
    pub score: Option<Score>,
    /// How this incarnation began.
    pub birth: Birth,
    /// The newest snapshot of the members. The snapshot is a hint that saves messages; only the ended incarnations in
    /// it are facts.
    pub members: Arc<Members>,
    /// The last leadership whose end this agent noticed.
    last_end: Untracked<Option<Box<(Leader, LeaderEnd)>>>,
}

impl Participant {
    /// Returns a participant that does not know any member yet.
    pub fn new(identity: Identity) -> Self {
        let Identity {
            id,
            incarnation,
            kind,
            score,
            birth,
            store: _, // because only one election needs the store
        } = identity;
        Self {
            id,
            incarnation,
            kind,
            score,
            birth,
            members: Arc::default(),
            last_end: Untracked::default(),
        }
    }

    /// Returns the identity from which a participant like this participant can be made.
    #[cfg(any(test, feature = "testkit"))]
    pub fn identity(&self) -> Identity {
        Identity {
            id: self.id.clone(),
            incarnation: self.incarnation,
            kind: self.kind,
            score: self.score,
            birth: self.birth,
            store: Some(crate::protocol::StoreId::new(1)), // as in every fixture
        }
    }

    /// Returns the text that this agent publishes about itself, as the group's list of members has it.
    pub fn about(&self) -> Option<&About> {
        self.members.get(&self.id)?.about_in(self.incarnation)
    }

    /// Returns whether this agent votes.
    pub fn is_voter(&self) -> bool {
        self.kind == MemberKind::Voter
    }

    /// Returns the score of this agent if it is eligible: it is a voter with a score. A machine may have further
    /// conditions: `may_lead` (a higher term exists) and `competes` (the agent does not cool down).
    pub fn eligible(&self) -> Option<Score> {
        self.score.filter(|_| self.is_voter())
    }

    /// Returns whether the voters that know a later process of this agent's name outnumber the other voters that are
    /// up.
    pub fn is_disowned(&self) -> bool {
        self.members.is_disowned(&self.id)
    }

    /// Returns whether this agent can be elected and ranks above an agent with this score and name.
    pub fn outranks(&self, score: Score, id: &AgentId) -> bool {
        // The name decides between equal scores, so that any two agents agree which of them ranks higher.
        self.eligible()
            .is_some_and(|own| (own, &self.id) > (score, id))
    }

    /// Returns the agent's slot when the leadership is vacant; the first slot is 0. `None` if the agent cannot be
    /// elected. `gone` is an agent that the snapshot shows as up although its end is known.
    pub fn slot(&self, gone: Option<&AgentId>, cools_down: bool) -> Option<usize> {
        let ahead = self.ahead(gone, slot::LAST)?;
        Some(slot::behind(ahead, cools_down))
    }

    /// Returns the number of members that are up and rank above this agent, counted up to `limit`; `None` if this agent
    /// cannot be elected.
    pub fn ahead(&self, gone: Option<&AgentId>, limit: usize) -> Option<usize> {
        let score = self.eligible()?;
        Some(self.members.ahead_of(score, &self.id, gone, limit))
    }

    /// Returns whether the agent `id` is a member that votes.
    pub fn is_voter_named(&self, id: &AgentId) -> bool {
        self.members.get(id).is_some_and(Member::is_voter)
    }

    /// Returns whether the agent `id` is a member that is up, as far as is known.
    pub fn is_up(&self, id: &AgentId) -> bool {
        self.members.get(id).is_some_and(Member::is_up)
    }

    /// Returns whether the incarnation that led has ended, is suspected to have ended, or is not a member any more.
    pub fn is_gone(&self, leader: &Leader) -> bool {
        self.members
            .get(&leader.id)
            .is_none_or(|member| member.is_gone(leader.incarnation))
    }

    /// Notes how this agent noticed the end of a leadership. If the leader itself has reported the end, no later notice
    /// replaces its report.
    pub fn note_end(&mut self, leader: &Leader, end: LeaderEnd) {
        let known = self.last_end.0.as_deref();
        if known.is_none_or(|(last, said)| last != leader || *said != LeaderEnd::Resigned) {
            self.last_end = Untracked(Some(Box::new((leader.clone(), end))));
        }
    }

    /// Returns the last leadership whose end this agent noticed, and how it noticed the end.
    pub fn last_end(&self) -> Option<(&Leader, LeaderEnd)> {
        let known = self.last_end.0.as_deref();
        known.map(|(leader, end)| (leader, *end))
    }

    /// Returns whether the end of the leader's incarnation was reported, and is not only suspected.
    pub fn has_ended(&self, leader: &Leader) -> bool {
        let member = self.members.get(&leader.id);
        member.is_some_and(|member| member.is_stale(leader.incarnation))
    }

    /// Returns the agent to which the leadership should go: the wanted agent if it is up and can be elected,
    /// otherwise the highest-ranked agent that is up.
    pub fn successor(&self, wanted: Option<AgentId>) -> Option<AgentId> {
        wanted.filter(|id| self.can_succeed(id)).or_else(|| {
            let mut others = self.members.eligible();
            others
                .find(|member| member.id != self.id)
                .map(|member| member.id.clone())
        })
    }

    /// Returns whether the agent `id` is another member that is up and can be elected.
    pub fn can_succeed(&self, id: &AgentId) -> bool {
        let can_lead =
            |member: &Member| member.is_up() && member.is_voter() && member.score.is_some();
        *id != self.id && self.members.get(id).is_some_and(can_lead)
    }

    /// Returns this agent as the leader of a term.
    pub fn as_leader(&self, term: Term) -> Leader {
        Leader {
            id: self.id.clone(),
            incarnation: self.incarnation,
            term,
        }
    }

    /// Traces that an input changes nothing, with the reason.
    pub fn ignore(&self, role: Role, reason: &'static str) {
        debug!(target: "actix_bully", node = %self.id, %role, reason, "input ignored");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> AgentId {
        AgentId::new(name).unwrap()
    }

    fn up(name: &str, kind: MemberKind, score: Option<i32>) -> Member {
        Member::up(id(name), kind, score.map(Into::into), Incarnation(3))
    }

    /// Returns the voter `c` of score 3 in its group.
    fn participant() -> Participant {
        let mut members = Members::new(true);
        members.join([
            up("a", MemberKind::Voter, Some(1)),
            up("b", MemberKind::Voter, Some(2)),
            up("c", MemberKind::Voter, Some(3)),
            up("d", MemberKind::Voter, None),
            up("e", MemberKind::Observer, Some(5)),
        ]);
        let identity = Identity {
            id: id("c"),
            incarnation: Incarnation(3),
            kind: MemberKind::Voter,
            score: Some(3.into()),
            birth: Birth::Started,
            store: None,
        };
        Participant {
            members: Arc::new(members),
            ..Participant::new(identity)
        }
    }

    #[test]
    fn rank_is_the_score_and_then_the_name() {
        let me = participant();
        assert!(me.outranks(2.into(), &id("z")) && me.outranks(3.into(), &id("b")));
        assert!(!me.outranks(3.into(), &id("c")) && !me.outranks(3.into(), &id("d")));
        let mut observer = participant();
        observer.kind = MemberKind::Observer;
        assert!(!observer.outranks(1.into(), &id("a")) && observer.eligible().is_none());
        let mut ineligible = participant();
        ineligible.score = None;
        assert!(!ineligible.outranks(1.into(), &id("a")) && ineligible.eligible().is_none());
    }

    #[test]
    fn a_leaders_own_report_of_its_end_stays_until_another_leader_ends() {
        let mut me = participant();
        let leader = |name| Leader {
            id: id(name),
            incarnation: Incarnation(3),
            term: Term(1),
        };
        for (name, end, noted) in [
            ("a", LeaderEnd::Ended, LeaderEnd::Ended),
            ("a", LeaderEnd::Resigned, LeaderEnd::Resigned),
            ("a", LeaderEnd::Ended, LeaderEnd::Resigned),
            ("b", LeaderEnd::Replaced, LeaderEnd::Replaced),
        ] {
            me.note_end(&leader(name), end);
            assert_eq!(me.last_end(), Some((&leader(name), noted)));
        }
    }

    #[test]
    fn the_highest_in_rank_that_is_there_has_the_first_slot() {
        let mut me = participant();
        assert_eq!(
            (me.slot(None, false), me.slot(None, true)),
            (Some(0), Some(8))
        );
        me.score = Some(0.into());
        assert_eq!(me.slot(None, false), Some(2));
        assert_eq!(me.slot(Some(&id("b")), false), Some(1));
        me.score = None;
        assert_eq!(me.slot(None, false), None);
    }

    #[test]
    fn a_leader_that_is_no_member_or_has_a_later_incarnation_is_gone() {
        let me = participant();
        let led = |name: &str, incarnation| Leader {
            id: id(name),
            incarnation: Incarnation(incarnation),
            term: Term(1),
        };
        let gone = [led("a", 3), led("a", 2), led("x", 3)].map(|leader| me.is_gone(&leader));
        assert_eq!(gone, [false, true, true]);
        assert!(me.is_up(&id("a")) && !me.is_up(&id("x")));
        assert!(me.is_voter_named(&id("d")) && !me.is_voter_named(&id("e")));
    }

    #[test]
    fn the_leadership_goes_to_the_wanted_agent_if_that_can_lead() {
        let me = participant();
        let to = |wanted: Option<&str>| me.successor(wanted.map(id)).unwrap();
        assert_eq!(to(Some("a")), id("a"));
        for other in [None, Some("c"), Some("d"), Some("e"), Some("x")] {
            assert_eq!(to(other), id("b"), "{other:?}");
        }
        let mut alone = participant();
        alone.members = Arc::default();
        assert_eq!(alone.successor(Some(id("a"))), None);
    }
}
