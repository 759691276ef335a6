//! The two roles of a candidate: first it asks the voters, then it claims a term.
//!
//! Decided here: when an agent claims, and when it asks or claims again. A question changes nothing durable, neither at
//! this agent nor at the voters (rule `ask-before-claim`). An agent uses up a term only when a quorum is likely to vote
//! for it. So an agent that cannot win does not raise the terms of the other agents.
//!
//! Not here: the answers of the voters ([`consent`](super::consent)), and the reasons for a claim
//! ([`claim`](super::claim)).

use std::{collections::BTreeSet, time::Duration};

use tracing::debug;

use super::{
    ClaimReply, Elect, Ok, Out, QuorumConfig, Refusal, SenderIncarnation, Yield,
    claim::Reason,
    core::Core,
    seal::higher,
    state::{Next, Predecessor, Start, State},
};
use crate::elections::{timer::BullyTimer, vote::SealRecord};
use crate::protocol::{AgentId, Presence, Role, Round, Score, Term, Time};

/// The state of an agent that asks before it claims.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Asking {
    round: Round,
    /// One above the highest term that this agent had seen when it began to ask.
    term: Term,
    consents: BTreeSet<AgentId>,
    /// The agents that answered this round with a consent or a refusal, and this agent.
    pub(super) replied: BTreeSet<AgentId>,
    /// The longest wait that a voter has reported in a refusal of this round.
    retry: Duration,
    pub(super) due: Time,
    pub(super) before: Option<Predecessor>,
}

impl Asking {
    /// Asks every voter whether it would vote for this agent.
    pub(super) fn begin(
        core: &mut Core,
        now: Time,
        before: Option<Predecessor>,
        out: &mut Out,
    ) -> Result<State, Next> {
        let Some(score) = core.me.eligible() else {
            core.ignore(Role::Follower, "it is not eligible");
            return Err(Next::Stay);
        };
        let seen = core.voter.seen;
        let term = core.config.term_above(seen);
        let claimed = core.next_term(now, seen).unwrap_or_default();
        core.voter.hear_of_election(&core.config, now, claimed);
        // The agent asks later: its own promise binds it, or its successor may still announce itself.
        if !core.must_wait(now).is_zero() {
            return Err(Next::own_slot(before));
        }
        let Some(term) = term else {
            core.ignore(Role::Follower, "the terms have come to their end");
            return Err(Next::Stay);
        };
        let round = core.next_round();
        let wait = core.begin_questions();
        debug!(target: "actix_bully", node = %core.me.id, term = %claimed, "election begins");
        core.send_to_voters(
            Elect {
                round,
                score,
                seen,
                takeover: None,
                released: core.voter.resigned.clone(),
            },
            out,
        );
        out.cancel_timer(BullyTimer::Election);
        out.set_timer(BullyTimer::Round, wait);
        Ok(State::Asking(Self {
            round,
            term,
            consents: [core.me.id.clone()].into(),
            replied: [core.me.id.clone()].into(),
            retry: Duration::ZERO,
            due: now.after(wait),
            before,
        }))
    }

    pub(super) fn on_yield(
        &mut self,
        core: &mut Core,
        now: Time,
        sender: SenderIncarnation<'_>,
        consent: &Yield,
    ) -> Next {
        if self.round != consent.round {
            core.ignore(Role::Candidate, "an answer to another round");
            return Next::Stay;
        }
        let (from, _) = sender;
        core.hear_clock(now, self.due, sender, consent.clock);
        self.consents.insert(from.clone());
        self.replied.insert(from.clone());
        self.decide(core, now)
    }

    /// Handles an objection or a refusal.
    pub(super) fn on_ok(&mut self, core: &Core, now: Time, from: &AgentId, ok: &Ok) -> Next {
        if self.round != ok.round {
            core.ignore(Role::Candidate, "an answer to another round");
            return Next::Stay;
        }
        match &ok.refusal {
            // The voter outranks this agent and now asks the voters itself, so this agent defers.
            None => Next::Become(Start::Defer {
                before: self.before.take(),
            }),
            // The voter's record has a higher term. This refusal contained it, so the next round asks for a term
            // above it.
            Some(Refusal::Stale) => Next::again(Duration::ZERO, self.before.take()),
            Some(Refusal::NotFree { retry }) => {
                self.retry = self.retry.max((*retry).into());
                self.replied.insert(from.clone());
                self.decide(core, now)
            }
        }
    }

