//! One schedule under one leadership, as a pure machine: it reads the mark (the progress) that the group keeps, and a
//! tick begins only after the group knows of it.
//!
//! ```text
//!             nothing known
//!   Reading ────────────────▶ Founding ("it begins now")
//!      │ known                   │ acknowledged
//!      ▼                         ▼           due               acknowledged
//!   Waiting ◀────────────────────┴── Waiting ─────▶ Claiming ───────────────▶ Running
//!      ▲                                ▲              │ missed by then          │ ended
//!      └────────────────────────────────┴──────────────┴─────────────────────────┘
//! ```
//!
//! With `Misfire::AtLeastOnce` the machine also reports the end of a tick to the group, beside the next wait.
//!
//! Decided here: the order of reading, writing and running. Not here: when enough agents have answered (`poll.rs`), and
//! which tick is due (`planner.rs`). `shown.rs` has the queries of its driver.

mod shown;

use std::{collections::BTreeSet, time::Duration};

use crate::{
    agent::schedules::ScheduleStatus,
    clock::WallTime,
    protocol::{AgentId, Round, Time},
};

use super::{
    interface::{DueTick, Now, Rule, ScheduleEffect, ScheduleInput, TickFailed},
    message::{Answer, LeaderNumber, Mark, MarkRefusal, Question},
    planner::{Misfire, NextTick, ON_TIME, TickPlan, plan},
    poll::{Audience, Poll, Reading},
    register::AHEAD,
    stage::ScheduleStage,
    trouble::Failing,
};

/// Longest wait for a tick without a look at the wall clock. While a clock is slewed, it gains or loses half a
/// millisecond per second, so a tick is at most 30 ms late. `clock_watch.rs` notices a clock that is set.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Longest time for which a leader does not ask for the mark; `ask_daily` has the reason.
const ASKS: Duration = Duration::from_secs(24 * 3_600);

/// Time without enough answers after which the diagnosis reports it. A fail-over or a slow network is shorter.
const SILENCE: Duration = Duration::from_secs(1);

/// Pause after work that failed. It doubles after each further failure, up to [`LONGEST_PAUSE`].
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// See the [module](self).
pub(super) struct ScheduleMachine<'a> {
    rule: &'a Rule,
    own: AgentId,
    ballot: LeaderNumber,
    audience: Audience,
    /// Agents that had not answered when a question had enough answers, and have not answered since: they may have no
    /// part in schedules, so the leader asks them, but does not wait for them.
    silent: BTreeSet<AgentId>,
    rounds: Round,
    stage: ScheduleStage,
    /// A question beside the wait for the next tick: it reports the end of a tick, or it is the daily question.
    confirming: Option<Poll>,
    /// The known mark of the group, with the additions of this leader.
    mark: Mark,
    /// Due times up to this time are handled (run or skipped), and are not considered again.
    settled: WallTime,
    /// Whether an agent has refused this leader because it obeys a later leader.
    is_refused: bool,
    is_stepping_down: bool,
    is_established: bool,
    /// Time of the first question that too few agents have answered, if no later question had enough answers.
    unanswered: Option<Now>,
    /// The last question, if its tick was given up without enough answers.
    given_up: Option<Poll>,
    /// The failures of the last ticks, if the last tick failed.
    failing: Option<Failing>,
    /// Time at which the machine last asked for the mark.
    asked_at: Time,
    /// The counts of ticks. The other fields of the status are not used here.
    counts: ScheduleStatus,
}

impl<'a> ScheduleMachine<'a> {
    /// Makes the machine. `rounds` is the number before its first question; `counts` are the agent's tick counts so far.
    pub(super) fn new(
        rule: &'a Rule,
        own: AgentId,
        ballot: LeaderNumber,
        audience: Audience,
        rounds: Round,
        counts: ScheduleStatus,
    ) -> Self {
        Self {
            rule,
            own,
            ballot,
            audience,
            silent: BTreeSet::new(),
            rounds,
            stage: ScheduleStage::Waiting(None),
            confirming: None,
            mark: Mark::default(),
            settled: WallTime::default(),
            is_refused: false,
            is_stepping_down: false,
            is_established: false,
            unanswered: None,
            given_up: None,
            failing: None,
            asked_at: Time::ZERO,
            counts,
        }
    }

