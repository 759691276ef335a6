//! Reads the stream of a schedule: each agent reads its own stream, as long as the schedule lasts.
//!
//! Decided here: the pace of the reading, so that no stream keeps its arbiter busy. A panic of a stream ends only this
//! stream. Not here: which due times are taken, and when reading continues (`window.rs`).

use std::{
    future::poll_fn,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
};

use actix::clock::sleep;
use futures::{
    StreamExt,
    future::{Either, select},
    stream::BoxStream,
};
use tokio::{
    sync::{Notify, futures::Notified},
    task::yield_now,
};
use tracing::{error, info, warn};

use crate::{
    agent::schedules::{ScheduleState, StatusRecord},
    clock::{WallClock, WallTime},
    protocol::AgentId,
    supervisor::contain,
};

use super::{
    clock_watch::LOOK,
    due::DueTimes,
    planner::Misfire,
    window::{DueWindow, Frontier, MOST, Offer},
};

/// The due times that a stream has given, shared by the schedule and the reader of the stream. Both run in one task.
#[derive(Debug, Default)]
pub(super) struct DueStream {
    window: Mutex<DueWindow>,
    /// The signal that the stream has given a due time to the window.
    told: Notify,
    /// The signal that there may be room for due times again.
    room: Notify,
    /// The signal that all due times of the stream are handled.
    done: Notify,
}

impl DueStream {
    /// Waits until the stream has given a due time.
    pub(super) fn told(&self) -> Notified<'_> {
        self.told.notified()
    }

    /// Notes the progress of the leader. `is_idle` means that no due time is left to run.
    pub(super) fn lead(&self, frontier: Frontier, is_idle: bool) {
        let mut window = self.window();
        if window.lead(frontier) {
            self.room.notify_one();
        }
        if is_idle && window.has_ended() {
            self.done.notify_one();
        }
    }

    /// Notes that the agent does not lead any more.
    pub(super) fn follow(&self) {
        self.window().follow();
    }

    fn window(&self) -> MutexGuard<'_, DueWindow> {
        // A poisoned lock is still used: each change under it is one step, so a panic leaves no change half made.
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DueTimes for Arc<DueStream> {
    fn next_after(&self, time: WallTime) -> Option<WallTime> {
        self.window().times().next_after(time)
    }
}

/// Reads a stream into its window.
pub(super) struct Feed {
    pub(super) schedule: AgentId,
    pub(super) stream: BoxStream<'static, WallTime>,
    pub(super) window: Arc<DueStream>,
    pub(super) misfire: Misfire,
    pub(super) clock: Arc<dyn WallClock>,
    pub(super) record: Arc<StatusRecord>,
}

impl Feed {
    /// Returns the due times that the stream has given so far, for use in place of a rule.
    pub(super) fn times(&self) -> Box<dyn DueTimes> {
        Box::new(Arc::clone(&self.window))
    }

    /// Reads the stream until it has ended and all of its due times are run. Returns the final state of the schedule.
    pub(super) async fn run(mut self) -> ScheduleState {
        let end = self.read().await;
        let schedule = &self.schedule;
        self.window.window().end();
        self.window.told.notify_one();
        self.window.done.notified().await;
        info!(%schedule, "schedule done: its stream has ended, and so has the last tick");
        end
    }

    async fn read(&mut self) -> ScheduleState {
        let mut in_a_row = FeedPace::default();
        loop {
            while !self.has_room() {
                let room = pin!(self.window.room.notified());
                select(room, pin!(sleep(LOOK))).await;
            }
            let due = match self.next().await {
                Ok(Some(due)) => due,
                Ok(None) => return ScheduleState::Done,
                Err(reason) => {
                    let schedule = &self.schedule;
                    error!(%schedule, reason, "stream of a schedule panicked: the schedule ends");
                    return ScheduleState::Ended;
                }
            };
            let offer = self.offer(due);
            match in_a_row.read(offer) {
                Rest::No => {}
                Rest::Yield => yield_now().await,
                Rest::Look => sleep(LOOK).await,
            }
        }
    }

    fn has_room(&self) -> bool {
        let now = self.clock.now();
        self.window.window().has_room(self.misfire, now)
    }

    /// Returns the next due time of the stream, or the text of its panic.
    async fn next(&mut self) -> Result<Option<WallTime>, String> {
        let stream = &mut self.stream;
        poll_fn(|task| match contain(|| stream.poll_next_unpin(task)) {
            Ok(polled) => polled.map(Ok),
            Err(reason) => Poll::Ready(Err(reason)),
        })
        .await
    }

    fn offer(&self, due: WallTime) -> Offer {
        let (offer, misordered) = {
            let mut window = self.window.window();
            (window.offer(due), window.misordered())
        };
        match offer {
            Offer::Taken => self.window.told.notify_one(),
            Offer::Passed => {}
            Offer::Misordered => {
                self.record.note_misordered(misordered);
                if misordered == 1 {
                    let schedule = &self.schedule;
                    warn!(
                        %schedule, %due,
                        "stream of a schedule gave a due time again or too late: such times are counted and not run"
                    );
                }
            }
        }
        offer
    }
}

/// Counts the due times that were read in a row without a pause.
#[derive(Debug, Default)]
struct FeedPace {
    read: usize,
    misordered: usize,
}

/// The pause before the next due time is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    No,
    Yield,
    Look,
}

/// Largest number of ready due times in a row, before other tasks of the arbiter run.
const BURST: usize = 64;

impl FeedPace {
    /// Notes that a due time was read, and returns the pause before the next due time: after many in a row, a pause is
    /// due.
    fn read(&mut self, offer: Offer) -> Rest {
        self.read = self.read.saturating_add(1);
        self.misordered = match offer {
            Offer::Misordered => self.misordered.saturating_add(1),
            Offer::Taken | Offer::Passed => 0,
        };
        // A stream whose due times are all dropped as misordered must not keep the arbiter busy.
        if self.misordered >= MOST {
            *self = Self::default();
            return Rest::Look;
        }
        if self.read >= BURST {
            self.read = 0;
            return Rest::Yield;
        }
        Rest::No
    }
}

/// Runs the future `led` of a schedule. With a stream, `led` ends when all due times of the stream are handled.
pub(super) async fn until_done(led: impl Future<Output = ()>, feed: Option<Feed>) -> ScheduleState {
    let led = pin!(led);
    let Some(feed) = feed else {
        led.await;
        return ScheduleState::Ended;
    };
    match select(led, pin!(feed.run())).await {
        Either::Left(((), _)) => ScheduleState::Ended,
        // The future `led` is dropped, as by a stop: the agent continues to lead without the schedule.
        Either::Right((end, _)) => end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_has_more_than_anybody_needs_lets_others_run() {
        let mut pace = FeedPace::default();
        let rests: Vec<_> = (0..2 * BURST).map(|_| pace.read(Offer::Passed)).collect();
        let yields = rests.iter().filter(|rest| **rest == Rest::Yield).count();
        assert_eq!((yields, rests[BURST - 1]), (2, Rest::Yield));
        let mut pace = FeedPace::default();
        let rests: Vec<_> = (0..4 * MOST)
            .map(|_| pace.read(Offer::Misordered))
            .collect();
        let looks = rests.iter().filter(|rest| **rest == Rest::Look).count();
        assert_eq!((looks, rests[MOST - 1]), (4, Rest::Look));
    }
}
