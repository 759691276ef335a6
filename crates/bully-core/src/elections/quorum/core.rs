//! The data that all roles share: this agent, the other voters and their ranks, the voter's promises and record, the
//! cool-down, and the memory of former leaders.
//!
//! Decided here: the slot of an agent (rule `slot-by-rank`), and the time in which it may not campaign.
//!
//! Not here: the roles. The core calls no role.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    sync::Arc,
    time::Duration,
};

use super::{
    Ack, Nack, Out, QuorumConfig, QuorumMessage, SenderIncarnation,
    candidate::Claiming,
    diskless::ClocksApart,
    flapping::Flapping,
    pace::RoundPace,
    slow::Writes,
    state::{Certainty, Predecessor},
    voter::Voter,
};
use crate::protocol::{
    AgentId, Incarnation, Leader, Member, Members, Presence, Role, Round, Score, StoreId, Term,
    Time, To, VoterChange,
};
use crate::{
    elections::{
        message::{Candidate, Enlist, Micros},
        policy::Preemption,
    },
    parts::{Participant, slot},
};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Core {
    pub(super) me: Participant,
    pub(super) config: Arc<QuorumConfig>,
    pub(super) peers: Arc<[AgentId]>,
    pub(super) voter: Voter,
    pub(super) cooldown: CooldownEnds,
    /// The agents to which this agent has objected since it last knew a leader.
    pub(super) objected: BTreeSet<AgentId>,
    /// The scores that voters reported last, which are newer than the scores in the snapshot of the members.
    pub(super) scores: BTreeMap<AgentId, Option<Score>>,
    pub(super) flapping: Flapping,
    pub(super) pace: RoundPace,
    /// The last writes of this agent's record, if a write took longer than a round.
    pub(super) writes: Option<Box<Writes>>,
    /// The last claim, if its time passed without a refusal. Votes for this claim may still come.
    pub(super) open_claim: Option<Box<Claiming>>,
    /// Time when this observer last heard a leader.
    pub(super) observed: Time,
    /// Number of rounds of questions in this incarnation so far.
    pub(super) rounds: u64,
    /// The store that keeps this agent's votes; `None` without a disk.
    pub(super) store: Option<StoreId>,
    /// Whether this agent has a store, so that it may vote as soon as it is in the list of voters.
    pub(super) has_store: bool,
    /// Whether this agent is or was in a list of voters. Other agents ignore a list that comes from an agent that never
    /// was a voter, and bridges close the link to such an agent.
    pub(super) was_listed: bool,
    /// Whether the record contains other voters than the configuration, and no event has reported that yet.
    pub(super) overrules: bool,
    /// The change of the voters that this agent was asked to make; `None` after the answer.
    pub(super) asked: Option<Box<VoterChange>>,
    /// Without disks: the voters whose clocks differ too much from this agent's clock.
    pub(super) apart: Option<Box<ClocksApart>>,
}

/// The times of the cool-down after this agent stepped down. A cool-down needs no timer: each rule compares these times
/// with the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct CooldownEnds {
    /// Time before which the agent does not campaign, because its successor has not announced itself yet.
    pub(super) campaign: Time,
    /// Time until which the agent does not compete and does not ask a leader to hand over.
    pub(super) yields: Time,
    /// The cool-down after the next step-down lasts at least for this time.
    pub(super) least: Duration,
}

impl Core {
    pub(super) fn new(me: Participant, config: &Arc<QuorumConfig>, voter: Voter) -> Self {
        let peers = config.voters.iter().filter(|id| **id != me.id);
        Self {
            peers: peers.cloned().collect(),
            me,
            config: Arc::clone(config),
            voter,
            cooldown: CooldownEnds::default(),
            objected: BTreeSet::new(),
            scores: BTreeMap::new(),
            flapping: Flapping::default(),
            pace: RoundPace::default(),
            writes: None,
            open_claim: None,
            observed: Time::ZERO,
            rounds: 0,
            store: None,
            has_store: false,
            was_listed: false,
            overrules: false,
            asked: None,
            apart: None,
        }
    }

