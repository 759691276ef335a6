//! The section `timings`: a preset, and the durations that differ from it.
//!
//! Decided here: the keys of the section, and the preset of a section that names no preset. Not here: the relations
//! between the durations, which [`Timings`] checks.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::protocol::{SettingError, Timings};

use super::{
    Config, ConfigError, TimingsPreset,
    value::{leaf, unset},
};

/// The choice of a preset of [`Timings`], and the durations that differ from the preset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TimingsSettings {
    /// Preset for the durations that are not set. Default: [`TimingsPreset::Default`]; with a lease in Kubernetes
    /// [`TimingsPreset::Wan`], since each renewal is a write to the API server.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub preset: Option<TimingsPreset>,
    /// d: longest time from the sending of a message until its receiver has handled it.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub delay_bound: Option<Duration>,
    /// T: time for which a candidate waits for members that do not answer.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub deadline: Option<Duration>,
    /// H: time between two heartbeats of a leader.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub heartbeat: Option<Duration>,
    /// L: length of a silence after which members consider the leader gone.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub detection: Option<Duration>,
    /// S: additional time for which each lower rank waits before it starts an election.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub step: Option<Duration>,
    /// J: largest random extra time of a wait that several agents may begin at the same moment.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub jitter: Option<Duration>,
    /// E: length of one round of questions in quorum mode.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub round: Option<Duration>,
    /// D: length of the lease of the quorum mode.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub lease: Option<Duration>,
    /// P: length of the promise of the quorum mode.
    #[serde(with = "leaf", skip_serializing_if = "unset")]
    pub promise: Option<Duration>,
}

/// Returns settings in which all durations are set, so that the preset does not matter.
impl From<&Timings> for TimingsSettings {
    fn from(timings: &Timings) -> Self {
        let detector = timings.detector();
        Self {
            preset: None,
            delay_bound: Some(timings.delay_bound()),
            deadline: Some(timings.deadline()),
            heartbeat: detector.map(|detector| detector.heartbeat),
            detection: detector.map(|detector| detector.detection),
            step: Some(timings.step()),
            jitter: Some(timings.jitter()),
            round: Some(timings.round()),
            lease: Some(timings.lease()),
            promise: Some(timings.promise()),
        }
    }
}

impl Config {
    /// Returns the durations of the election. A duration that is not set comes from the configured preset, or else from
    /// the usual preset.
    pub(super) fn all_timings(&self) -> Result<Timings, ConfigError> {
        // In Kubernetes each renewal of a lease is a write to the API server, so the slow preset is the usual one.
        let usual = if self.lease.kubernetes {
            TimingsPreset::Wan
        } else {
            TimingsPreset::Default
        };
        self.timings.timings(usual)
    }
}

impl TimingsSettings {
    /// Returns the durations. If the configuration has no preset, `usual` is used.
    pub(super) fn timings(&self, usual: TimingsPreset) -> Result<Timings, ConfigError> {
        let preset = self.preset.unwrap_or(usual).timings();
        let (lease, promise) = (preset.lease(), preset.promise());
        let detector = preset.detector();
        let mut builder = preset.to_builder();
        set!(builder, self: delay_bound deadline step jitter round);
        builder = builder.lease(self.lease.unwrap_or(lease), self.promise.unwrap_or(promise));
        if let Some(usual) = detector {
            builder = builder.detector(
                self.heartbeat.unwrap_or(usual.heartbeat),
                self.detection.unwrap_or(usual.detection),
            );
        }
        let key = |reason: &SettingError| format!("timings.{}", reason.setting());
        let refused = |reason| ConfigError::refused(key(&reason), reason);
        builder.build().map_err(refused)
    }
}
