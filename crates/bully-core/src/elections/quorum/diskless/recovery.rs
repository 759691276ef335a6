//! The recovery of an incarnation without a memory.
//!
//! Decided here: the time for which an incarnation abstains, and the answers that it needs before it votes.
//!
//! ```text
//! Start ──── abstains ──────────────┬── E ──┐ enough others have answered: it votes above their terms
//!   │ votes of before may count │   asks    until ── not yet: asks again, every E or H
//! ```

use std::{collections::BTreeMap, mem, time::Duration};

use crate::elections::{
    message::{Recover, Recovered},
    quorum::{Out, QuorumConfig, SenderIncarnation, core::Core, voter::Voter},
    timer::BullyTimer,
};
use crate::protocol::{AgentId, Incarnation, Recovering, Round, Term, Time, Timings};

/// The state of an incarnation that does not take part yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::elections::quorum) struct Recovery {
    /// The end of the abstention (rule `abstain-without-memory`).
    until: Time,
    /// Time of the next question. Until then the answers to the last question may arrive.
    due: Time,
    /// The last round of questions.
    round: Option<Round>,
    /// The first round of questions.
    first: Option<Round>,
    /// The other voters that remember, with the terms in their answers. Such an answer counts until this incarnation
    /// takes part.
    remember: BTreeMap<AgentId, Term>,
    /// The other voters that answered in the last round that they recover, too.
    recover: Forgetful,
    /// The voters that answered in the former round that they recover. Displayed until the answers to the last round
    /// arrive.
    recovered_before: Vec<AgentId>,
    /// The highest term in any answer.
    highest: Term,
}

/// Incarnations that have no memory.
pub(in crate::elections::quorum) type Forgetful = BTreeMap<AgentId, Incarnation>;

/// The source of the term above which a recovered incarnation votes.
enum Memory {
    /// The answers of enough other voters that remember.
    Others,
    /// The clocks, because too few other voters can remember.
    Clock,
}

impl QuorumConfig {
    /// Time for which an incarnation without a disk abstains. After this time no promise and no vote of an earlier
    /// incarnation counts, for all rates of the clocks within the allowed error.
    pub(in crate::elections::quorum) fn abstention(&self) -> Duration {
        let t = &self.timings;
        Timings::least_promise(t.promise().saturating_add(t.round()))
    }

    /// Longest time from the start of the last voter of a majority until a voter of that majority leads. `above` is
    /// the number of voters that outrank the last voter and are down.
    ///
    /// Without disks: ((P + E) (1 + r) / (1 - r) + max(E, H)) / (1 - r) + S × `above` + J + 2 E + 5 d; with disks, the
    /// first part is P / (1 - r). [`Timings`] explains the letters. The error of a clock's rate is r = 11 %.
    ///
    /// ```
    /// # use bully_core::elections::quorum::QuorumConfig;
    /// # use bully_core::protocol::{AgentId, Timings};
    /// use bully_core::elections::quorum::Diskless;
    /// use std::time::Duration;
    /// let voters = ["api-1", "api-2", "api-3"].map(|name| AgentId::new(name).unwrap());
    /// let config = QuorumConfig {
    ///     timings: Timings::lan(),
    ///     diskless: Some(Diskless::default()),
    ///     ..QuorumConfig::new(voters)
    /// };
    /// assert!(config.worst_case_start(0) < Duration::from_secs(1));
    /// ```
    pub fn worst_case_start(&self, above: u32) -> Duration {
        let t = &self.timings;
        let abstains = match self.diskless() {
            None => t.promise(),
            Some(_) => self.abstention().saturating_add(self.asks_every()),
        };
        abstains
            // 100 / 89 = 1 / (1 - r), with the clock-rate error r = 11 %
            .saturating_mul(100)
            .checked_div(89)
            .unwrap_or_default()
            .saturating_add(t.step().saturating_mul(above))
            .saturating_add(t.jitter())
            .saturating_add(t.round().saturating_mul(2))
            .saturating_add(t.delay_bound().saturating_mul(5))
    }