    /// Begins the incarnation. Returns the time in which this agent does not campaign.
    pub(super) fn start(&mut self, now: Time, members: Arc<Members>, out: &mut Out) -> Duration {
        self.me.members = members;
        let first = self.config.first_term();
        if self.me.is_voter() && self.voter.record.term < first {
            // The first term is written now, so that an agent with an earlier configured epoch refuses this record.
            self.voter.write(&self.config, now, first, None, out);
        }
        let mut quarantine = self.voter.begin(&self.config, now);
        if self.me.is_voter() {
            let abstains = !quarantine.is_zero();
            let asked = self.has_memory().then_some(&self.peers);
            let members = &self.me.members;
            let is_there = |id: &AgentId| members.get(id).is_some_and(Member::is_up);
            let peers = asked.into_iter().flat_map(|peers| peers.iter());
            let peers = peers.map(|id| (id.clone(), is_there(id)));
            self.voter.memory.begin(&self.config, now, abstains, peers);
        }
        if self.me.is_voter() && self.config.diskless().is_some() {
            quarantine = self.voter.forget(&self.config, now, out);
        }
        let leader = self.me.members.leader();
        if leader.is_some_and(|leader| leader.id != self.me.id) {
            quarantine.max(self.config.timings.promise()) // a leader's heartbeat arrives before that
        } else {
            quarantine
        }
    }

    /// Returns whether peers can recognize this voter's store. A store that an application implements may have no id.
    pub(super) fn has_memory(&self) -> bool {
        self.me.is_voter() && self.store.is_some()
    }

    pub(super) fn send_to_voters(&self, message: impl Into<QuorumMessage>, out: &mut Out) {
        if !self.peers.is_empty() {
            out.send_to(To::Set(Arc::clone(&self.peers)), message);
        }
    }

    pub(super) fn next_round(&mut self) -> Round {
        self.rounds = self.rounds.saturating_add(1);
        Round {
            incarnation: self.me.incarnation,
            counter: self.rounds,
        }
    }

