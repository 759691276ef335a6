//! The common part of the configurations of several elections.

use std::time::Duration;

use crate::protocol::{Detector, Timings};

/// Returns the failure detector of checked timings, or the detector of the default timings if they have none. So a
/// machine needs no rule for a configuration without a detector.
pub fn detector_of(timings: &Timings) -> Detector {
    timings.detector().unwrap_or(Detector {
        heartbeat: Duration::from_millis(180),
        detection: Duration::from_millis(900),
    })
}
