//! Settings that a user chooses in several modes of the bully election.

use crate::protocol::{Score, SettingError};

pub use crate::protocol::Preemption;

/// Refuses a margin with a negative part. Scores are compared part by part, and the part that decides is larger by at
/// least 1, so a negative part would have no effect.
pub(super) fn check_margin(margin: Option<Score>) -> Result<(), SettingError> {
    match margin {
        Some(margin) if margin.parts().iter().any(|part| *part < 0) => {
            let reason =
                format_args!("a margin of {margin} has a negative part: make each part 0 or more");
            Err(SettingError::new("margin", reason))
        }
        Some(_) | None => Ok(()),
    }
}
