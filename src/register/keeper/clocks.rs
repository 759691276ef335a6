//! The wall clocks of a group's contenders (the agents that could take the lease), and of its store.
//!
//! Decided here: which clock gives the time in an agent's row, and how the store's clock is read. Not here: the
//! consequence of a wrong clock, which the schedules of a leader decide. No lease depends on these clocks.

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

/// A reading of the clock of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadStoreClock {
    /// The time that the clock showed.
    pub(crate) wall: WallTime,
    /// Time from the question to the answer. When the answer came, the clock was ahead of `wall` by at most this time.
    pub(crate) within: Duration,
}

impl Keeper {
    /// Sets the clock that gives the time in the rows of this agent from now on.
    pub(crate) fn stamp_by(&self, id: &AgentId, clock: Arc<dyn WallClock>) {
        let mut walls = self.walls.lock().unwrap_or_else(PoisonError::into_inner);
        walls.insert(id.clone(), clock);
    }

    /// Returns the agent's wall time in milliseconds since 1970.
    pub(super) fn wall_of(&self, id: &AgentId) -> u64 {
        let walls = self.walls.lock().unwrap_or_else(PoisonError::into_inner);
        let own = walls.get(id).map(|clock| clock.now());
        own.unwrap_or_else(|| SystemWallClock.now()).as_millis()
    }

    /// Reads the rows again, and returns the clocks of all contenders except the agent `but`.
    pub(crate) async fn clocks_now(&self, but: &AgentId) -> Vec<ContenderClock> {
        // If the store fails, the last known rows are used.
        drop(self.list().await);
        self.roster().clocks(self.now(), but)
    }

    /// Returns the clock of the store, or `None` if the store has no clock or fails.
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
