//! The work of a leader: whether the agent has any, whether it runs, and how it failed.
//!
//! Decided here, without a clock or a runtime: when a leader has work but none of it runs, and how long a failure is a
//! finding. Not here: the consequences of a failure (`lead.rs`), and the sentences (`diagnosis/`).

use std::{fmt::Display, time::Duration};

use tracing::warn;

use crate::protocol::{AgentId, Event, Incarnation, Time};

use super::{
    Finding, Status,
    failing::{Consequence, FailingWork},
    phase::Remaining,
    shared::SharedState,
};

/// The lead futures of one agent: their number, and their failures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WorkSigns {
    /// Number of lead futures that were not polled yet.
    unpolled: u32,
    /// Whether a task exists that warns of futures that are never polled.
    is_watched: bool,
    /// Number of lead futures that were polled and not dropped yet: they run, or wait for a leadership.
    polled: u32,
    /// Whether a lead future was ever polled.
    has_run: bool,
    failures: u32,
    last: Option<(Time, String)>,
    /// The first reason for which this crate refused a call of the work, since the work began. It may explain the
    /// work's end.
    refused: Option<String>,
    /// The leaderships since the agent was given work. Boxed: many agents have no work.
    failing: Option<Box<FailingWork>>,
    /// Time at which the agent steps down because of the last failure.
    steps_down: Option<Time>,
}

impl WorkSigns {
    /// Notes that a lead future was made.
    pub(super) fn given(&mut self) {
        self.unpolled = self.unpolled.saturating_add(1);
        self.failing.get_or_insert_default();
    }

    /// Returns whether the caller has to start the task that warns of futures that are never polled: one task is
    /// enough.
    pub(super) const fn watched(&mut self) -> bool {
        !std::mem::replace(&mut self.is_watched, true)
    }

    /// Returns whether the task that warns must check again, because some futures are not polled yet. The task calls
    /// this after each check.
    pub(super) const fn is_to_watch(&mut self) -> bool {
        self.is_watched = self.unpolled > 0;
        self.is_watched
    }

    pub(super) const fn unwatched(&mut self) {
        self.is_watched = false;
    }

    /// Notes the reason for which this crate refused a call of the work. Only the first reason is kept.
    fn refused(&mut self, reason: impl Display) {
        self.refused.get_or_insert_with(|| reason.to_string());
    }

    /// Notes that a lead future is polled for the first time.
    pub(super) const fn begun(&mut self) {
        self.unpolled = self.unpolled.saturating_sub(1);
        self.polled = self.polled.saturating_add(1);
        self.has_run = true;
    }

    /// Notes that a lead future was dropped; `was_polled` is `true` if the future had been polled.
    pub(super) const fn dropped(&mut self, was_polled: bool) {
        if was_polled {
            self.polled = self.polled.saturating_sub(1);
        } else {
            self.unpolled = self.unpolled.saturating_sub(1);
        }
    }

    /// Notes that work panicked, stalled or ended at once.
    pub(super) fn failed(&mut self, reason: String, now: Time) {
        self.failures = self.failures.saturating_add(1);
        self.last = Some((now, reason));
    }

    pub(super) fn failing(&mut self) -> Option<&mut FailingWork> {
        self.failing.as_deref_mut()
    }

    /// Notes that the agent steps down because of the last failure. The agent has led for `led_for`.
    fn gives_up(
        &mut self,
        me: (&AgentId, Incarnation),
        led_for: Duration,
        now: Time,
    ) -> Consequence {
        let failing = self.failing.get_or_insert_default();
        let next = failing.fail(me, led_for, now);
        self.steps_down = Some(now.after(next.wait));
        next
    }

    /// Returns the finding about the agent's work. `leads` is `true` if the agent leads and does not drain.
    pub(super) fn judge(&self, leads: bool, now: Time) -> Option<Finding> {
        if let Some(found) = self.nothing_runs(leads) {
            return Some(found);
        }
        let (at, reason) = self.last.as_ref()?;
        let since = now.since(*at);
        (since < RECENT).then(|| Finding::WorkFails {
            failures: self.failures,
            since,
            reason: reason.clone(),
            waits: self
                .steps_down
                .filter(|at| leads && *at > now)
                .map(|at| at.since(now)),
        })
    }

    fn nothing_runs(&self, leads: bool) -> Option<Finding> {
        let is_given = self.has_run || self.unpolled > 0;
        let has_run = self.has_run;
        (leads && is_given && self.polled == 0).then_some(Finding::NothingRuns { has_run })
    }
}

impl SharedState {
    pub(super) fn note_failed_work(&self, reason: String) {
        let now = self.now();
        self.vitals().note_work(|work| work.failed(reason, now));
    }

