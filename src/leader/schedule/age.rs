//! The age of a schedule's mark (the record of its progress): the time since a leader last asked for it.
//!
//! Decided here: when a question is noted, and when a mark may be forgotten, by an agent whose table is full
//! (`register.rs`) and in the store of a lease (`forget.rs`).

use std::time::Duration;

use crate::clock::WallTime;

/// Time after which a mark may be forgotten if no leader has asked for it. A leader asks for each of its marks at least
/// [once a day](super::machine).
pub(super) const FORGOTTEN: Duration = Duration::from_secs(30 * 24 * 3_600);

/// Precision of the stored time at which a leader last asked. So most questions do not change the store.
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// Returns the time to store after a leader has asked at `now`; `asked` is the time that was stored before.
pub(super) fn noted(asked: WallTime, now: WallTime) -> WallTime {
    if now.since(asked) >= DAY { now } else { asked }
}

/// Returns whether a mark may be forgotten. `asked` is the time of a leader's last question for it, or of its last
/// tick.
pub(super) fn is_forgotten(asked: WallTime, now: WallTime) -> bool {
    now.since(asked) > FORGOTTEN
}