    /// Number of other voters that have to remember. Qv of the n voters elected a leader in a term. At least Qv - 1 of
    /// these Qv voters are other voters, so any n - Qv + 1 other voters include one of them.
    fn remembering(&self) -> usize {
        let voters = self.voters.len();
        voters.saturating_sub(self.vote_quorum()).saturating_add(1)
    }

    /// Time between two questions: a round E, in which the answers come, but at least the heartbeat interval H.
    fn asks_every(&self) -> Duration {
        self.timings.round().max(self.heartbeat())
    }
}

impl Recovery {
    fn begin(config: &QuorumConfig, now: Time) -> Self {
        let (until, round) = (now.after(config.abstention()), config.timings.round());
        // At this time no vote of an earlier incarnation counts any more (rule `ask-after-the-claims`).
        let claims = now.after(Timings::least_promise(round));
        // The first question may wait for the last round of the abstention, because no answer is used before its end.
        let last = now.after(config.abstention().saturating_sub(round));
        Self {
            until,
            due: claims.max(last),
            round: None,
            first: None,
            remember: BTreeMap::new(),
            recover: Forgetful::new(),
            recovered_before: Vec::new(),
            highest: Term::ZERO,
        }
    }

    /// Notes an answer. The answer "I recover" counts only for the last round, because its sender may end its
    /// recovery at any time.
    fn hear(&mut self, (from, incarnation): SenderIncarnation<'_>, answer: &Recovered) {
        let is_mine = self.first.is_some_and(|first| {
            first.incarnation == answer.round.incarnation && first <= answer.round
        });
        if !is_mine || self.round.is_none_or(|last| last < answer.round) {
            return;
        }
        if !answer.recovering {
            self.remember.insert(from.clone(), answer.term);
        } else if self.round == Some(answer.round) {
            self.recover.insert(from.clone(), incarnation);
        }
        self.highest = self.highest.max(answer.term);
    }

    fn progress(&self, core: &Core) -> Recovering {
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let config = &core.config;
        // A voter that remembered at the first question may have restarted since.
        let recovers =
            |id: &AgentId| self.recover.contains_key(id) || self.recovered_before.contains(id);
        let remembers = |id: &AgentId| self.remember.contains_key(id) && !recovers(id);
        let those = |which: &dyn Fn(&AgentId) -> bool| {
            let peers = core.peers.iter();
            peers.filter(|id| which(id)).cloned().collect::<Vec<_>>()
        };
        let (recover, remember) = (those(&recovers).len(), those(&remembers));
        let answers = remember.len().saturating_add(recover);
        // After this number of further restarts, too few other voters could remember.
        let more = config.voters.len().saturating_sub(config.vote_quorum());
        let more = more.saturating_sub(recover);
        Recovering {
            until: self.until,
            answers: count(answers),
            recover: count(recover),
            needed: count(config.remembering()),
            restarts: (answers.saturating_add(1) >= config.vote_quorum()).then_some(count(more)),
            remember,
            silent: those(&|id| !remembers(id) && !recovers(id)),
        }
    }

    /// Returns the memory that this incarnation may use now; `None` if it has to wait. `is_late` is `true` if the time
    /// for answers to the last round has passed.
    fn memory(&self, config: &QuorumConfig, now: Time, is_late: bool) -> Option<Memory> {
        if now < self.until {
            return None;
        }
        let (others, quorum) = (config.voters.len().saturating_sub(1), config.vote_quorum());
        if self.remember.len() >= config.remembering() {
            return Some(Memory::Others); // `recover-by-the-others`
        }
        // `recover-by-the-clock`: a majority cannot remember.
        let possible = others.saturating_sub(self.recover.len());
        let is_lost = possible < quorum;
        (is_late && is_lost && self.answers().saturating_add(1) >= quorum).then_some(Memory::Clock)
    }

    /// Returns the number of other voters that have answered.
    fn answers(&self) -> usize {
        let recover = self.recover.keys();
        let recover = recover.filter(|id| !self.remember.contains_key(*id));
        recover.count().saturating_add(self.remember.len())
    }
}