    /// Forgets the refusal of an earlier call: the work that begins now did not make that call.
    pub(super) fn forget_refused(&self) {
        self.vitals().note_work(|work| work.refused = None);
    }

    /// Notes the reason for which this crate refused a call of this agent's work.
    pub(super) fn note_refused_work(&self, reason: impl Display) {
        self.vitals().note_work(|work| work.refused(reason));
    }

    /// Returns whether work that began at `began`, and ended by itself, has failed. `serial` is the number of its
    /// tenure. Work that was asked to end has not failed. The end of a lease is not such a request: the work may have
    /// blocked the agent, and then it has failed.
    pub(super) fn ended_at_once(&self, began: Time, serial: u64) -> bool {
        let lasted = self.now().since(began);
        let has_failed = lasted < AT_ONCE && self.leads_on(serial);
        let refused = self.vitals().note_work(|work| work.refused.take());
        if has_failed {
            let mut reason = format!("it ended {} ms after it began", lasted.as_millis());
            if let Some(refused) = refused {
                reason += ", and was refused before: ";
                reason += &refused;
            }
            // The work returns no error. If it dropped an error of its own, only this line shows the failure.
            self.span().in_scope(
                || warn!(%reason, "work of the leader ended at once: the agent steps down"),
            );
            self.note_failed_work(reason);
        }
        has_failed
    }

    /// Notes that the agent steps down because its work failed. The agent has led for `led_for` in `incarnation`.
    pub(super) fn fail_work(&self, incarnation: Incarnation, led_for: Duration) -> Consequence {
        let (me, now) = ((self.id(), incarnation), self.now());
        self.vitals()
            .note_work(|work| work.gives_up(me, led_for, now))
    }

    pub(super) fn note_leadership(&self, incarnation: Incarnation, event: &Event) {
        let me = (self.id(), incarnation);
        self.vitals()
            .note_failing(|failing| failing.hear(me, event, self.now()));
    }

    /// Returns whether the tenure `serial` still holds, and its work was not asked to end.
    pub(super) fn is_at_work(&self, serial: u64) -> bool {
        self.leads_on(serial) && self.remaining_of(serial) != Remaining::Over
    }

    /// Warns if this agent leads and none of its work runs.
    pub(super) fn warn_of_work(&self) {
        let leads = has_to_work(&self.status());
        let found = self.vitals().note_work(|work| work.nothing_runs(leads));
        if let Some(found) = found {
            warn!(node = %self.id(), "{found}");
        }
    }
}

/// Returns whether the agent leads, and does not hand over, so that it should have work.
pub(super) const fn has_to_work(status: &Status) -> bool {
    status.leading.is_some() && !status.draining
}

/// Time without a failure after which work no longer counts as failing. The pauses between failures of work grow up to
/// several minutes.
const RECENT: Duration = Duration::from_secs(600);

/// Work that ends by itself within this time has failed, by the rule `wait-after-failure`; later it is done.
const AT_ONCE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_lead_future_of_two_that_runs_is_enough() {
        let mut signs = WorkSigns::default();
        signs.given();
        signs.begun();
        signs.given();
        assert_eq!(signs.judge(true, Time::ZERO), None);
    }

    #[test]
    fn the_first_refusal_and_the_last_failure_are_told_the_failure_for_a_while() {
        let mut signs = WorkSigns::default();
        signs.refused("no fence");
        signs.refused("no fence, again");
        assert_eq!(signs.refused.take().as_deref(), Some("no fence"));
        let at = Time::from_millis(900_000);
        signs.failed("first".to_owned(), Time::ZERO);
        signs.failed("no disk".to_owned(), at);
        let expected = |waits| {
            Some(Finding::WorkFails {
                failures: 2,
                since: Duration::ZERO,
                reason: "no disk".to_owned(),
                waits,
            })
        };
        signs.steps_down = Some(at.after(AT_ONCE));
        assert_eq!(signs.judge(false, at), expected(None), "it does not lead");
        assert_eq!(signs.judge(true, at), expected(Some(AT_ONCE)));
        signs.steps_down = Some(at);
        assert_eq!(signs.judge(true, at), expected(None), "it has stepped down");
        assert_eq!(signs.judge(false, at.after(RECENT)), None);
    }

    #[test]
    fn one_task_watches_all_lead_futures_that_were_not_polled() {
        let mut signs = WorkSigns::default();
        signs.given();
        assert!(signs.watched());
        signs.given();
        assert!(!signs.watched(), "there is one");
        signs.begun();
        assert!(signs.is_to_watch(), "the other one waits");
        signs.dropped(false);
        assert!(!signs.is_to_watch());
        signs.given();
        assert!(signs.watched(), "it has ended");
        signs.unwatched();
        assert!(signs.watched(), "its arbiter has ended");
    }
}
