//! The record of one schedule in the store of a lease, as JSON, which operators can read in their store.
//!
//! Decided here: the format of the record. A record in another format is refused. Not here: when a record is written
//! (`marks.rs`) and removed (`forget.rs`).

use serde::{Deserialize, Serialize};

use crate::{
    clock::WallTime, elections::lease::LeaseName, protocol::AgentId, register::keeper::MARK,
};

use super::{
    age,
    message::{LeaderBallot, Mark},
};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MarkRecord {
    /// Names the kind and the format of the record; always [`MARK`].
    pub(super) record: String,
    pub(super) cluster: AgentId,
    pub(super) group: AgentId,
    pub(super) schedule: AgentId,
    /// The latest leader that asked for the mark: an earlier leader is refused.
    pub(super) leader: LeaderBallot,
    /// `None` until a leader has written a mark.
    pub(super) mark: Option<Mark>,
    /// Time of a leader's last question, by the leader's wall clock, with the precision of a day.
    pub(super) asked: WallTime,
}

impl MarkRecord {
    /// Decodes the record of the schedule `schedule`.
    ///
    /// # Errors
    /// The reason why the entry is another record.
    pub(super) fn decode(
        name: &LeaseName,
        schedule: &AgentId,
        value: &[u8],
    ) -> Result<Self, String> {
        let record: Self = serde_json::from_slice(value).map_err(|reason| reason.to_string())?;
        if record.record != MARK {
            return Err(format!("{:?} is not {MARK:?}", record.record));
        }
        let named = (&record.cluster, &record.group, &record.schedule);
        if named != (&name.cluster, &name.group, schedule) {
            let (cluster, group, schedule) = named;
            return Err(format!("it is of {cluster}/{group}/{schedule}"));
        }
        Ok(record)
    }

    /// Returns whether the record may be removed, because no leader has asked for it for a long time.
    pub(super) fn is_forgotten(&self, now: WallTime) -> bool {
        let begun = self.mark.map(|mark| mark.begun).unwrap_or_default();
        age::is_forgotten(self.asked.max(begun), now)
    }
}