    pub(super) fn handle(&mut self, now: Now, input: ScheduleInput, out: &mut Vec<ScheduleEffect>) {
        match input {
            ScheduleInput::Start => self.read(now, out),
            ScheduleInput::Answer(from, answer) => self.answer(now, from, answer, out),
            ScheduleInput::Look { audience, ballot } => {
                self.audience = audience;
                self.look(now, ballot, out);
            }
            ScheduleInput::Ended(end) => self.ended(now, end, out),
            ScheduleInput::StepDown => {
                self.is_stepping_down = true;
                self.settle(now, out);
            }
        }
        self.ask_daily(now, out);
        self.say_again(now, out);
        self.forget_short_silence(now);
    }

    /// Forgets a question that was given up soon: it shows nothing about the agents that were asked.
    fn forget_short_silence(&mut self, now: Now) {
        if self.open().is_none() && self.silent_since(now).is_none() {
            self.unanswered = None;
            self.given_up = None;
        }
    }

    fn answer(
        &mut self,
        now: Now,
        from: AgentId,
        Answer { round, outcome }: Answer,
        out: &mut Vec<ScheduleEffect>,
    ) {
        self.silent.remove(&from);
        let asked = self.stage.asked();
        let mut asked = asked.into_iter().chain(&mut self.confirming);
        let poll = asked.find(|poll| poll.question.round == round);
        let Some(poll) = poll else { return };
        self.audience.note_lists(&outcome);
        if let Err(why) = outcome {
            self.counts.refused += 1;
            self.is_refused |= why == MarkRefusal::Older;
        }
        poll.note(from, &outcome);
        self.settle(now, out);
    }

    fn look(&mut self, now: Now, ballot: LeaderNumber, out: &mut Vec<ScheduleEffect>) {
        // After a renewal in a later term the leader asks again for the mark, between two ticks: the agents may have
        // heard another leader in the meantime.
        let is_between = !matches!(
            self.stage,
            ScheduleStage::Running(_) | ScheduleStage::Finished
        );
        if self.is_refused && is_between && ballot > self.ballot {
            self.is_refused = false;
            self.ballot = ballot;
            return self.read(now, out);
        }
        if let ScheduleStage::Claiming(_, due) = self.stage
            && self.rule.misfire != Misfire::AtLeastOnce
        {
            let plan = self.plan(now);
            if plan.next != NextTick::Now(due) {
                return self.give_up(now, plan, out);
            }
        }
        self.settle(now, out);
    }

    /// Handles a tick that the group has not acknowledged in time.
    fn give_up(&mut self, now: Now, plan: TickPlan, out: &mut Vec<ScheduleEffect>) {
        self.given_up = self.open().cloned();
        if self.is_stepping_down {
            self.counts.skipped = self.counts.skipped.saturating_add(1);
            return self.finish(out);
        }
        self.follow(now, plan, out);
    }

    /// Asks for the mark at least once a day: an agent whose table is full may replace a mark that no leader asks for.
    fn ask_daily(&mut self, now: Now, out: &mut Vec<ScheduleEffect>) {
        let is_waiting = matches!(self.stage, ScheduleStage::Waiting(_));
        let is_quiet = self.is_established && self.confirming.is_none() && !self.is_stepping_down;
        if is_waiting && is_quiet && now.time.since(self.asked_at) >= ASKS {
            let poll = self.ask(now, Some(self.mark), out);
            self.confirming = Some(poll);
        }
    }

    fn say_again(&mut self, now: Now, out: &mut Vec<ScheduleEffect>) {
        let asked = self.stage.asked();
        for poll in asked.into_iter().chain(&mut self.confirming) {
            let to = poll.say_again(&self.audience, now.time);
            say(poll, to, out);
        }
    }

