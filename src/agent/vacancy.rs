//! The warning that no agent leads, from an agent's own timers.
//!
//! Decided here: when the warning is due. The first warning is due after the longest time of an election, the next
//! warnings every ten seconds until there is a leader again; also while the agent waits for its store (`saving.rs`).
//! The error of a caller that waited in vain for a leader contains the longest time of an election too. Not here: the
//! text of the warning (`diagnosis/`).

use std::time::Duration;

use actix::clock::Instant;
use tracing::warn;

use crate::protocol::{Election, View};

use super::{Agent, Finding, WaitError, shared::SharedState};

/// The kind of prospects that an incarnation published last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Published {
    Nothing,
    /// The agent knows a leader, and waits for nothing. This is published once.
    Calm,
    /// All other prospects. Each step publishes them again.
    Other,
}

/// A time without a leader.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vacancy {
    since: Instant,
    /// Time of the next warning.
    due: Instant,
}

impl<E: Election> Agent<E> {
    /// Publishes the agent's prospects (the reasons why it waits or does not lead), and measures the time without a
    /// leader. The agent calls this after each step. If nothing has changed in a group with a leader, the call takes no
    /// lock and reads no clock.
    pub(super) fn watch_vacancy(&mut self, view: &View) {
        self.watch(view.leader.is_some());
    }

    /// Publishes at once that a vacancy begins. The agent calls this before the rest of a step waits for its record.
    /// The end of a vacancy is published only when the record is durable, like every gain of a step.
    pub(super) fn begin_vacancy(&mut self, view: &View) {
        if view.leader.is_none() || self.published == Published::Nothing {
            self.watch(false);
        }
    }

    fn watch(&mut self, has_leader: bool) {
        let prospects = self.machine.prospects();
        #[cfg(feature = "dashboard")]
        self.shared.vitals().note_followed(prospects.followed_until);
        let is_calm = has_leader && prospects.is_idle();
        if is_calm && self.published == Published::Calm {
            return;
        }
        self.published = if is_calm {
            Published::Calm
        } else {
            Published::Other
        };
        let shared = &self.shared;
        let (vitals, now) = (shared.vitals(), || shared.now());
        let leaderless = vitals.note_prospects(prospects, has_leader, now);
        if has_leader {
            if leaderless.is_some() {
                shared.note_led(leaderless);
            }
            if self.seldom.is_some() {
                self.with_seldom(|seldom| seldom.vacancy = None);
            }
        } else if self.vacancy().is_none() {
            shared.note_led(None);
            let since = Instant::now();
            let due = since.checked_add(shared.assumed().patience);
            self.with_seldom(|seldom| seldom.vacancy = due.map(|due| Vacancy { since, due }));
        }
    }

    /// Returns the time at which a warning is due.
    pub(super) fn vacancy_due(&self) -> Option<Instant> {
        self.vacancy().map(|vacancy| vacancy.due)
    }

    fn vacancy(&self) -> Option<&Vacancy> {
        self.seldom.as_ref()?.vacancy.as_ref()
    }

    /// Warns that an agent with a leader waits for its store. Such an agent would not notice the end of its leader.
    pub(super) fn warn_of_store(&self, since: Duration) {
        let since_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let failure = self.shared.vitals().read().store_failure;
        let finding = match failure {
            Some(failure) => Finding::StoreFails {
                reason: failure.reason,
                since,
                is_tried_again: true,
            },
            None => Finding::StoreIsSlow { since },
        };
        self.shared
            .span()
            .in_scope(|| warn!(since_ms, "no messages are received or sent: {finding}"));
    }

    pub(super) fn warn_of_vacancy(&mut self, now: Instant) {
        let seldom = self.seldom.as_mut();
        let vacant = seldom.and_then(|seldom| seldom.vacancy.as_mut());
        let Some(vacant) = vacant.filter(|vacant| vacant.due <= now) else {
            return;
        };
        vacant.due = now.checked_add(AGAIN).unwrap_or(vacant.due);
        let by_timers = now.duration_since(vacant.since);
        let vitals = self.shared.vitals();
        let since = vitals.note_vacancy(by_timers, self.shared.now());
        let since_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let diagnosis = self.shared.diagnosis();
        self.shared.keep_record(diagnosis.to_string());
        self.shared.span().in_scope(|| {
            let (summary, findings) = (diagnosis.summary(), diagnosis.findings.len());
            warn!(
                since_ms,
                findings,
                "no leader for {:.1} s: {summary}",
                since.as_secs_f64()
            );
        });
    }
}

impl SharedState {
    /// Returns the error of a caller whose wait for a leader timed out.
    pub(super) fn timed_out(&self, within: Duration) -> WaitError {
        let is_asked = !self.diagnosis().findings.contains(&Finding::NotAsked);
        WaitError::TimedOut {
            within,
            longest: is_asked.then(|| self.assumed().patience),
        }
    }
}

/// Time between two warnings.
pub(super) const AGAIN: Duration = Duration::from_secs(10);
