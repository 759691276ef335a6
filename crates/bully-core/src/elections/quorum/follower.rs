//! The role of an agent that follows a leader: it supports the leader, and takes over if it ranks higher.
//!
//! Decided here: the rules `follow-and-promise` and `ask-before-takeover`. `Elected` and `Heartbeat` have the same
//! effect, so the next heartbeat replaces a lost `Elected`. An acknowledgement is a promise: for P from now on, by its
//! own clock, this voter votes for no other agent. An observer follows, and promises nothing.
//!
//! An agent that wants to take over asks the voters first: an agent that could not win must not make a healthy
//! leader stop.
//!
//! Not here: whether the leader hands over. The leader decides that itself ([`resign`](super::resign)).

use std::{collections::BTreeSet, time::Duration};

use super::{
    Elect, Heartbeat, Leadership, Ok, Out, QuorumConfig, Refusal, Takeover, Yield,
    consent::Verdict,
    core::Core,
    state::{Certainty, Next, Predecessor},
    voter::Promise,
};
use crate::elections::{message::Candidate, policy::Preemption, timer::BullyTimer};
use crate::protocol::{AgentId, Event, Incarnation, Leader, LeaderEnd, Round, Score, Term, Time};

/// The leader that an agent follows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Following {
    pub(super) leader: Leader,
    score: Score,
    /// Time at which the leader counts as ended if it stays silent. For a voter this is the end of its promise.
    due: Time,
    /// Time since which the leader was heard without a gap.
    pub(super) since: Time,
    /// Time of the last announcement.
    last: Time,
    takeover: TakeoverAttempt,
    /// The term in which this voter has voted for the leader's successor, at the leader's request (rule `vote-ahead`).
    pub(super) ahead: Option<Term>,
}

/// The attempt of a follower that outranks its leader to take over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum TakeoverAttempt {
    /// Before this time, this agent does not ask.
    After(Time),
    /// This agent has asked the voters whether it may take over.
    Asked {
        round: Round,
        consents: BTreeSet<AgentId>,
        due: Time,
    },
}

/// A leader's announcement of itself: `Elected`, or `Heartbeat`.
#[derive(Clone, Copy)]
pub(super) struct TimedAnnouncement {
    pub(super) term: Term,
    pub(super) score: Score,
    pub(super) sent_at: Time,
}

impl TimedAnnouncement {
    /// Returns `None` if the announcement has no sending time: then its leader has the rules of the available mode.
    pub(super) fn new(term: Term, score: Score, sent_at: Option<Time>) -> Option<Self> {
        sent_at.map(|sent_at| Self {
            term,
            score,
            sent_at,
        })
    }
}

impl Following {
    /// Follows an agent that announced itself. `known` is the leader that this agent followed until now, which may be
    /// the same agent.
    pub(super) fn begin(
        core: &mut Core,
        now: Time,
        known: Option<&Self>,
        leader: Leader,
        said: TimedAnnouncement,
        out: &mut Out,
    ) -> Self {
        let until = now.after(sign_of_life(core, now, &leader));
        let steady = known.filter(|known| {
            known.leader.id == leader.id
                && known.leader.incarnation == leader.incarnation
                && now.since(known.last) <= gap(&core.config)
        });
        let since = steady.map_or(now, |known| known.since);
        let ahead = known.filter(|known| known.leader == leader);
        let ahead = ahead.and_then(|known| known.ahead);
        adopt_term(core, now, &leader, out);
        // An agent leads, so this voter may object to each agent once more in the next election (rule `object-once`).
        core.objected.clear();
        if core.binds() {
            core.voter.promise = Some(Promise {
                holder: leader.id.clone(),
                incarnation: leader.incarnation,
                term: leader.term,
                until,
            });
        }
        core.note_leader(now, &leader.id, leader.term);
        if let Some(known) = known.filter(|known| known.leader.id != leader.id) {
            let is_silent = now.since(known.last) > gap(&core.config);
            known.note_end(core, is_silent);
        }
        if known.is_none_or(|known| known.leader != leader) {
            out.notify(Event::NewLeader(leader.clone()));
        }
        out.set_timer(BullyTimer::Election, until.since(now));
        Self {
            leader,
            score: said.score,
            due: until,
            since,
            last: now,
            takeover: TakeoverAttempt::After(now),
            ahead,
        }
    }