    /// Handles a question that enough agents have answered, or a wait that has ended.
    fn settle(&mut self, now: Now, out: &mut Vec<ScheduleEffect>) {
        if let Some(poll) = self.stage.asked()
            && poll.is_carried(&self.audience, now.time)
        {
            let unheard = poll.unheard(&self.audience);
            self.silent.extend(unheard.cloned());
        }
        if self
            .open()
            .is_some_and(|poll| poll.is_carried(&self.audience, now.time))
        {
            self.unanswered = None;
            self.given_up = None;
        }
        let is_carried = |poll: &Poll| poll.is_carried(&self.audience, now.time);
        if self.confirming.as_ref().is_some_and(is_carried) {
            self.confirming = None;
        }
        match &self.stage {
            ScheduleStage::Reading(poll) if is_carried(poll) => {
                let is_here = Mark::beginning(now.wall);
                match (poll.reading(&self.audience), poll.mark()) {
                    // A beginning is written again: the former leader may have told too few agents of it.
                    (Reading::Present, Some(mark)) if mark.done.is_some() => {
                        self.establish(now, mark, out);
                    }
                    (Reading::Present | Reading::Former, best) => {
                        self.found(now, best.unwrap_or(is_here), out);
                    }
                    (Reading::Partial, best) => {
                        // Marks may be lost. So no tick up to this time is run: a tick that has begun is not later,
                        // because most agents refuse a due time that is further ahead of their clocks.
                        let known = best.unwrap_or(is_here);
                        let begun = known.begun.max(now.wall.after(AHEAD));
                        let done = Some(known.finished());
                        self.found(now, Mark { begun, done }, out);
                    }
                }
            }
            ScheduleStage::Founding(poll) if is_carried(poll) => {
                let mark = poll.mark().unwrap_or_default();
                self.establish(now, mark, out);
            }
            ScheduleStage::Claiming(poll, due) if is_carried(poll) => {
                let (due, mark) = (*due, poll.question.mark.unwrap_or_default());
                let known = poll.mark().unwrap_or_default();
                self.claimed(now, (due, mark), known, out);
            }
            ScheduleStage::Waiting(_) => self.go_on(now, out),
            ScheduleStage::Pausing(until) if *until <= now.time => self.go_on(now, out),
            ScheduleStage::Pausing(_) | ScheduleStage::Reading(_) | ScheduleStage::Founding(_)
                if self.is_stepping_down =>
            {
                self.finish(out);
            }
            ScheduleStage::Reading(_)
            | ScheduleStage::Founding(_)
            | ScheduleStage::Claiming(..)
            | ScheduleStage::Running(_)
            | ScheduleStage::Pausing(_)
            | ScheduleStage::Finished => {}
        }
    }

    fn read(&mut self, now: Now, out: &mut Vec<ScheduleEffect>) {
        self.confirming = None;
        let poll = self.ask(now, None, out);
        self.stage = ScheduleStage::Reading(poll);
    }

    /// Writes the first mark of this leader. If no agent knows the schedule, its first due time is after now.
    /// After a change of the voters, no tick begins before a quorum of the new voters knows the former voters' mark.
    fn found(&mut self, now: Now, mark: Mark, out: &mut Vec<ScheduleEffect>) {
        let poll = self.ask(now, Some(mark), out);
        self.stage = ScheduleStage::Founding(poll);
    }

    fn establish(&mut self, now: Now, mark: Mark, out: &mut Vec<ScheduleEffect>) {
        self.mark = if self.is_established {
            self.mark.join(mark)
        } else {
            mark
        };
        self.is_established = true;
        self.settled = self.settled.max(self.known());
        self.go_on(now, out);
    }

    /// Returns the due time up to which no tick is run, whatever a clock shows.
    const fn known(&self) -> WallTime {
        match self.rule.misfire {
            Misfire::AtLeastOnce => self.mark.finished(),
            Misfire::Skip | Misfire::Late { .. } => self.mark.begun,
        }
    }

    /// Waits for the next due time, or claims the due tick.
    fn go_on(&mut self, now: Now, out: &mut Vec<ScheduleEffect>) {
        if self.is_stepping_down {
            // The agent waits until the mark of the `confirming` question is kept. Without that mark, the successor
            // would repeat a tick that is done.
            if self.confirming.is_none() {
                self.finish(out);
            } else {
                self.stage = ScheduleStage::Waiting(None);
            }
            return;
        }
        let plan = self.plan(now);
        self.follow(now, plan, out);
    }

    fn plan(&mut self, now: Now) -> TickPlan {
        // The clock was ahead and was set back. Due times that were skipped because the clock was ahead were not
        // missed, so they are considered again.
        if now.wall < self.settled {
            self.settled = self.known();
        }
        plan(&*self.rule.times, self.rule.misfire, self.settled, now.wall)
    }

