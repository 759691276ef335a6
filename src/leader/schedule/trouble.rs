//! The troubles of a schedule, as its leader knows them: agents that do not acknowledge it, and work that fails.
//!
//! Decided here: how failures in a row are counted, and the longest reason that is kept. Not here: when agents count as
//! silent and the pause before a tick is run again (`machine/`), and the sentence for an operator
//! (`agent/diagnosis/schedule.rs`).

use crate::{clock::WallTime, protocol::AgentId};

/// The agents that do not acknowledge a leader, while too few acknowledge it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Silence {
    /// Time of the first question that too few agents have answered.
    pub(super) since: WallTime,
    /// The agents that have not answered.
    pub(super) missing: Vec<AgentId>,
    /// The agents that refuse the due time, because it is too far ahead of their clocks.
    pub(super) early: Vec<AgentId>,
}

/// Ticks in a row whose work has failed, of one schedule under one leadership.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failing {
    /// The due time of the first tick of the row.
    pub(super) since: WallTime,
    /// Number of failures; a tick that is run again counts each time.
    pub(super) times: u32,
    /// The reason of the last failure, in one line.
    pub(super) reason: String,
}

impl Failing {
    /// Returns the row with one more failure.
    pub(super) fn and(before: Option<Self>, due: WallTime, reason: &str) -> Self {
        let (since, times) = before.map_or((due, 0), |row| (row.since, row.times));
        Self {
            since,
            times: times.saturating_add(1),
            reason: brief(reason),
        }
    }
}

/// Largest number of characters of a reason that are kept. The application wrote the reason, and a diagnosis is short.
const LONGEST: usize = 300;

/// Returns the reason in one line, and not too long.
pub(super) fn brief(reason: &str) -> String {
    let mut words = String::new();
    for word in reason.split(|char: char| char.is_whitespace() || char.is_control()) {
        if !words.is_empty() && !word.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    match words.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}..", words.split_at(end).0),
        None => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_one_short_line() {
        assert_eq!(
            brief("  it failed:\n\tno \u{1b}disk "),
            "it failed: no disk"
        );
        assert_eq!(brief(""), "");
        let long = brief(&"\u{e4}".repeat(10_000));
        assert_eq!(long.chars().count(), LONGEST + 2);
    }
}
