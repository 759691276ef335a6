//! What the page may ask of a cluster, as JSON.
//!
//! Decided here: which commands there are, and which numbers make no sense. Names are checked as they are read; whether
//! an agent has that name is the cluster's business (`perform.rs`).

use std::time::Duration;

use serde::Deserialize;

use super::scenario::Story;
use crate::protocol::{AgentId, VoterChange};

/// A command: `{"crash":["agent-5"]}`, `{"cut":{"from":"a","to":"b","one_way":true}}`, `"heal"`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Control {
    /// These agents panic at the same moment.
    Crash(Vec<AgentId>),
    /// These agents end at the same moment, without handing over.
    Stop(Vec<AgentId>),
    Restart(AgentId),
    Hang(AgentId),
    Resume(AgentId),
    StepDown {
        agent: AgentId,
        #[serde(default)]
        to: Option<AgentId>,
    },
    Campaign(AgentId),
    /// Another list of voters, of a quorum.
    ChangeVoters(VoterChange),
    /// A new agent.
    Join {
        agent: AgentId,
        score: i64,
    },
    /// Sides; an agent that is on none is on one more.
    Partition(Vec<Vec<AgentId>>),
    Cut {
        from: AgentId,
        to: AgentId,
        #[serde(default)]
        one_way: bool,
    },
    Mend {
        from: AgentId,
        to: AgentId,
    },
    Isolate(AgentId),
    Rejoin(AgentId),
    Heal,
    Network(NetworkChange),
    Scenario(Story),
    Pause,
    Play,
    Step,
    /// How much virtual time passes in a second.
    Speed(f64),
    /// Another election, among new agents.
    Election(String),
    /// An election beside the first one, both among new agents; `null` ends that.
    Beside(Option<String>),
}

/// What the network shall do to every message.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NetworkChange {
    delay_min_ms: f64,
    delay_max_ms: f64,
    pub(crate) loss_per_mille: u16,
}

/// A number that makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub(crate) enum NumberError {
    #[error("a delay of {millis} ms makes no sense here: take 0 to {most}")]
    Delay { millis: f64, most: f64 },
    #[error("a speed of {speed} makes no sense here: take {least} to {most}")]
    Speed { speed: f64, least: f64, most: f64 },
}

impl NetworkChange {
    /// The range of the delay.
    pub(crate) fn delay(&self) -> Result<(Duration, Duration), NumberError> {
        let span = |millis: f64| {
            let is_sound = (0.0..=MOST_DELAY_MS).contains(&millis);
            let span = Duration::try_from_secs_f64(millis / 1e3).ok();
            let wrong = NumberError::Delay {
                millis,
                most: MOST_DELAY_MS,
            };
            span.filter(|_| is_sound).ok_or(wrong)
        };
        Ok((span(self.delay_min_ms)?, span(self.delay_max_ms)?))
    }
}

/// Checks a speed.
pub(crate) fn checked_speed(speed: f64) -> Result<f64, NumberError> {
    if (SLOWEST..=FASTEST).contains(&speed) {
        return Ok(speed);
    }
    Err(NumberError::Speed {
        speed,
        least: SLOWEST,
        most: FASTEST,
    })
}

const MOST_DELAY_MS: f64 = 60_000.0;
const SLOWEST: f64 = 0.001;
const FASTEST: f64 = 1_000.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::NewVoter;

    fn read(json: &str) -> Result<Control, serde_json::Error> {
        serde_json::from_str(json)
    }

    #[test]
    fn commands_are_read() {
        let id = |name: &str| name.parse::<AgentId>().unwrap();
        let crash = read(r#"{"crash":["agent-5","agent-4"]}"#).unwrap();
        assert_eq!(crash, Control::Crash(vec![id("agent-5"), id("agent-4")]));
        let cut = read(r#"{"cut":{"from":"a","to":"b"}}"#).unwrap();
        let (from, to, one_way) = (id("a"), id("b"), false);
        assert_eq!(cut, Control::Cut { from, to, one_way });
        assert_eq!(read(r#""heal""#).unwrap(), Control::Heal);
        let beside = |name: Option<&str>| Control::Beside(name.map(str::to_owned));
        assert_eq!(read(r#"{"beside":"ring"}"#).unwrap(), beside(Some("ring")));
        assert_eq!(read(r#"{"beside":null}"#).unwrap(), beside(None));
        let change = read(r#"{"change_voters":{"replace":{"old":"a","new":{"id":"b"}}}}"#).unwrap();
        let (id_of_new, contact) = (id("b"), None);
        let new = NewVoter {
            id: id_of_new,
            contact,
        };
        let change_to = VoterChange::Replace { old: id("a"), new };
        assert_eq!(change, Control::ChangeVoters(change_to));
        let down = read(r#"{"step_down":{"agent":"a"}}"#).unwrap();
        let (agent, to) = (id("a"), None);
        assert_eq!(down, Control::StepDown { agent, to });
    }

    #[test]
    fn what_is_no_command_is_refused() {
        for json in [
            "",
            "{}",
            "[]",
            r#""explode""#,
            r#"{"crash":"agent-5"}"#,
            r#"{"crash":["a b"]}"#,
            r#"{"hang":""}"#,
            r#"{"scenario":"doom"}"#,
            r#"{"cut":{"from":"a"}}"#,
            r#"{"cut":{"from":"a","to":"b","both":1}}"#,
            r#"{"speed":"fast"}"#,
            r#"{"heal":null,"pause":null}"#,
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
        let change = |min: f64, max: f64| NetworkChange {
            delay_min_ms: min,
            delay_max_ms: max,
            loss_per_mille: 0,
        };
        for (min, max) in [(-1.0, 2.0), (1.0, f64::NAN), (0.0, 1e12)] {
            assert!(change(min, max).delay().is_err(), "{min} {max}");
        }
        let ms = Duration::from_millis;
        assert_eq!(change(10.0, 30.0).delay(), Ok((ms(10), ms(30))));
    }
}
