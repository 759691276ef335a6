//! The data for the work of a tick.

use std::fmt;

use actix::Message;

use crate::{agent::LeaderGuard, clock::WallTime, protocol::AgentId};

/// One tick of a schedule. It is identified by the schedule's name and the due time, which are the same at every agent.
#[derive(Clone, Message)]
#[rtype(result = "()")]
#[non_exhaustive]
pub struct Tick {
    /// The schedule's name.
    pub schedule: AgentId,
    /// The time at which the tick was due.
    pub due: WallTime,
    /// Whether the tick begins more than a second after its due time.
    pub is_late: bool,
    /// Whether the tick may have been run before, by this leader or another leader. Only with
    /// [`Misfire::AtLeastOnce`](super::Misfire::AtLeastOnce).
    pub is_repeat: bool,
    /// The leadership in which the tick runs; each write of the work carries its [fence](LeaderGuard::fence).
    pub leader: LeaderGuard,
}

impl Tick {
    /// Returns the identity as a text, `nightly@1767323045000`: a key for work that must not be done twice.
    pub fn key(&self) -> String {
        format!("{}@{}", self.schedule, self.due.as_millis())
    }
}

/// The result of the work of a tick: `()`, or a `Result` whose error makes the tick fail.
pub trait TickOutcome {
    /// Returns the error as a text, for the log and for the diagnosis of the leader. Operators see this text.
    ///
    /// # Errors
    /// The reason why the tick has failed.
    fn into_result(self) -> Result<(), String>;
}

/// The tick has succeeded.
impl TickOutcome for () {
    fn into_result(self) -> Result<(), String> {
        Ok(())
    }
}

impl<E: fmt::Display> TickOutcome for Result<(), E> {
    fn into_result(self) -> Result<(), String> {
        self.map_err(|reason| reason.to_string())
    }
}

impl fmt::Debug for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tick")
            .field("schedule", &self.schedule)
            .field("due", &self.due)
            .field("is_late", &self.is_late)
            .field("is_repeat", &self.is_repeat)
            .finish_non_exhaustive()
    }
}
