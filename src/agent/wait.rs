//! Waiting for an instant of an agent's clock.
//!
//! Decided here: how long a timer may be trusted. A runtime's timers stop while the host is suspended
//! (`CLOCK_MONOTONIC`), but a clock that measures leases does not. So after a suspend, a timer for the end of a lease
//! would run for the rest of its time, and fire too late. Therefore the kernel waits by the clock that counts the
//! suspend ([`Alarm`]). If the kernel cannot wait in this way, the clock is read again every [`LOOK`]. If the agent's
//! clock stops during a suspend as well, one timer is enough.

use std::{
    future::pending,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use actix::{
    System,
    clock::{Sleep, sleep},
};
use futures::future::{Either, select};
use tokio::runtime::{Handle, RuntimeFlavor};

use crate::{clock::Alarm, protocol::Election};

use super::{
    ElectionHandle,
    leadership::Updates,
    phase::{Departure, Remaining},
    shared::SharedState,
};

/// Time between two readings of the clock in a wait for the end of a lease, if the kernel cannot wait.
///
/// If the lease ran out in a suspend, work that waits is dropped within this time after the suspend. Work that is
/// polled is dropped at once, because the clock is read before each poll.
const LOOK: Duration = Duration::from_millis(100);

/// The runtime has no timers, or there is no runtime.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoTimers;

/// Returns whether a task with timers can be spawned at this place: in a System, or in a task of a `LocalSet`.
pub(crate) fn can_spawn_here() -> bool {
    (System::try_current().is_some() || is_local_task()) && timer(Duration::ZERO).is_ok()
}

/// Returns whether the present thread has a runtime with timers.
pub(crate) fn has_timers() -> bool {
    timer(Duration::ZERO).is_ok()
}

/// Returns whether the present task may be a task of a `LocalSet`, where actors run without a System. Returns `false`
/// outside of all tasks, and on a runtime of many threads.
pub(super) fn is_local_task() -> bool {
    let is_task = tokio::task::try_id().is_some();
    let runtime = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    is_task && matches!(runtime, Ok(RuntimeFlavor::CurrentThread))
}

/// Returns a timer of the runtime that polls the caller.
pub(super) fn timer(after: Duration) -> Result<Sleep, NoTimers> {
    if Handle::try_current().is_err() {
        return Err(NoTimers);
    }
    // `sleep` panics if the runtime has no timers. There is no other way to ask a runtime whether it has them.
    catch_unwind(AssertUnwindSafe(|| sleep(after))).map_err(|_| NoTimers)
}

/// Returns the output of `future`, unless it takes longer than `limit`.
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

impl<E: Election> ElectionHandle<E> {
    /// Waits until the agent has ended for good without having been asked to end. After an end that was asked for, such
    /// as a drain, this waits for ever: the caller goes on until it is asked to end as well.
    pub(crate) fn retired(&self) -> impl Future<Output = ()> + Send + 'static + use<E> {
        let shared = Arc::clone(&self.shared);
        async move {
            let mut updates = shared.updates();
            loop {
                updates.mark_unchanged();
                match shared.departure() {
                    Some(Departure::Retired) => return,
                    Some(Departure::Left) => pending().await,
                    None => {}
                }
                if updates.changed().await.is_err() {
                    return pending().await;
                }
            }
        }
    }
}

impl SharedState {
    /// Waits until the tenure `serial` ends.
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

    /// Waits until the agent gets a newer tie than `tie`, or ends for good.
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

    /// Returns the part of a wait after which a timer is checked against the agent's clock. A clock that stops in a
    /// suspend needs no check.
    pub(super) fn trusted(&self, time: Duration) -> Duration {
        if self.counts_suspend() {
            time.min(LOOK)
        } else {
            time
        }
    }

    /// Returns an alarm after `time` of the agent's clock; `None` if the kernel cannot wait by that clock.
    fn alarm(&self, time: Duration) -> Option<Alarm> {
        self.is_boot_time()
            .then(|| Alarm::at(self.now().after(time)))
            .flatten()
    }

    /// Waits for an update, or until a leadership may have run out. Without timers it waits for an update only.
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
