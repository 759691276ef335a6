//! The timers of a lease, each with the time at which it is due.
//!
//! Decided here: only the clock decides whether a time has come; a timer that fires early is set again. Not here: the
//! action at that time.

use std::{collections::BTreeMap, time::Duration};

use super::{BullyTimer, Out};
use crate::protocol::{After, Time};

/// The timers that run, each with the time at which it is due.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Alarms(BTreeMap<BullyTimer, Time>);

impl Alarms {
    /// Sets this timer to this span from now. A former setting is replaced.
    pub(super) fn set(&mut self, timer: BullyTimer, now: Time, span: Duration, out: &mut Out) {
        self.0.insert(timer, now.after(span));
        out.set_timer(timer, span);
    }

    /// Sets this timer to the time `due`, unless the timer already has that time. The driver may add up to `jitter`.
    pub(super) fn set_to(
        &mut self,
        timer: BullyTimer,
        now: Time,
        due: Time,
        jitter: Duration,
        out: &mut Out,
    ) {
        if self.0.insert(timer, due) != Some(due) {
            out.set_timer(timer, After::jittered(due.since(now), jitter));
        }
    }

    pub(super) fn stop(&mut self, timer: BullyTimer, out: &mut Out) {
        if self.0.remove(&timer).is_some() {
            out.cancel_timer(timer);
        }
    }

    /// Handles a timer that has fired. Returns whether its time has come. If so, the timer no longer runs; otherwise
    /// this function sets it again.
    pub(super) fn is_due(&mut self, timer: BullyTimer, now: Time, out: &mut Out) -> bool {
        let Some(due) = self.0.get(&timer).copied() else {
            return false;
        };
        if now < due {
            out.set_timer(timer, due.since(now));
            return false;
        }
        self.0.remove(&timer);
        true
    }

    pub(super) fn due(&self, timer: BullyTimer) -> Option<Time> {
        self.0.get(&timer).copied()
    }
}