    /// Returns whether the last vote of this voter is its vote ahead, for the successor of its leader. Such a voter
    /// still follows its present leader.
    fn has_voted_ahead(&self, core: &Core) -> bool {
        self.ahead == Some(core.voter.record.term)
    }

    /// Returns whether an announcement belongs to the followed leadership, and this voter has voted ahead.
    pub(super) fn goes_on(
        &self,
        core: &Core,
        from: &AgentId,
        incarnation: Incarnation,
        term: Term,
    ) -> bool {
        let leader = &self.leader;
        let is_same =
            leader.id == *from && leader.incarnation == incarnation && leader.term == term;
        is_same && self.has_voted_ahead(core)
    }

    /// The steady state: handles a heartbeat that repeats the leader's last announcement. Returns whether the heartbeat
    /// was such a repetition.
    pub(super) fn refresh(
        &mut self,
        core: &mut Core,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        said: &Heartbeat,
        out: &mut Out,
    ) -> bool {
        let Some(sent_at) = said.sent_at else {
            return false;
        };
        let is_same = self.leader.term == said.term
            // If the announced term is below the term of this voter's record, the leader needs a `Nack`, so that it
            // raises its term.
            && (said.term >= core.voter.record.term || self.has_voted_ahead(core))
            && self.score == said.score
            && self.leader.incarnation == incarnation
            && self.leader.id == *from;
        if !is_same {
            return false;
        }
        let mut span = core.config.timings.promise();
        if !core.me.is_voter() {
            span = silence(span, now.since(self.last));
            core.observed = now;
        }
        let until = now.after(span);
        match &mut core.voter.promise {
            Some(promise) => promise.until = until,
            None if core.me.is_voter() => return false, // no promise to prolong: `on_announcement` gives a new one
            None => {}
        }
        if now.since(self.last) > gap(&core.config) {
            self.since = now;
        }
        (self.last, self.due) = (now, until);
        core.calm_down(now.since(self.since));
        out.set_timer(BullyTimer::Election, until.since(now));
        core.acknowledge(now, &self.leader, sent_at, out);
        self.consider_takeover(core, now, out);
        true
    }

    /// Ends the role if the leader has been silent for too long.
    pub(super) fn on_election_due(&self, core: &mut Core, now: Time, out: &mut Out) -> Next {
        if now < self.due {
            out.set_timer(BullyTimer::Election, self.due.since(now));
            return Next::Stay;
        }
        self.end(core, Certainty::Suspected, out)
    }

    /// Ends the role after the leader's end: this agent campaigns when its slot comes.
    pub(super) fn end(&self, core: &mut Core, certainty: Certainty, out: &mut Out) -> Next {
        self.leave(core, out);
        Next::own_slot(Some(self.predecessor(certainty)))
    }

    pub(super) fn predecessor(&self, certainty: Certainty) -> Predecessor {
        Predecessor::new(self.leader.id.clone(), certainty)
    }

    /// Notes how this agent learned that it follows this leader no more, for the history and the metrics.
    fn note_end(&self, core: &mut Core, is_silent: bool) {
        let Leader {
            id,
            incarnation,
            term,
        } = &self.leader;
        let end = if core.voter.has_resigned(id, *incarnation, *term) {
            LeaderEnd::Resigned
        } else if core.me.has_ended(&self.leader) {
            LeaderEnd::Ended
        } else if is_silent {
            LeaderEnd::Silent { since: self.last }
        } else {
            LeaderEnd::Replaced
        };
        core.me.note_end(&self.leader, end);
    }

