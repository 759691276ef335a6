//! The metrics of one agent, and of its group.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use ::metrics::{Histogram, counter, gauge, histogram};

use crate::{
    group::Counts,
    protocol::{Event, LostReason, Requirements, Term, Time},
};

use super::{
    ACQUIRED, DROPPED, EPOCH, FOLLOWED, HAS_LEADER, IS_LEADER, LEADERLESS, LEASE_LEFT, LOST,
    MESSAGES, SCHEDULE_BEGUN, SCHEDULE_FAILED, SCHEDULE_SKIPPED, TERM, VOTERS, WORK_PANICS,
    WORK_STALLS,
};

/// The metrics (series) of one agent.
///
/// Each call looks up its instrument by name. That is slow, but these events are rare: they happen when a leadership
/// changes, or every few seconds. A process with thousands of agents would need much memory to keep all their
/// instruments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AgentSeries<'a> {
    pub(crate) group: &'a str,
    pub(crate) node: &'a str,
}

impl AgentSeries<'_> {
    fn labels(self) -> [(&'static str, String); 2] {
        let Self { group, node } = self;
        [("group", group.to_owned()), ("node", node.to_owned())]
    }

    /// Creates all series with the value zero. So an alert can find an agent that never leads, and the function
    /// `increase()` of Prometheus counts the first event.
    fn begin(self) {
        let labels = self.labels();
        for gauge in [IS_LEADER, HAS_LEADER] {
            gauge!(gauge, &labels).set(0.0);
        }
        gauge!(TERM, &labels).increment(0.0);
        for counter in [ACQUIRED, FOLLOWED, WORK_PANICS, WORK_STALLS] {
            counter!(counter, &labels).increment(0);
        }
        let [group, node] = labels.clone();
        // Only for the reasons that no person requested, because alerts watch these.
        for reason in LostReason::ALL.iter().filter(|end| !end.is_wanted()) {
            let reason = ("reason", reason.label().to_owned());
            counter!(LOST, &[group.clone(), node.clone(), reason]).increment(0);
        }
        drop(histogram!(LEADERLESS, &labels));
    }

    /// Counts an event that the agent's subscribers receive. `is_change` is set if another agent leads than before.
    pub(crate) fn told(self, event: &Event, is_change: bool) {
        let labels = self.labels();
        match event {
            Event::Acquired { term } => {
                counter!(ACQUIRED, &labels).increment(1);
                gauge!(IS_LEADER, &labels).set(1.0);
                show_term(&labels, *term);
            }
            Event::Renewed { term } => show_term(&labels, *term),
            Event::Lost { reason, .. } => {
                gauge!(IS_LEADER, &labels).set(0.0);
                let [group, node] = labels;
                let reason = ("reason", reason.label().to_owned());
                counter!(LOST, &[group, node, reason]).increment(1);
            }
            Event::NewLeader(leader) => {
                show_term(&labels, leader.term);
                if is_change {
                    counter!(FOLLOWED, &labels).increment(1);
                }
            }
            // A later core may have more variants: `tests/layering` finds the variants that this list lacks.
            Event::Draining { .. } | Event::NoLeader { .. } | Event::Voters(_) | _ => {}
        }
    }

    /// Records that the agent has a leader again after the time `leaderless`; `None` means that the agent has no
    /// leader.
    pub(crate) fn led_after(self, leaderless: Option<Duration>) {
        let labels = self.labels();
        gauge!(HAS_LEADER, &labels).set(if leaderless.is_some() { 1.0 } else { 0.0 });
        if let Some(leaderless) = leaderless {
            histogram!(LEADERLESS, &labels).record(leaderless.as_secs_f64());
        }
    }

    pub(crate) fn work_panicked(self) {
        counter!(WORK_PANICS, &self.labels()).increment(1);
    }

    pub(crate) fn work_stalled(self) {
        counter!(WORK_STALLS, &self.labels()).increment(1);
    }

    /// Adds the numbers of ticks of a schedule that the agent has begun, skipped, and begun without success.
    pub(crate) fn ticks(self, schedule: &str, counts: impl IntoIterator<Item = u64>) {
        let [group, node] = self.labels();
        let labels = [group, node, ("schedule", schedule.to_owned())];
        let names = [SCHEDULE_BEGUN, SCHEDULE_SKIPPED, SCHEDULE_FAILED];
        for (name, count) in names.into_iter().zip(counts) {
            counter!(name, &labels).increment(count);
        }
    }
}

/// The counts of a group at one moment.
#[derive(Debug)]
pub(crate) struct Sample<'a> {
    pub(crate) group: &'a str,
    pub(crate) counts: Counts,
    pub(crate) requirements: Option<Requirements>,
}

/// The metrics of an agent that change often. They stay the same through all incarnations of the agent.
pub(crate) struct AgentMeter {
    lease_left: Histogram,
    /// The time at which the counts of the group are due, by the agent's clock.
    due: AtomicU64,
    /// Other functions that show counts whenever the counts of the group are updated.
    others: Mutex<Vec<Sampler>>,
}

impl AgentMeter {
    pub(crate) fn new(series: AgentSeries<'_>) -> Self {
        series.begin();
        Self {
            lease_left: histogram!(LEASE_LEFT, &series.labels()),
            due: AtomicU64::new(0),
            others: Mutex::default(),
        }
    }

    /// Records the time that was left of a lease when it was renewed.
    pub(crate) fn renewed(&self, left: Duration) {
        self.lease_left.record(left.as_secs_f64());
    }

    /// Calls `show` whenever the counts are updated, until it returns false, which means that it has nothing more to
    /// show.
    pub(crate) fn also(&self, show: impl Fn() -> bool + Send + Sync + 'static) {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        others.push(Box::new(show));
    }

    /// Makes the next sample due at once, because the voters have changed.
    pub(crate) fn sample_soon(&self) {
        self.due.store(0, Relaxed);
    }

    /// Updates the counts of the group if they are due. `counts` returns them together with the group's name.
    pub(crate) fn sample<'a>(&self, now: Time, counts: impl FnOnce() -> Sample<'a>) {
        if now.as_nanos() < self.due.load(Relaxed) {
            return;
        }
        self.due.store(now.after(AGAIN).as_nanos(), Relaxed);
        let Sample {
            group,
            counts,
            requirements,
        } = counts();
        let group = || group.to_owned();
        if let Some(requirements) = requirements
            && let Some(electorate) = requirements.voters
        {
            gauge!(VOTERS, "group" => group()).set(f64::from(electorate.voters));
            show_number(EPOCH, &[("group", group())], requirements.epoch);
        }
        counter!(MESSAGES, "group" => group()).absolute(counts.sent);
        for (reason, dropped) in [
            ("mailbox_full", counts.full),
            ("mailbox_closed", counts.closed),
            ("stranger", counts.strangers),
            ("stale", counts.stale),
        ] {
            counter!(DROPPED, "group" => group(), "reason" => reason).absolute(dropped);
        }
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        others.retain(|show| show());
    }
}

#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "a gauge is a float; beyond 2^53 it rounds the number"
)]
fn show_number(name: &'static str, labels: &[(&'static str, String)], number: u64) {
    gauge!(name, labels).set(number as f64);
}

fn show_term(labels: &[(&'static str, String); 2], term: Term) {
    show_number(TERM, labels, term.0);
}

/// Shows counts. Returns false when it has nothing more to show.
type Sampler = Box<dyn Fn() -> bool + Send + Sync>;

/// Time between two updates of the counts. They are not updated for each message, because that would cost time.
const AGAIN: Duration = Duration::from_secs(5);
