//! Removes the mark of a schedule for an operator.
//!
//! Decided here: nothing but a mark is removed, and a mark is removed only if it has not changed since it was read. Not
//! here: the content of a mark, which the schedules of a leader define.

use actix::clock::timeout;

use super::Keeper;
use crate::{
    protocol::AgentId,
    register::{RegisterError, Removal},
};

/// Outcome of a reset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MarkReset {
    Done,
    /// The store has no mark of this schedule.
    Absent,
    /// The group's agents keep the marks themselves, so no store has them.
    AtAgents,
    /// Nothing was removed, for this reason.
    Failed(String),
    /// The store has not answered: the mark may already be removed, or may be removed later.
    Unknown,
}

/// The beginning of every mark, by which it is recognized.
pub(crate) const MARK: &str = "actix-bully schedule 1";

impl Keeper {
    pub(crate) async fn reset_mark(&self, schedule: &AgentId) -> MarkReset {
        let (register, key) = match self.of_schedule(schedule) {
            Ok(place) => place,
            Err(reason) => return MarkReset::Failed(reason.to_string()),
        };
        let read = timeout(self.limit(), register.read(&key)).await;
        let entry = match read {
            Ok(Ok(Some(entry))) => entry,
            Ok(Ok(None)) => return MarkReset::Absent,
            Ok(Err(error)) => return MarkReset::Failed(error.to_string()),
            Err(_) => {
                return MarkReset::Failed(
                    "the store does not answer: ask again when it works".to_owned(),
                );
            }
        };
        let begin = format!(r#"{{"record":"{MARK}","#);
        if !entry.value.starts_with(begin.as_bytes()) {
            return MarkReset::Failed(format!(
                "{key} holds something else: look at it, and remove it by its own means if nothing needs it"
            ));
        }
        let Some(removing) = register.remove(&key, &entry) else {
            return MarkReset::Failed(format!(
                "the store cannot remove: remove {key} by its own means"
            ));
        };
        match timeout(self.limit(), removing).await {
            Ok(Ok(Removal::Done)) => MarkReset::Done,
            Ok(Ok(Removal::Conflict(None))) => MarkReset::Absent,
            Ok(Ok(Removal::Conflict(Some(_)))) => {
                MarkReset::Failed("it was written just then: ask again".to_owned())
            }
            Ok(Err(RegisterError::Unknown(_))) | Err(_) => MarkReset::Unknown,
            Ok(Err(error)) => MarkReset::Failed(error.to_string()),
        }
    }
}
