//! How values are written in the JSON of a report, for a status page or another program.
//!
//! Decided here: a number that may exceed 2^53 is text, because most readers of JSON store numbers as 64-bit floats and
//! would round it without a warning. A span of time is a number of milliseconds, under a key that ends in `_ms`. Not
//! here: the bytes of messages and records, in which the same types are numbers.
#![expect(
    clippy::ref_option,
    reason = "serde gives a function that serializes a field a reference to it"
)]

use std::{fmt::Display, time::Duration};

use serde::{Serialize, Serializer};

use crate::protocol::{AgentId, Incarnation, Leader, Measurement, Term};

/// Writes a value as text, by its `Display`.
pub(crate) fn text<T: Display, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(value)
}

/// Writes an optional value as text.
pub(crate) fn optional_text<T: Display, S: Serializer>(
    value: &Option<T>,
    to: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => to.collect_str(value),
        None => to.serialize_none(),
    }
}

/// A leader with its numbers as text.
#[derive(Debug, Serialize)]
pub(crate) struct ShownLeader<'a> {
    id: &'a AgentId,
    #[serde(serialize_with = "text")]
    incarnation: Incarnation,
    #[serde(serialize_with = "text")]
    term: Term,
}

impl<'a> From<&'a Leader> for ShownLeader<'a> {
    fn from(leader: &'a Leader) -> Self {
        Self {
            id: &leader.id,
            incarnation: leader.incarnation,
            term: leader.term,
        }
    }
}

/// Writes an optional leader with its numbers as text.
pub(crate) fn optional_leader<S: Serializer>(
    leader: &Option<Leader>,
    to: S,
) -> Result<S::Ok, S::Error> {
    leader.as_ref().map(ShownLeader::from).serialize(to)
}

/// A measurement, in milliseconds.
#[derive(Debug, Serialize)]
pub(crate) struct ShownMeasurement {
    #[serde(rename = "echo_ms", serialize_with = "millis")]
    echo: Duration,
    #[serde(rename = "write_ms", serialize_with = "millis")]
    write: Duration,
    #[serde(rename = "stall_ms", serialize_with = "millis")]
    stall: Duration,
}

impl From<Measurement> for ShownMeasurement {
    fn from(measured: Measurement) -> Self {
        let Measurement { echo, write, stall } = measured;
        Self { echo, write, stall }
    }
}

/// Writes a span in milliseconds, exact to a microsecond.
pub(crate) fn millis<S: Serializer>(span: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(in_millis(*span))
}

/// Writes an optional span in milliseconds.
pub(crate) fn optional_millis<S: Serializer>(
    span: &Option<Duration>,
    to: S,
) -> Result<S::Ok, S::Error> {
    span.map(in_millis).serialize(to)
}

/// Returns a span in milliseconds, exact to a microsecond.
pub(crate) fn in_millis(span: Duration) -> f64 {
    (span.as_secs_f64() * 1e6).round() / 1e3
}
