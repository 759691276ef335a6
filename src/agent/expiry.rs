//! Reports to the subscribers that a leadership ran out while its agent did not run.
//!
//! Decided here: how the end is noticed. An agent that hangs, or waits for a disk, does not step, so its machine cannot
//! report that it lost the leadership. A task beside the agent therefore waits for the end by the agent's clock. The
//! task runs on the agent's arbiter, and only if there are subscribers. If the whole thread of that arbiter hangs, the
//! task sends nothing; then only `is_leader`, `changes` and `lead` on other threads report the end in time.

use std::{sync::Arc, time::Duration};

use crate::protocol::{Event, Incarnation, LostReason, Time, View};

use super::{phase::Remaining, shared::SharedState, wait::timer};

/// Time that the task waits before it reports the end of a leadership. An agent that runs has a timer for the same
/// instant and reports the end itself, with the reason: the task leaves the agent time to do so.
const GRACE: Duration = Duration::from_millis(10);

impl SharedState {
    /// Starts the task that waits for the end, if the leadership may run out and no such task runs.
    pub(super) fn tell_of_expiry(self: &Arc<Self>, view: &View) {
        let may_run_out = view.leading.is_some() && view.valid_until < Time::MAX;
        if may_run_out && self.subscribers().needs_expiry_task() {
            let task = tell_when_expired(Arc::clone(self));
            drop(actix::spawn(task)); // it ends with the leadership
        }
    }

    /// Sends the subscribers an `Acquired` if the leadership is valid again after they got a `Lost` because it had run
    /// out. If the agent hands over, work that begins now has to end too, and the hand-over waits for that work.
    pub(super) fn tell_of_return(&self, by: Incarnation, view: &View) {
        let Some(term) = view.leading else {
            return;
        };
        let regained = self.subscribers().regain(self.id(), by, term);
        if let Some(event) = regained {
            self.note_told(&event, false);
            if self.is_draining() {
                self.tell(by, &Event::Draining { term, to: None });
            }
        }
    }
}

async fn tell_when_expired(shared: Arc<SharedState>) {
    loop {
        if shared.subscribers().acquired().is_none() {
            return shared.subscribers().expiry_task_ended();
        }
        let remaining = shared.remaining();
        let wait = match remaining {
            Remaining::For(time) => shared.trusted(time),
            Remaining::Over => GRACE,
            // The leadership has no end now, so the task ends. The next step that gives it an end starts a task again.
            Remaining::Unlimited => return shared.subscribers().expiry_task_ended(),
        };
        match timer(wait) {
            Ok(timer) => timer.await,
            Err(_) => return shared.subscribers().expiry_task_ended(),
        }
        let mut subscribers = shared.subscribers();
        // The end is checked again after the grace period: the agent may have reported it in that time, or may lead
        // again.
        let is_over = remaining == Remaining::Over && shared.remaining() == Remaining::Over;
        if is_over && subscribers.acquired().is_some() {
            let lost = subscribers.lose(shared.id(), LostReason::Stalled);
            drop(subscribers);
            shared.log(lost);
        }
    }
}
