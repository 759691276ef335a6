//! The error of a setting that has a wrong value, for every configuration of an election.

use std::fmt;

/// The reason why a configuration is refused: the first wrong setting, its value, and what to do.
///
/// All elections share this type. So a driver that knows the name of the setting, such as a reader of files, needs no
/// list of errors.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct SettingError {
    setting: &'static str,
    reason: Box<str>,
}

debug_is_text!(SettingError);

impl SettingError {
    /// Makes the error of a setting. The reason contains the wrong value and the advice.
    pub fn new(setting: &'static str, reason: impl fmt::Display) -> Self {
        Self {
            setting,
            reason: reason.to_string().into(),
        }
    }

    /// Returns the name of the setting: the name of its field in the configuration, its timings or the measurement.
    pub fn setting(&self) -> &'static str {
        self.setting
    }
}
