//! The requests of the page to a stage, as JSON.
//!
//! Decided here: the requests that are not commands to a cluster, and the permitted speeds. [`RecordedCommand`] parses
//! the text of a command; the cluster checks the name of the agent in it.

use std::time::Duration;

use serde::{Deserialize, Deserializer, de::Error};

use super::{link::StageError, scenario::Story};
use crate::{protocol::Time, record::RecordedCommand};

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
    /// Seconds of virtual time that pass in a second of real time.
    Speed(f64),
    /// Continues live from this moment of the run. The commands after it are dropped.
    GoOnFrom(RunMoment),
    /// Starts another election with new agents.
    Election(String),
    /// Starts a second election beside the first, both with new agents; `null` ends the second election.
    Beside(Option<String>),
}

/// A moment of the run that the page shows.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunMoment {
    #[serde(deserialize_with = "in_millis")]
    pub(crate) at_ms: Time,
    /// Number of commands that were given until this moment, to the first election and to the second. The time alone is
    /// not enough: several moments of a stage that is paused have the same time.
    #[serde(default)]
    pub(crate) given: Vec<u64>,
}

fn in_millis<'de, D: Deserializer<'de>>(number: D) -> Result<Time, D::Error> {
    let millis = f64::deserialize(number)?;
    let span = Duration::try_from_secs_f64(millis / 1e3).map_err(D::Error::custom)?;
    Ok(Time::ZERO.after(span))
}

fn in_words<'de, D: Deserializer<'de>>(text: D) -> Result<RecordedCommand, D::Error> {
    let text = String::deserialize(text)?;
    text.parse().map_err(D::Error::custom)
}

/// Checks a speed.
pub(crate) fn checked_speed(speed: f64) -> Result<f64, StageError> {
    if (SLOWEST..=FASTEST).contains(&speed) {
        return Ok(speed);
    }
    Err(StageError::Speed {
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
        let moment = read(r#"{"go_on_from":{"at_ms":1234.5,"given":[3,4]}}"#).unwrap();
        let at_ms = Time::from_nanos(1_234_500_000);
        let given = vec![3, 4];
        assert_eq!(moment, Control::GoOnFrom(RunMoment { at_ms, given }));
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
            r#"{"go_on_from":{}}"#,
            r#"{"go_on_from":{"at_ms":-1}}"#,
            r#"{"go_on_from":{"at_ms":1e300}}"#,
        ] {
            assert!(read(json).is_err(), "{json}");
        }
    }

    #[test]
    fn numbers_that_make_no_sense_are_named() {
        for speed in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
            assert!(checked_speed(speed).is_err(), "{speed}");
        }
        assert_eq!(checked_speed(0.2).ok(), Some(0.2));
    }
}
