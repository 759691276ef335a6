//! The common part of the configurations of several elections.
//!
//! Decided here: the checks that several elections make, and the words of their errors.

use std::{fmt, ops::RangeInclusive, time::Duration};

use crate::protocol::{Detector, SettingError, Timings};

/// Checks that the value of a setting is within its limits. `reason` completes the error: it is the reason for the
/// limits.
///
/// # Errors
/// [`SettingError`] with the value and the limits.
pub fn check_range<T: Copy + PartialOrd + fmt::Debug>(
    setting: &'static str,
    value: T,
    limits: RangeInclusive<T>,
    reason: impl fmt::Display,
) -> Result<(), SettingError> {
    if limits.contains(&value) {
        return Ok(());
    }
    let (least, most) = limits.into_inner();
    let refused = format_args!(
        "`{setting}` is {value:?}, which is out of range, because {reason}: choose {least:?} to {most:?}"
    );
    Err(SettingError::new(setting, refused))
}

/// Checks that timings have a failure detector. `election` is the part that needs the detector, such as "a ring".
///
/// # Errors
/// [`SettingError`] if the timings have no failure detector.
pub fn check_detector(timings: &Timings, election: &str) -> Result<Detector, SettingError> {
    timings.detector().ok_or_else(|| {
        let reason = format_args!(
            "these timings have no failure detector, and {election} needs one: choose other timings, such as Timings::default()"
        );
        SettingError::new("timings", reason)
    })
}

/// Returns the failure detector of the timings, or the detector of the default timings if the timings have none. The
/// check has already refused timings without a detector, so a machine needs no rule for them.
pub fn detector_of(timings: &Timings) -> Detector {
    timings.detector().unwrap_or(Detector {
        heartbeat: Duration::from_millis(180),
        detection: Duration::from_millis(900),
    })
}
