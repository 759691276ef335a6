//! Since when no leader has asked for the mark of a schedule.
//!
//! Decided here: when a question is noted, and when a mark may be forgotten: by an agent whose table is full (`register.rs`),
//! and in the store of a lease (`forget.rs`).

use std::time::Duration;

use crate::clock::WallTime;

/// A mark that no leader has asked for in this time may be forgotten. A leader asks for each of its own at least
/// [once a day](super::machine).
pub(super) const FORGOTTEN: Duration = Duration::from_secs(30 * 24 * 3_600);

/// Precision of the time of a question, so that a question alone is seldom stored.
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// The time to keep of a mark that a leader asks for `now`, where `asked` is kept.
pub(super) fn noted(asked: WallTime, now: WallTime) -> WallTime {
    if now.since(asked) >= DAY { now } else { asked }
}

/// Whether a mark may be forgotten that a leader asked for last at `asked`, or began last.
pub(super) fn is_forgotten(asked: WallTime, now: WallTime) -> bool {
    now.since(asked) > FORGOTTEN
}