    pub(super) fn leave(&self, core: &mut Core, out: &mut Out) {
        self.note_end(core, true);
        out.notify(Event::NoLeader {
            term: self.leader.term,
        });
        self.stop_asking(out);
    }

    pub(super) fn stop_asking(&self, out: &mut Out) {
        if let TakeoverAttempt::Asked { .. } = self.takeover {
            out.cancel_timer(BullyTimer::Round);
        }
    }
}

// ---- a takeover ------------------------------------------------------------------------------

impl Following {
    /// Asks for a takeover if this agent has heard its leader without a gap for the whole grace period. A slow voter
    /// does not ask (rule `slow-waits`). Called after each heartbeat.
    fn consider_takeover(&mut self, core: &mut Core, now: Time, out: &mut Out) {
        if let Preemption::After(grace) = core.config.preemption
            && now.since(self.since) >= grace
            && !core.is_slow()
        {
            self.ask_to_take_over(core, now, out);
        }
    }

    /// Asks the voters, if this agent outranks its leader. The leader checks its own grace period.
    pub(super) fn ask_to_take_over(&mut self, core: &mut Core, now: Time, out: &mut Out) {
        let Some(score) = core.me.eligible().filter(|_| !core.is_cooling_down(now)) else {
            return;
        };
        let is_idle = matches!(self.takeover, TakeoverAttempt::After(time) if now >= time);
        let leader = &self.leader.id;
        if !is_idle || !core.is_better((score, &core.me.id), (self.score, leader)) {
            return;
        }
        let target = Leadership {
            id: leader.clone(),
            term: self.leader.term,
        };
        match core.judge_takeover(now, core.myself(), &target) {
            Verdict::Consent => {}
            Verdict::Object | Verdict::Refuse(_) => return, // because it could not vote for itself
        }
        let round = core.next_round();
        let wait = core.config.timings.round();
        core.send_to_voters(
            Elect {
                round,
                score,
                seen: target.term,
                takeover: Some(Box::new(target)),
                released: None,
            },
            out,
        );
        out.set_timer(BullyTimer::Round, wait);
        self.takeover = TakeoverAttempt::Asked {
            round,
            consents: [core.me.id.clone()].into(),
            due: now.after(wait),
        };
    }

    /// Returns whether this agent outranks the leader that it follows.
    pub(super) fn is_outranked(&self, core: &Core) -> bool {
        let own = core.me.score.map(|score| (score, &core.me.id));
        own.is_some_and(|own| core.is_better(own, (self.score, &self.leader.id)))
    }

    /// Returns the time until which the leader may lead if it has sent no later announcement: one lease of this agent's
    /// timings after the last announcement arrived. The leader counts its lease from the sending, which is earlier.
    pub(super) fn leads_until(&self, core: &Core) -> Time {
        self.last.after(core.config.timings.lease())
    }

    /// Returns the earliest time at which this agent would ask to take over, if it outranks its leader; `None` if it
    /// never asks.
    pub(super) fn takes_over_at(&self, core: &Core) -> Option<Time> {
        let Preemption::After(grace) = core.config.preemption else {
            return None;
        };
        let steady = self.since.after(grace);
        Some(match self.takeover {
            TakeoverAttempt::After(time) => steady.max(time),
            TakeoverAttempt::Asked { .. } => steady,
        })
    }

    /// Counts a consent. When a quorum has consented, including the leader, asks the leader to hand over.
    pub(super) fn on_yield(
        &mut self,
        core: &Core,
        now: Time,
        from: &AgentId,
        consent: &Yield,
        out: &mut Out,
    ) {
        let TakeoverAttempt::Asked {
            round, consents, ..
        } = &mut self.takeover
        else {
            return;
        };
        if *round != consent.round {
            return;
        }
        consents.insert(from.clone());
        if consents.len() < core.config.vote_quorum() || !consents.contains(&self.leader.id) {
            return;
        }
        // This agent pauses, because a leader that agrees first waits for the end of its application's work.
        self.takeover = TakeoverAttempt::After(now.after(pause(&core.config)));
        out.cancel_timer(BullyTimer::Round);
        let term = self.leader.term;
        out.send(&self.leader.id, Takeover { term });
    }