    /// Claims the term if a quorum has consented. But first it waits until each voter that outranks this agent has
    /// answered, or until the round has ended (rule `wait-for-higher-ranked`).
    pub(super) fn decide(&mut self, core: &Core, now: Time) -> Next {
        let Some(own) = core.me.score else {
            return Next::Stay;
        };
        let is_late = now >= self.due;
        let Some(reason) = Reason::consented(core, self.consents.len()) else {
            if is_late || self.replied.len() >= core.config.voters.len() || self.asks_soon(core) {
                return Next::again(self.retry, self.before.take());
            }
            return Next::Stay;
        };
        // This agent may not vote yet, because its first `Recall` has no answer. Voters send that answer with their
        // consents (rule `ask-after-start`).
        if !is_late && !core.voter.memory.awaits(now).is_zero() {
            return Next::Stay;
        }
        // A voter that outranks this agent may be about to object. If this agent claimed before that objection, it
        // would be elected, and the other voter would then take over from it.
        let before = self.before.as_ref();
        let is_awaited =
            |id: &AgentId| !self.replied.contains(id) && core.precedes(own, id, before);
        if !is_late && core.peers.iter().any(is_awaited) {
            return Next::Stay;
        }
        Next::Become(Start::Claim {
            term: core.by_the_clocks(now, self.term),
            reason,
            before: self.before.take(),
        })
    }

    /// Returns whether this round can no longer succeed, because too few voters are up, and the next round may come
    /// soon (rule `soon-after-end`).
    fn asks_soon(&self, core: &Core) -> bool {
        // Checked first, because an agent without a quorum mostly may not.
        if !self.before.as_ref().is_some_and(Predecessor::may_ask_soon) {
            return false;
        }
        let may_consent = |id: &&AgentId| {
            let member = core.me.members.get(id);
            !self.replied.contains(*id) && member.is_none_or(|m| m.presence != Presence::Down)
        };
        let open = core.peers.iter().filter(may_consent).count();
        self.consents.len().saturating_add(open) < core.config.vote_quorum()
    }

    /// Asks again with the new score, because a round belongs to one score. An agent without a score stops asking.
    pub(super) fn on_set_score(score: Option<Score>, out: &mut Out) -> Next {
        out.cancel_timer(BullyTimer::Round);
        match score {
            Some(_) => Next::Become(Start::Ask { before: None }),
            None => Next::own_slot(None),
        }
    }

    pub(super) fn on_round_due(&mut self, core: &mut Core, now: Time, out: &mut Out) -> Next {
        if now < self.due {
            out.set_timer(BullyTimer::Round, self.due.since(now));
            return Next::Stay;
        }
        core.note_unanswered();
        self.decide(core, now)
    }
}

/// The state of an agent that has claimed a term and waits for votes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Claiming {
    term: Term,
    votes: BTreeSet<AgentId>,
    /// The longest wait that a voter has reported in a refusal of this claim.
    retry: Duration,
    due: Time,
    before: Option<Predecessor>,
    /// The seal with the highest term among the seals in the votes. This agent's own vote counts, too.
    seal: Option<Box<SealRecord>>,
    /// The reason for which the agent may claim that term.
    reason: Reason,
    answers: Answers,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Answers {
    /// No voter has refused. `quiet` is the number of successive rounds that ended without a new vote. `is_new` is
    /// `true` if the present round has brought a new vote.
    Votes { quiet: u8, is_new: bool },
    /// A voter has refused.
    Refused,
}

/// Number of successive rounds without a new vote after which a candidate asks for a higher term. A single round may
/// end before a slow voter has written its vote (rule `same-term-again`).
const QUIET: u8 = 2;

impl Claiming {
    pub(super) fn begin(
        core: &mut Core,
        now: Time,
        (term, reason): (Term, Reason),
        before: Option<Predecessor>,
        out: &mut Out,
    ) -> Result<State, Next> {
        core.voter.hear_of_election(&core.config, now, term);
        // The promise is checked again: while the questions were under way, this agent may have given one.
        let voter = &core.voter;
        let blocked = voter.blocked(&core.config, now, core.myself(), voter.resigned.as_ref());
        let blocked = blocked.max(voter.memory.awaits(now));
        let Some(score) = core.me.eligible().filter(|_| blocked.is_zero()) else {
            return Err(Next::again(blocked, before));
        };
        // While the questions were under way, the agent may have voted in this term or in a later term.
        if term <= voter.record.term || term > core.config.last_term() {
            return Err(Next::again(Duration::ZERO, before));
        }
        // The other voters vote while this agent's own vote is being written (rule `claim-beside-own-vote`). Their
        // replies wait until the write has ended, so no vote counts before the own vote is durable. The former claim is
        // closed, because late votes count only for the last claim (`late-vote-counts`).
        core.open_claim = None;
        core.send_to_voters(reason.claim(core, term, score), out);
        core.vote_for_myself(now, term, out);
        let wait = core.claim_round();
        out.cancel_timer(BullyTimer::Election);
        out.set_timer(BullyTimer::Round, wait);
        Ok(State::Claiming(Self {
            term,
            votes: [core.me.id.clone()].into(),
            retry: Duration::ZERO,
            due: now.after(wait),
            before,
            seal: core.voter.record.seal().cloned().map(Box::new),
            reason,
            answers: Answers::Votes {
                quiet: 0,
                is_new: false,
            },
        }))
    }

