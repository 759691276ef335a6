//! The requests of the page to a stage, as JSON.
//!
//! Decided here: the requests beside the commands of a cluster, and the permitted speeds. A command is parsed by its
//! own type ([`RecordedCommand`]); the cluster checks the name of its agent.

use serde::{Deserialize, Deserializer, de::Error};

use super::scenario::Story;
use crate::record::RecordedCommand;

/// A request: `{"command":"crash agent-5"}`, `{"speed":0.5}`, `"pause"`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Control {
    /// A command to the cluster, as text.
    #[serde(deserialize_with = "in_words")]
    Command(RecordedCommand),
    Scenario(Story),
    Pause,
    Play,
    Step,
    /// Seconds of virtual time that pass in a second.
    Speed(f64),
    /// Starts another election with new agents.
    Election(String),
    /// Starts a second election beside the first, both with new agents; `null` ends the second election.
    Beside(Option<String>),
}

fn in_words<'de, D: Deserializer<'de>>(text: D) -> Result<RecordedCommand, D::Error> {
    let text = String::deserialize(text)?;
    text.parse().map_err(D::Error::custom)
}

/// A speed outside of the limits.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("a speed of {speed} makes no sense here: take {least} to {most}")]
pub(crate) struct SpeedError {
    speed: f64,
    least: f64,
    most: f64,
}

/// Checks a speed.
pub(crate) fn checked_speed(speed: f64) -> Result<f64, SpeedError> {
    if (SLOWEST..=FASTEST).contains(&speed) {
        return Ok(speed);
    }
    Err(SpeedError {
        speed,
        least: SLOWEST,
        most: FASTEST,
    })
}

const SLOWEST: f64 = 0.001;
const FASTEST: f64 = 1_000.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Control, serde_json::Error> {
        serde_json::from_str(json)
    }

    #[test]
    fn commands_are_read() {
        for (form, _) in RecordedCommand::FORMS {
            let control = read(&format!(r#"{{"command":"{form}"}}"#)).unwrap();
            assert_eq!(control, Control::Command(form.parse().unwrap()));
        }
        assert_eq!(read(r#""pause""#).unwrap(), Control::Pause);
        let beside = |name: Option<&str>| Control::Beside(name.map(str::to_owned));
        assert_eq!(read(r#"{"beside":"ring"}"#).unwrap(), beside(Some("ring")));
        assert_eq!(read(r#"{"beside":null}"#).unwrap(), beside(None));
    }

    #[test]
    fn what_is_no_command_is_refused() {
        for json in [
            "",
            "{}",
            "[]",
            r#""explode""#,
            r#"{"command":["heal"]}"#,
            r#"{"command":"explode"}"#,
            r#"{"command":"hang"}"#,
            r#"{"scenario":"doom"}"#,
            r#"{"speed":"fast"}"#,
            r#"{"step":null,"pause":null}"#,
        ] {
            assert!(read(json).is_err(), "{json}");
        }
    }

    #[test]
    fn numbers_that_make_no_sense_are_named() {
        for speed in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
            assert!(checked_speed(speed).is_err(), "{speed}");
        }
        assert_eq!(checked_speed(0.2), Ok(0.2));
    }
}
