//! The warning that no agent leads, from an agent's own timers.
//!
//! Decided here: when it is due. First when every election has had its time, and then every ten seconds until
//! there is a leader again. Not here: what it says (`diagnosis/`).

use std::time::Duration;

use actix::clock::Instant;
use tracing::warn;

use crate::protocol::{Election, Prospects, View};

use super::Agent;

/// Watches for how long an incarnation has known no leader.
#[derive(Clone, Debug, Default)]
pub(super) struct VacancyWatch {
    /// What was published last; `None` before the first step.
    told: Option<(Prospects, bool)>,
    vacant: Option<Vacancy>,
}

/// There is no leader.
#[derive(Clone, Copy, Debug)]
struct Vacancy {
    since: Instant,
    /// The next warning.
    due: Instant,
}

impl VacancyWatch {
    /// Whether this is other than what was published.
    fn is_update(&mut self, prospects: Prospects, has_leader: bool) -> bool {
        let now = Some((prospects, has_leader));
        let is_update = self.told != now;
        self.told = now;
        is_update
    }

    /// That timer, or the warning if it is due before.
    pub(super) fn earliest(&self, timer: Option<Instant>) -> Option<Instant> {
        let due = self.vacant.map(|vacant| vacant.due);
        match (timer, due) {
            (Some(timer), Some(due)) => Some(timer.min(due)),
            (timer, due) => timer.or(due),
        }
    }
}

impl<E: Election> Agent<E> {
    /// After a step: publishes what people may ask for, and watches a leadership that is vacant. A steady step
    /// takes no lock and reads no clock here.
    pub(super) fn watch_vacancy(&mut self, view: &View) {
        let (prospects, has_leader) = (self.machine.prospects(), view.leader.is_some());
        if !self.vacancy.is_update(prospects, has_leader) {
            return;
        }
        let vitals = self.shared.vitals();
        let leaderless = vitals.note_prospects(prospects, has_leader, self.shared.now());
        if leaderless.is_some() || !has_leader {
            self.shared.meter().led_after(leaderless);
        }
        if has_leader {
            self.vacancy.vacant = None;
        } else if self.vacancy.vacant.is_none() {
            let since = Instant::now();
            let due = since.checked_add(vitals.assumed.patience);
            self.vacancy.vacant = due.map(|due| Vacancy { since, due });
        }
    }

    /// Warns if that is due.
    pub(super) fn warn_of_vacancy(&mut self, now: Instant) {
        let Some(vacant) = self.vacancy.vacant.as_mut().filter(|v| v.due <= now) else {
            return;
        };
        vacant.due = now.checked_add(AGAIN).unwrap_or(vacant.due);
        let by_timers = now.duration_since(vacant.since);
        let vitals = self.shared.vitals();
        let since = vitals.note_vacancy(by_timers, self.shared.now());
        let since_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let diagnosis = self.shared.diagnosis();
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

/// How often it is warned.
const AGAIN: Duration = Duration::from_secs(10);
