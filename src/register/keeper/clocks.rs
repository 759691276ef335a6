//! The wall clocks of a group's contenders, and of its store.
//!
//! Decided here: by which clock a row is stamped, and how the store's clock is read. Not here: what follows from a clock that
//! is off, which is for the schedules of a leader. No lease depends on it.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use actix::clock::timeout;

use super::{ContenderClock, Keeper};
use crate::{
    clock::{SystemWallClock, WallClock, WallTime},
    protocol::AgentId,
};

/// The clock of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadStoreClock {
    /// What it showed.
    pub(crate) wall: WallTime,
    /// The time of the answer: it showed that much more at most when the answer came.
    pub(crate) within: Duration,
}

impl Keeper {
    /// The rows of that agent are stamped by that clock from now on.
    pub(crate) fn stamp_by(&self, id: &AgentId, clock: Arc<dyn WallClock>) {
        let mut walls = self.walls.lock().unwrap_or_else(PoisonError::into_inner);
        walls.insert(id.clone(), clock);
    }

    /// In milliseconds since 1970.
    pub(super) fn wall_of(&self, id: &AgentId) -> u64 {
        let walls = self.walls.lock().unwrap_or_else(PoisonError::into_inner);
        let own = walls.get(id).map(|clock| clock.now());
        own.unwrap_or_else(|| SystemWallClock.now()).as_millis()
    }

    /// The clocks of the contenders but that one, after the rows were read once more.
    pub(crate) async fn clocks_now(&self, but: &AgentId) -> Vec<ContenderClock> {
        // What is known of the rows stays if the store fails.
        drop(self.list().await);
        self.roster().clocks(self.now(), but)
    }

    /// The clock of the store; `None` if it has none, or fails.
    pub(crate) async fn store_clock(&self) -> Option<ReadStoreClock> {
        let reading = self.settings.register.clock()?;
        let begun = self.now();
        let millis = timeout(self.limit(), reading).await.ok()?.ok()?;
        Some(ReadStoreClock {
            wall: WallTime::from_millis(millis),
            within: self.now().since(begun),
        })
    }
}
