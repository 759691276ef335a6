//! Waiting for an instant of an agent's clock.
//!
//! Decided here: how long a timer may be trusted. A runtime's timers stop while the host is
//! suspended (`CLOCK_MONOTONIC`), and a clock that leases are measured by does not: a wait for a
//! lease's end would wake late by as long as it had still to run. So the kernel waits by that clock
//! ([`Alarm`]). Where it cannot, the clock is looked at again every [`LOOK`]; where the clock stops as well, one timer is
//! enough.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    time::Duration,
};

use actix::{
    System,
    clock::{Sleep, sleep},
};
use futures::future::{Either, select};
use tokio::runtime::{Handle, RuntimeFlavor};

use crate::clock::Alarm;

use super::{leadership::Updates, phase::Remaining, shared::SharedState};

/// How often a wait for the end of a lease looks at the clock.
///
/// It bounds for how long work that is not polled outlives a lease that ran out in a suspend; work
/// that is polled is dropped instead, because the clock is read first.
const LOOK: Duration = Duration::from_millis(100);

/// There is no runtime here that has timers.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoTimers;

/// Whether a task with timers can be spawned here: in a System, or in a task of a `LocalSet`.
pub(crate) fn can_spawn_here() -> bool {
    (System::try_current().is_some() || is_local_task()) && timer(Duration::ZERO).is_ok()
}

/// Whether there is a runtime with timers here.
pub(crate) fn has_timers() -> bool {
    timer(Duration::ZERO).is_ok()
}

/// Whether this may be a task of a `LocalSet`, where actors run without a System. It surely is none
/// outside of all tasks, and on a runtime of many threads.
pub(super) fn is_local_task() -> bool {
    let is_task = tokio::task::try_id().is_some();
    let runtime = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    is_task && matches!(runtime, Ok(RuntimeFlavor::CurrentThread))
}

/// Ends after so long, by the timers of the runtime that polls the caller.
pub(super) fn timer(after: Duration) -> Result<Sleep, NoTimers> {
    if Handle::try_current().is_err() {
        return Err(NoTimers);
    }
    // There is no other way to ask a runtime whether its timers are enabled.
    catch_unwind(AssertUnwindSafe(|| sleep(after))).map_err(|_| NoTimers)
}

/// The output of `future`, unless that took longer than `limit`.
pub(super) async fn within<T>(
    limit: Duration,
    future: impl Future<Output = T>,
) -> Result<Option<T>, NoTimers> {
    let timer = pin!(timer(limit)?);
    match select(pin!(future), timer).await {
        Either::Left((output, _)) => Ok(Some(output)),
        Either::Right(_) => Ok(None),
    }
}

impl SharedState {
    /// Ends when that tenure does.
    pub(super) async fn until_over(&self, serial: u64) {
        let mut updates = self.updates();
        loop {
            updates.mark_unchanged();
            match self.remaining_of(serial) {
                Remaining::Over => return,
                remaining @ (Remaining::Unlimited | Remaining::For(_)) => {
                    self.update_or_expiry(remaining, &mut updates).await;
                }
            }
        }
    }

    /// Ends when the agent is tied to another actor than by that number, or ends for good.
    pub(super) async fn until_replaced(&self, tie: u64) {
        let mut updates = self.updates();
        loop {
            updates.mark_unchanged();
            let is_replaced = !self.has_tie(tie) || self.is_over();
            if is_replaced || updates.changed().await.is_err() {
                return;
            }
        }
    }

    /// For how long a timer is trusted that waits for so much of the agent's time.
    pub(super) fn trusted(&self, time: Duration) -> Duration {
        if self.counts_suspend() {
            time.min(LOOK)
        } else {
            time
        }
    }

    /// Rings after so much of the agent's time, where the kernel can wait for that.
    fn alarm(&self, time: Duration) -> Option<Alarm> {
        self.is_boot_time()
            .then(|| Alarm::at(self.now().after(time)))
            .flatten()
    }

    /// Ends when there is something to look at: an update, or a leadership that may have run out.
    /// Without timers it ends with an update only.
    pub(super) async fn update_or_expiry(&self, remaining: Remaining, updates: &mut Updates) {
        let update = pin!(updates.changed());
        let timer = match remaining {
            Remaining::Over => return,
            Remaining::Unlimited => Err(NoTimers),
            Remaining::For(time) => {
                if let Some(alarm) = self.alarm(time) {
                    select(update, pin!(alarm.rung())).await;
                    return;
                }
                timer(self.trusted(time))
            }
        };
        match timer {
            Ok(timer) => {
                select(update, pin!(timer)).await;
            }
            Err(NoTimers) => {
                update.await.ok();
            }
        }
    }
}