    pub(super) fn myself(&self) -> SenderIncarnation<'_> {
        (&self.me.id, self.me.incarnation)
    }

    pub(super) fn vote_for_myself(&mut self, now: Time, term: Term, out: &mut Out) {
        let voted_for = Some(Candidate::new(&self.me.id, self.me.incarnation));
        self.voter.memory.excuse(&self.config, term);
        self.voter.write(&self.config, now, term, voted_for, out);
    }

    /// Returns whether this incarnation has voted for itself in this term, and in no later term.
    pub(super) fn has_voted_for_itself(&self, term: Term) -> bool {
        let voted_for = self.voter.record.voted_for.as_ref();
        self.voter.record.term == term && voted_for.is_some_and(|voted| self.is_candidate(voted))
    }

    /// Acknowledges a leader. The promise is written first. Otherwise, after a crash, the acknowledgement could still
    /// arrive and extend the leader's lease, although this voter's next incarnation does not know the promise.
    pub(super) fn acknowledge(&mut self, now: Time, leader: &Leader, echo: Time, out: &mut Out) {
        if !self.binds() {
            self.voter.stop_telling(&self.config, now, out);
            return self.enlist(leader, out);
        }
        if !self.voter.memory.awaits(now).is_zero() {
            return; // the next heartbeat is acknowledged
        }
        self.voter.write_promise(&self.config, now, out);
        out.send(
            &leader.id,
            Ack {
                term: leader.term,
                echo,
                // In its cool-down the agent reports no score, so that the leader does not choose it as the successor.
                score: self.me.score.filter(|_| !self.is_cooling_down(now)),
                slow: self.is_slow(),
                // The promise is rounded down: a leader must not rely on a longer promise than this voter keeps.
                promise: Micros::at_most(self.config.timings.promise()),
                incarnation: leader.incarnation,
            },
        );
    }

    /// Answers a message of the term `of`: this voter knows the higher term `term`, or another leader of `of`.
    pub(super) fn refuse(
        (to, incarnation): SenderIncarnation<'_>,
        of: Term,
        term: Term,
        out: &mut Out,
    ) {
        let nack = Nack {
            term,
            of,
            incarnation,
        };
        out.send(to, nack);
    }

    /// Reports to the followed leader that this agent could vote, if it is not in the list of voters (rule
    /// `enlist-before-vote`).
    fn enlist(&self, leader: &Leader, out: &mut Out) {
        if self.has_store && !self.me.is_voter() && self.config.diskless().is_none() {
            out.send(&leader.id, Enlist { term: leader.term });
        }
    }

    /// Returns whether this agent may promise its support to a leader: it is a voter, and it does not recover its
    /// memory.
    pub(super) fn binds(&self) -> bool {
        self.me.is_voter() && self.voter.recovery.is_none()
    }

    // ---- scores and slots -------------------------------------------------------------------

    /// Stores the score that a member reported for itself. Reported scores decide the order of the slots (`precedes`)
    /// and the leader's choice of a successor. No vote and no lease depends on them, so a wrong score only costs time.
    pub(super) fn learn_score(&mut self, id: &AgentId, score: Option<Score>) {
        match self.scores.get_mut(id) {
            Some(known) => *known = score,
            None => drop(self.scores.insert(id.clone(), score)),
        }
    }

    pub(super) fn score_of(&self, id: &AgentId) -> Option<Score> {
        match self.scores.get(id) {
            Some(score) => *score,
            None => self.me.members.get(id).and_then(|member| member.score),
        }
    }

    /// Returns whether `one` outranks `than` by more than the margin. Without a margin any difference is enough.
    pub(super) fn is_better(&self, one: (Score, &AgentId), than: (Score, &AgentId)) -> bool {
        let margin = self.config.margin;
        one > than && margin.is_none_or(|margin| one.0.exceeds(than.0, margin))
    }

    /// Returns whether this voter may be up, outranks this agent by its last known score, and is not the former leader
    /// `before`. `own` is this agent's score.
    pub(super) fn precedes(&self, own: Score, id: &AgentId, before: Option<&Predecessor>) -> bool {
        let Some(theirs) = self.score_of(id) else {
            return false;
        };
        let may_be_up = || {
            let member = self.me.members.get(id);
            member.is_none_or(|member| member.presence != Presence::Down)
        };
        (theirs, id) > (own, &self.me.id)
            && before.is_none_or(|before| before.id != *id)
            && may_be_up()
    }

    /// Returns the delay of this agent's slot, and the jitter between agents with equal delays (rule `slot-by-rank`).
    pub(super) fn slot(&self, now: Time, before: Option<&Predecessor>) -> (Duration, Duration) {
        let timings = &self.config.timings;
        let (step, jitter) = match before.map(|before| before.certainty) {
            // All agents learn of a confirmed end at about the same time, so a slot may follow the slot before it after
            // one message delay.
            Some(Certainty::Confirmed) => (timings.delay_bound(), timings.delay_bound()),
            Some(Certainty::Suspected) | None => (timings.step(), timings.jitter()),
        };
        let first = self.me.score.map_or(0, |own| {
            let peers = self.peers.iter();
            let first = peers.filter(|id| self.precedes(own, id, before)).count();
            // An agent in its cool-down still has a slot, because it may be the only agent left.
            let back = if self.is_cooling_down(now) {
                slot::LAST
            } else {
                0
            };
            // The slot of a slow voter comes after the slots of all other voters (rule `slow-waits`).
            let slow = if self.is_slow() {
                self.config.voters.len()
            } else {
                0
            };
            first.saturating_add(back).saturating_add(slow)
        });
        let first = u32::try_from(first).unwrap_or(u32::MAX);
        (step.saturating_mul(first), jitter)
    }

    pub(super) fn must_wait(&self, now: Time) -> Duration {
        let blocked = self.voter.blocked(&self.config, now, self.myself(), None);
        self.cooldown.campaign.since(now).max(blocked)
    }

    pub(super) fn is_cooling_down(&self, now: Time) -> bool {
        now < self.cooldown.yields
    }

    // ---- leaders ----------------------------------------------------------------------------

    /// Records the leader of a term, and whether the leader before it had resigned.
    pub(super) fn note_leader(&mut self, now: Time, id: &AgentId, term: Term) {
        self.end_rounds();
        let steady = match self.config.preemption {
            Preemption::After(steady) => Some(steady),
            Preemption::Immediately | Preemption::Never => None,
        };
        let voter = &self.voter;
        self.flapping.note_leader(now, id, term, steady, |before| {
            voter.has_any_resigned(&before.id, before.term)
        });
    }

    // ---- members ----------------------------------------------------------------------------

    /// Stores a snapshot of the members. If a voter's score differs from the score in the former snapshot, the new
    /// score is newer than the score that the voter last reported.
    pub(super) fn meet(&mut self, members: Arc<Members>) {
        let before = mem::replace(&mut self.me.members, members);
        for id in &*self.peers {
            let score = self.me.members.get(id).map(|member| member.score);
            if let Some(score) = score
                && before.get(id).map(|member| member.score) != Some(score)
                && let Some(known) = self.scores.get_mut(id)
            {
                *known = score;
            }
        }
    }

    /// Returns whether the end of exactly this incarnation is confirmed. The end of an earlier incarnation does not
    /// count: a late report of such an end would void the promise to a leader that was elected again after a restart
    /// (rules `only-confirmed-end-voids` and `told-end-is-exact`).
    pub(super) fn has_ended(&self, id: &AgentId, incarnation: Incarnation) -> bool {
        let member = self.me.members.get(id);
        member.is_some_and(|member| member.has_ended(incarnation))
    }

    /// Returns whether a later incarnation of this leader is up, or the leader is no longer a member.
    pub(super) fn is_replaced(&self, leader: &Leader) -> bool {
        let member = self.me.members.get(&leader.id);
        member.is_none_or(|member| member.is_stale(leader.incarnation))
    }

    pub(super) fn ignore(&self, role: Role, reason: &'static str) {
        self.me.ignore(role, reason);
    }
}