    fn follow(&mut self, now: Now, plan: TickPlan, out: &mut Vec<ScheduleEffect>) {
        self.counts.skipped = self.counts.skipped.saturating_add(plan.skipped);
        self.settled = plan.settled;
        match plan.next {
            NextTick::Now(due) => self.claim(now, due, out),
            NextTick::At(due) => self.stage = ScheduleStage::Waiting(Some(due)),
            NextTick::Never => self.stage = ScheduleStage::Waiting(None),
        }
    }

    fn claim(&mut self, now: Now, due: WallTime, out: &mut Vec<ScheduleEffect>) {
        let begun = self.mark.begun.max(due);
        let done = match self.rule.misfire {
            Misfire::AtLeastOnce => self.mark.finished(),
            Misfire::Skip | Misfire::Late { .. } => begun,
        };
        let done = Some(done);
        let mark = self.mark.join(Mark { begun, done });
        // The mark of this claim includes the mark of the `confirming` question, so that question needs no answer any
        // more.
        self.confirming = None;
        let poll = self.ask(now, Some(mark), out);
        self.stage = ScheduleStage::Claiming(poll, due);
    }

    /// Begins the claimed tick: the group has acknowledged its mark.
    fn claimed(
        &mut self,
        now: Now,
        (due, mark): (WallTime, Mark),
        known: Mark,
        out: &mut Vec<ScheduleEffect>,
    ) {
        let is_repeat = due <= self.mark.begun;
        self.mark = self.mark.join(mark);
        let is_once = self.rule.misfire != Misfire::AtLeastOnce;
        // In the available mode another leader may have begun later ticks: this tick is then skipped.
        if is_once && (known.begun > due || !self.rule.misfire.admits(due, now.wall)) {
            self.counts.skipped = self.counts.skipped.saturating_add(1);
            return self.establish(now, known, out);
        }
        let is_late = now.wall.since(due) > ON_TIME;
        self.counts.begun += 1;
        self.counts.late += u64::from(is_late);
        self.counts.repeated += u64::from(is_repeat);
        self.stage = ScheduleStage::Running(due);
        out.push(ScheduleEffect::Run(DueTick {
            due,
            is_late,
            is_repeat,
        }));
    }

    fn ended(&mut self, now: Now, end: Result<(), TickFailed>, out: &mut Vec<ScheduleEffect>) {
        let ScheduleStage::Running(due) = self.stage else {
            return;
        };
        let is_once = self.rule.misfire != Misfire::AtLeastOnce;
        self.failing = end.err().map(|TickFailed(reason)| {
            self.counts.failed += 1;
            Failing::and(self.failing.take(), due, &reason)
        });
        if let Some(failing) = &self.failing
            && !is_once
        {
            let pause = 2_u32.saturating_pow(failing.times.saturating_sub(1));
            let pause = PAUSE.saturating_mul(pause).min(LONGEST_PAUSE);
            self.stage = ScheduleStage::Pausing(now.time.after(pause));
            return self.settle(now, out);
        }
        self.settled = self.settled.max(due);
        if !is_once {
            self.mark = self.mark.join(Mark::at(due));
            let mark = self.mark;
            let poll = self.ask(now, Some(mark), out);
            self.confirming = Some(poll);
        }
        self.stage = ScheduleStage::Waiting(None);
        self.go_on(now, out);
    }

    fn finish(&mut self, out: &mut Vec<ScheduleEffect>) {
        self.stage = ScheduleStage::Finished;
        out.push(ScheduleEffect::Finish);
    }

    /// Asks all agents that count: with `mark` to keep that mark, without it to report the mark that they have.
    fn ask(&mut self, now: Now, mark: Option<Mark>, out: &mut Vec<ScheduleEffect>) -> Poll {
        self.asked_at = now.time;
        self.unanswered.get_or_insert(now);
        self.rounds.counter = self.rounds.counter.saturating_add(1);
        let question = Question {
            round: self.rounds,
            ballot: self.ballot,
            schedule: self.rule.name.clone(),
            mark,
        };
        let poll = Poll::new(question, now.time, &self.own, &self.silent);
        say(&poll, poll.left(&self.audience), out);
        poll
    }
}

/// Sends the question, if it has receivers.
fn say(poll: &Poll, to: Vec<AgentId>, out: &mut Vec<ScheduleEffect>) {
    if !to.is_empty() {
        out.push(ScheduleEffect::Ask(to, poll.question.clone()));
    }
}