    /// Handles a refusal. Only the leader's refusal counts: it contains the time for which the leader will not hand
    /// over, and this agent does not ask again within this time.
    pub(super) fn on_ok(&mut self, now: Time, from: &AgentId, ok: &Ok) {
        let is_asked =
            matches!(&self.takeover, TakeoverAttempt::Asked { round, .. } if *round == ok.round);
        if let Some(Refusal::NotFree { retry }) = &ok.refusal
            && is_asked
            && self.leader.id == *from
        {
            self.takeover = TakeoverAttempt::After(now.after((*retry).into()));
        }
    }

    pub(super) fn on_round_due(&mut self, core: &Core, now: Time, out: &mut Out) {
        if let TakeoverAttempt::Asked { due, .. } = self.takeover {
            if now < due {
                return out.set_timer(BullyTimer::Round, due.since(now));
            }
            self.takeover = TakeoverAttempt::After(now.after(pause(&core.config)));
        }
    }
}

/// Time for which this agent does not ask its leader again after an attempt to take over. If the leader agreed, its
/// application may need the drain time to end its work. Before that the leader collects votes, for up to half a lease,
/// which is less than the promise P. P also makes the attempts rare if the drain time is zero.
fn pause(config: &QuorumConfig) -> Duration {
    config.timings.promise().saturating_add(config.drain())
}

// ---- the time for which an announcement counts -----------------------------------------------

/// Returns the time for which an announcement shows that the leader is up. For a voter this is its promise.
fn sign_of_life(core: &mut Core, now: Time, leader: &Leader) -> Duration {
    let span = core.config.timings.promise();
    if core.me.is_voter() {
        return span;
    }
    let before = std::mem::replace(&mut core.observed, now);
    // The gap before the announcement is known only if the same leadership was heard before.
    if core.flapping.is_last(&leader.id, leader.term) {
        silence(span, now.since(before))
    } else {
        span
    }
}

/// Takes part in the leader's term. A voter writes the record before the acknowledgement that follows. An observer
/// has no vote to write, so it only remembers the term.
fn adopt_term(core: &mut Core, now: Time, leader: &Leader, out: &mut Out) {
    let term = leader.term;
    let voted_for = Some(Candidate::new(&leader.id, leader.incarnation));
    if term <= core.voter.record.term {
        return;
    }
    if core.me.is_voter() {
        core.voter.write(&core.config, now, term, voted_for, out);
    } else {
        (core.voter.record.term, core.voter.record.voted_for) = (term, voted_for);
        core.voter.hear(term);
    }
}

/// Longest time between two announcements that counts as contact without a gap: three heartbeat intervals of this
/// agent's timings, or longer for a leader with longer timings. Such a leader may send a heartbeat every third of the
/// lease that this agent's promise allows (rule `lease-within-promise`). By this agent's clock, which may be faster,
/// that is at most a third of the promise.
fn gap(config: &QuorumConfig) -> Duration {
    let t = &config.timings;
    let slow = (t.promise() / 3).saturating_add(t.delay_bound().saturating_mul(2));
    config.heartbeat().saturating_mul(3).max(slow)
}

/// Longest silence of a leader that an observer accepts: three times the gap before the last announcement, but at least
/// the length P of a promise by this observer's timings, and at most 16 P. The leader does not know this P, so its
/// heartbeats may fit longer promises. With three gaps, two lost announcements do not count as the leader's end. The
/// limit of 16 P matters after an interruption. 16 is chosen: 16 P of `lan` is 4.8 s, more than the 3 s that three gaps
/// take under a `wan` leader.
fn silence(promise: Duration, gap: Duration) -> Duration {
    let longest = promise.saturating_mul(16);
    gap.saturating_mul(3).clamp(promise, longest)
}