    pub(super) fn on_claim_reply(
        &mut self,
        core: &mut Core,
        now: Time,
        sender: SenderIncarnation<'_>,
        reply: &ClaimReply,
    ) -> Next {
        if self.term != reply.term || !core.is_candidate(&reply.candidate) {
            core.ignore(Role::Candidate, "an answer to another claim");
            return Next::Stay;
        }
        core.hear_clock(now, self.due, sender, reply.clock);
        if reply.granted && !core.counts(now < self.due) {
            core.ignore(Role::Candidate, "a vote that came too late");
            return Next::Stay;
        }
        if reply.granted {
            self.seal = higher(self.seal.take(), reply.seal.as_deref());
            if self.votes.insert(sender.0.clone())
                && let Answers::Votes { is_new, .. } = &mut self.answers
            {
                *is_new = true;
            }
            return self.count(core);
        }
        if reply.seen > reply.term {
            return Next::again(Duration::ZERO, self.before.take()); // this term can no longer win
        }
        self.retry = self.retry.max(reply.retry.into());
        self.answers = Answers::Refused;
        Next::Stay
    }

    /// Handles an answer to a claim whose time has passed. The answer counts if this agent has made no other claim
    /// since and has voted for no other agent (rule `late-vote-counts`).
    pub(super) fn on_late_reply(
        core: &mut Core,
        now: Time,
        sender: SenderIncarnation<'_>,
        reply: &ClaimReply,
        out: &mut Out,
    ) -> Next {
        let claim = core.open_claim.take();
        let Some(mut claim) = claim.filter(|claim| core.has_voted_for_itself(claim.term)) else {
            core.ignore(Role::Candidate, "an answer to another claim");
            return Next::Stay;
        };
        let next = claim.on_claim_reply(core, now, sender, reply);
        match (&next, &claim.answers) {
            (Next::Stay, Answers::Votes { .. }) => core.open_claim = Some(claim),
            (Next::Stay, Answers::Refused) => {}
            (Next::Become(Start::Again { .. }), _) => return Next::Stay, // the next round is under way
            (Next::Become(_), _) => out.cancel_timer(BullyTimer::Election),
        }
        next
    }

    pub(super) fn count(&self, core: &Core) -> Next {
        if self.votes.len() < core.config.vote_quorum() {
            return Next::Stay;
        }
        let term = self.term;
        Next::Become(match &self.seal {
            // `adopt-highest-seal`: that list may have been decided, so no other list may be.
            Some(seal) => Start::Seal {
                term,
                next: Box::new(seal.next.clone()),
            },
            None => Start::Lead { term },
        })
    }

    /// Keeps the claim and its votes, unless the agent is no longer eligible.
    pub(super) fn on_set_score(score: Option<Score>, out: &mut Out) -> Next {
        if score.is_some() {
            return Next::Stay;
        }
        out.cancel_timer(BullyTimer::Round);
        Next::own_slot(None)
    }

    pub(super) fn on_round_due(&mut self, core: &mut Core, now: Time, out: &mut Out) -> Next {
        if now < self.due {
            out.set_timer(BullyTimer::Round, self.due.since(now));
            return Next::Stay;
        }
        if !self.asks_again(core) {
            let (retry, before) = (self.retry, self.before.take());
            // The claim is kept, because its votes may still come (rule `late-vote-counts`).
            if self.answers != Answers::Refused && keeps_term(&core.config) {
                core.open_claim = Some(Box::new(self.clone()));
            }
            return Next::again(retry, before);
        }
        let Some(score) = core.me.eligible() else {
            return Next::own_slot(self.before.take());
        };
        core.send_to_voters(self.reason.claim(core, self.term, score), out);
        let wait = core.claim_round();
        self.due = now.after(wait);
        out.set_timer(BullyTimer::Round, wait);
        Next::Stay
    }

    /// Returns whether the next round asks for the same term. Then a voter with a slow disk can finish writing its
    /// vote, and a voter whose vote was lost gives it again. For a higher term each voter would have to write once more
    /// (rule `same-term-again`).
    fn asks_again(&mut self, core: &Core) -> bool {
        let Answers::Votes { quiet, is_new } = &mut self.answers else {
            return false;
        };
        *quiet = if *is_new { 0 } else { quiet.saturating_add(1) };
        *is_new = false;
        *quiet < QUIET && keeps_term(&core.config)
    }
}

/// Returns whether a claim stays open for late votes. Without disks it does not, because a vote expires (rule
/// `votes-expire`).
fn keeps_term(config: &QuorumConfig) -> bool {
    config.diskless().is_none()
}
