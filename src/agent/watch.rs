//! Tells the subscribers of a leadership that ran out while its agent did not run.
//!
//! Decided here: who notices. An agent that hangs, or waits for a disk, has no step in which its
//! machine could say that it lost the leadership, so a task beside it waits for the end by the
//! belief's clock. It runs on the agent's arbiter, and only where somebody subscribed: where that
//! whole thread stands still nothing is sent from it, and `is_leader`, `changes` and `lead` of
//! other threads are what tells the end in time.

use std::{sync::Arc, time::Duration};

use tracing::warn;

use crate::protocol::{LostReason, Time, View};

use super::{belief::Belief, tenure::Remaining, wait::timer};

/// An agent that runs says itself why its leadership ended, by a timer of the same instant.
const GRACE: Duration = Duration::from_millis(10);

impl Belief {
    /// Has a leadership's end watched that might come without a word of the agent. After each step
    /// of a leader; there is one watch at most.
    pub(super) fn have_watched(self: &Arc<Self>, view: &View) {
        let may_run_out = view.leading.is_some() && view.valid_until < Time::MAX;
        if may_run_out && self.audience().needs_watch() {
            let watch = watch(Arc::clone(self));
            drop(actix::spawn(watch)); // it ends with the leadership
        }
    }
}

async fn watch(belief: Arc<Belief>) {
    loop {
        if belief.audience().acquired().is_none() {
            return belief.audience().unwatched();
        }
        let wait = match belief.rest() {
            Remaining::For(rest) => belief.trusted(rest),
            Remaining::Over => GRACE,
            Remaining::Unlimited => return belief.audience().unwatched(), // the next step asks again
        };
        let was_over = belief.rest() == Remaining::Over;
        match timer(wait) {
            Ok(timer) => timer.await,
            Err(_) => return belief.audience().unwatched(),
        }
        let mut audience = belief.audience();
        if was_over && belief.rest() == Remaining::Over && audience.acquired().is_some() {
            warn!(node = %belief.id(), "leadership ran out: the agent has not run");
            audience.lose(belief.id(), LostReason::Stalled);
        }
    }
}
