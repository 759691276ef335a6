//! Waiting for an instant of a belief's clock.
//!
//! Decided here: how long a timer may be trusted. A runtime's timers stand still while the host is
//! suspended (`CLOCK_MONOTONIC`), and a clock that leases are measured by does not: a wait for a
//! lease's end would wake late by as long as it had still to run. So it looks at the clock again
//! every [`LOOK`]; where the clock stands still as well, one timer is enough.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    time::Duration,
};

use actix::clock::{Sleep, sleep};
use futures::future::{Either, select};
use tokio::runtime::Handle;

use super::{belief::Belief, news::Bell, tenure::Remaining};

/// How often a wait for the end of a lease looks at the clock.
///
/// It bounds for how long work that is not polled outlives a lease that ran out in a suspend; work
/// that is polled is dropped instead, because the clock is read first.
const LOOK: Duration = Duration::from_millis(100);

/// There is no runtime here that has timers.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoTimers;

/// Ends after so long, by the timers of the runtime that polls the caller.
pub(super) fn timer(after: Duration) -> Result<Sleep, NoTimers> {
    if Handle::try_current().is_err() {
        return Err(NoTimers);
    }
    // There is no other way to ask a runtime whether its timers are enabled.
    catch_unwind(AssertUnwindSafe(|| sleep(after))).map_err(|_| NoTimers)
}

/// What `future` came to, unless that took longer than `limit`.
pub(super) async fn within<T>(
    limit: Duration,
    future: impl Future<Output = T>,
) -> Result<Option<T>, NoTimers> {
    let timer = pin!(timer(limit)?);
    match select(pin!(future), timer).await {
        Either::Left((came, _)) => Ok(Some(came)),
        Either::Right(_) => Ok(None),
    }
}

impl Belief {
    /// Ends when that leadership does.
    pub(super) async fn over(&self, serial: u64) {
        let mut bell = self.bell();
        loop {
            bell.mark_unchanged();
            match self.remaining(serial) {
                Remaining::Over => return,
                rest @ (Remaining::Unlimited | Remaining::For(_)) => {
                    self.stirs(rest, &mut bell).await;
                }
            }
        }
    }

    /// For how long a timer is trusted that waits for so much of the belief's time.
    pub(super) fn trusted(&self, rest: Duration) -> Duration {
        if self.counts_suspend() {
            rest.min(LOOK)
        } else {
            rest
        }
    }

    /// Ends when there is something to look at: news, or a leadership that may have run out.
    /// Without timers, news alone.
    pub(super) async fn stirs(&self, rest: Remaining, bell: &mut Bell) {
        let timer = match rest {
            Remaining::Over => return,
            Remaining::Unlimited => Err(NoTimers),
            Remaining::For(rest) => timer(self.trusted(rest)),
        };
        let news = pin!(bell.changed());
        match timer {
            Ok(timer) => {
                select(news, pin!(timer)).await;
            }
            Err(NoTimers) => {
                news.await.ok();
            }
        }
    }
}