impl Voter {
    /// Begins to recover. Returns the shortest time for which this voter abstains (rule `abstain-without-memory`).
    pub(in crate::elections::quorum) fn forget(
        &mut self,
        config: &QuorumConfig,
        now: Time,
        out: &mut Out,
    ) -> Duration {
        let recovery = Recovery::begin(config, now);
        out.set_timer(BullyTimer::Recover, recovery.due.since(now));
        let span = recovery.until.since(now);
        self.recovery = Some(recovery);
        span
    }

    /// Returns whether this voter recovered by the clocks, in a round in which `other` answered "I recover" (rule
    /// `forgotten-together`).
    pub(super) fn forgot_with(&self, other: &AgentId, asks: Round) -> bool {
        let forgot = self.forgot.as_ref();
        forgot.is_some_and(|forgot| forgot.get(other) == Some(&asks.incarnation))
    }
}

impl Core {
    pub(in crate::elections::quorum) fn recovering(&self) -> Option<Recovering> {
        let recovery = self.voter.recovery.as_ref()?;
        Some(recovery.progress(self))
    }

    /// Handles `Recovered`. Returns whether this incarnation takes part from now on.
    pub(super) fn on_recovered(
        &mut self,
        now: Time,
        sender: SenderIncarnation<'_>,
        answer: &Recovered,
        out: &mut Out,
    ) -> bool {
        let Some(recovery) = &mut self.voter.recovery else {
            return false;
        };
        recovery.hear(sender, answer);
        if recovery.round == Some(answer.round) {
            let due = recovery.due;
            self.hear_clock(now, due, sender, Some(answer.clock));
        }
        let recovered = self.recover(now, false, out);
        if recovered {
            out.cancel_timer(BullyTimer::Recover);
        }
        recovered
    }

    /// Asks, asks again, or takes part, if the time has come. Returns whether this incarnation takes part from now on.
    pub(super) fn on_recover_due(&mut self, now: Time, out: &mut Out) -> bool {
        let Some(recovery) = &self.voter.recovery else {
            return false;
        };
        if now < recovery.due {
            out.set_timer(BullyTimer::Recover, recovery.due.since(now));
            return false;
        }
        let has_asked = recovery.round.is_some();
        if self.recover(now, has_asked, out) {
            return true;
        }
        let round = self.next_round();
        let (again, round_trip) = (self.config.asks_every(), self.config.timings.round());
        let seen = self.voter.record.term;
        let Some(recovery) = &mut self.voter.recovery else {
            return false;
        };
        // The first question comes early enough for the answers to arrive before the abstention ends.
        let wait = if has_asked || now >= recovery.until {
            again
        } else {
            recovery.until.since(now).max(round_trip)
        };
        let before = mem::take(&mut recovery.recover);
        recovery.recovered_before = before.into_keys().collect();
        recovery.round = Some(round);
        recovery.first = recovery.first.or(Some(round));
        recovery.due = now.after(wait);
        out.set_timer(BullyTimer::Recover, wait);
        self.send_to_voters(Recover { round, seen }, out);
        false
    }

    /// Takes part, if enough other voters remember or the clocks may be used. Returns whether this incarnation takes
    /// part.
    fn recover(&mut self, now: Time, is_late: bool, out: &mut Out) -> bool {
        let Some(recovery) = &self.voter.recovery else {
            return false;
        };
        let (floor, is_by_clock) = match recovery.memory(&self.config, now, is_late) {
            None => return false,
            Some(Memory::Others) => (recovery.highest, false),
            Some(Memory::Clock) => {
                // The voter votes only above the returned term. The voter may use the term by the clocks itself, so 1
                // is subtracted.
                let clock = self.clocks_term(now).0.saturating_sub(1);
                (recovery.highest.max(Term(clock)), true)
            }
        };
        let recovery = self.voter.recovery.take();
        if is_by_clock {
            self.voter.forgot = recovery.map(|recovery| Box::new(recovery.recover));
        }
        let record = &self.voter.record;
        if record.term < floor || record.term == floor && record.voted_for.is_none() {
            // An earlier incarnation may have voted in this term. If this incarnation votes for itself, it cannot vote
            // for another agent.
            self.vote_for_myself(now, floor, out);
        }
        true
    }
}
