//! The common part of the configurations of several elections.
//!
//! Decided here: the checks that several elections make, and the words of their errors.

use std::time::Duration;

use crate::protocol::{Detector, SettingError, Timings};

/// Checks that timings have a failure detector. `election` names the part that needs one, such as "a ring".
///
/// # Errors
/// [`SettingError`] if they have none.
pub fn check_detector(timings: &Timings, election: &str) -> Result<Detector, SettingError> {
    timings.detector().ok_or_else(|| {
        let reason = format_args!(
            "these timings have no failure detector, and {election} needs one: choose other timings, such as Timings::default()"
        );
        SettingError::new("timings", reason)
    })
}

/// Returns the failure detector of checked timings, or the detector of the default timings if they have none. So a
/// machine needs no rule for a configuration without a detector.
pub fn detector_of(timings: &Timings) -> Detector {
    timings.detector().unwrap_or(Detector {
        heartbeat: Duration::from_millis(180),
        detection: Duration::from_millis(900),
    })
}
