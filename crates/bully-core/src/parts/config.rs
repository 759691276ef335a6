//! What the configurations of several elections have in common.

use std::time::Duration;

use crate::protocol::{Detector, Timings};

/// The failure detector of timings that passed a check; that of the default timings otherwise, so that
/// a machine need not decide twice what a configuration without one means.
pub fn detector_of(timings: &Timings) -> Detector {
    timings.detector().unwrap_or(Detector {
        heartbeat: Duration::from_millis(180),
        detection: Duration::from_millis(900),
    })
}
