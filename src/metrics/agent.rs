//! What is measured of one agent, and of its group.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use ::metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};

use crate::{
    group::Counts,
    protocol::{Event, LostReason, Term, Time},
};

use super::{
    ACQUIRED, DROPPED, FOLLOWED, HAS_LEADER, IS_LEADER, LEADERLESS, LEASE_LEFT, LOST, MESSAGES,
    TERM, WORK_PANICS, WORK_STALLS,
};

/// The instruments of one agent, through all its incarnations.
pub(crate) struct AgentMeter {
    group: String,
    node: String,
    is_leader: Gauge,
    has_leader: Gauge,
    term: Gauge,
    acquired: Counter,
    followed: Counter,
    leaderless: Histogram,
    lease_left: Histogram,
    panics: Counter,
    stalls: Counter,
    /// When the counts of the group are due, by the agent's clock.
    due: AtomicU64,
    /// What else shows its counts then.
    others: Mutex<Vec<Sampler>>,
}

impl AgentMeter {
    pub(crate) fn new(group: &str, node: &str) -> Self {
        let labels = [("group", group.to_owned()), ("node", node.to_owned())];
        let meter = Self {
            is_leader: gauge!(IS_LEADER, &labels),
            has_leader: gauge!(HAS_LEADER, &labels),
            term: gauge!(TERM, &labels),
            acquired: counter!(ACQUIRED, &labels),
            followed: counter!(FOLLOWED, &labels),
            leaderless: histogram!(LEADERLESS, &labels),
            lease_left: histogram!(LEASE_LEFT, &labels),
            panics: counter!(WORK_PANICS, &labels),
            stalls: counter!(WORK_STALLS, &labels),
            due: AtomicU64::new(0),
            others: Mutex::default(),
            group: group.to_owned(),
            node: node.to_owned(),
        };
        // There from the start, so that an alert sees an agent that never leads.
        meter.is_leader.set(0.0);
        meter.has_leader.set(0.0);
        meter
    }

    /// What the agent's subscribers are told. `is_change` says that another agent leads than before.
    pub(crate) fn told(&self, event: &Event, is_change: bool) {
        match event {
            Event::Acquired { term } => {
                self.acquired.increment(1);
                self.is_leader.set(1.0);
                self.term(*term);
            }
            Event::Renewed { term } => self.term(*term),
            Event::Draining { .. } | Event::NoLeader { .. } => {}
            Event::Lost { reason, .. } => {
                self.is_leader.set(0.0);
                let reason = name(*reason);
                let (group, node) = (self.group.clone(), self.node.clone());
                counter!(LOST, "group" => group, "node" => node, "reason" => reason).increment(1);
            }
            Event::NewLeader(leader) => {
                self.term(leader.term);
                if is_change {
                    self.followed.increment(1);
                }
            }
        }
    }

    #[expect(
        clippy::as_conversions,
        clippy::cast_precision_loss,
        reason = "a gauge is a float; beyond 2^53 it rounds the term"
    )]
    fn term(&self, term: Term) {
        self.term.set(term.0 as f64);
    }

    /// The agent has a leader after that time without one; or `None`, and it has none.
    pub(crate) fn led_after(&self, leaderless: Option<Duration>) {
        self.has_leader
            .set(if leaderless.is_some() { 1.0 } else { 0.0 });
        if let Some(leaderless) = leaderless {
            self.leaderless.record(leaderless.as_secs_f64());
        }
    }

    /// A lease was renewed with so much of it left.
    pub(crate) fn renewed(&self, left: Duration) {
        self.lease_left.record(left.as_secs_f64());
    }

    pub(crate) fn work_panicked(&self) {
        self.panics.increment(1);
    }

    pub(crate) fn work_stalled(&self) {
        self.stalls.increment(1);
    }

    /// Calls `show` whenever counts are brought up to date, until it says that it has nothing to show any more.
    pub(crate) fn also(&self, show: impl Fn() -> bool + Send + Sync + 'static) {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        others.push(Box::new(show));
    }

    /// Brings the counts of the group up to date, if that is due.
    pub(crate) fn sample(&self, now: Time, counts: impl FnOnce() -> Counts) {
        if now.as_nanos() < self.due.load(Relaxed) {
            return;
        }
        self.due.store(now.after(AGAIN).as_nanos(), Relaxed);
        let counts = counts();
        let group = || self.group.clone();
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

/// Shows counts; says whether there will be more.
type Sampler = Box<dyn Fn() -> bool + Send + Sync>;

/// The label of a reason.
const fn name(reason: LostReason) -> &'static str {
    match reason {
        LostReason::Outranked => "outranked",
        LostReason::Superseded => "superseded",
        LostReason::Resigned => "resigned",
        LostReason::Stalled => "stalled",
        LostReason::Ended => "ended",
        LostReason::LeaseExpired => "lease_expired",
        LostReason::Isolated => "isolated",
        LostReason::Reorganized => "reorganized",
    }
}

/// How often counts are brought up to date.
const AGAIN: Duration = Duration::from_secs(5);
