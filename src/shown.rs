//! How values are written in the JSON of a report, for a status page or another program.
//!
//! Decided here: a number that may exceed 2^53 is text, because most readers of JSON store numbers as 64-bit floats and
//! would round it without a warning. A reader here takes both text and numbers. A span of time is a number of milliseconds, under a key that ends in `_ms`. Not
//! here: the bytes of messages and records, in which the same types are numbers.
#![expect(
    clippy::ref_option,
    reason = "serde gives a function that serializes a field a reference to it"
)]

use std::{
    fmt::{self, Display},
    marker::PhantomData,
    time::Duration,
};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, Visitor},
};

use crate::protocol::{AgentId, Incarnation, Leader, Measurement, Term};

/// A leader with its numbers as text.
#[derive(Debug, Serialize)]
pub(crate) struct ShownLeader<'a> {
    id: &'a AgentId,
    #[serde(serialize_with = "text::serialize")]
    incarnation: Incarnation,
    #[serde(serialize_with = "text::serialize")]
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

/// A type that contains one number.
pub(crate) trait Numbered: Display {
    fn of(number: u64) -> Self;
}

impl Numbered for Term {
    fn of(number: u64) -> Self {
        Self(number)
    }
}

impl Numbered for Incarnation {
    fn of(number: u64) -> Self {
        Self(number)
    }
}

/// Reads a number from JSON, where it is a number or a text.
struct Reading<T>(PhantomData<T>);

impl<T: Numbered> Visitor<'_> for Reading<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number from 0 to 2^64 - 1, or its text")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        Ok(T::of(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map(T::of).map_err(E::custom)
    }
}

/// A number as text.
pub(crate) mod text {
    use super::{Deserializer, Display, Numbered, PhantomData, Reading, Serializer};

    pub(crate) fn serialize<T: Display, S: Serializer>(
        value: &T,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_str(value)
    }

    pub(crate) fn deserialize<'de, T: Numbered, D: Deserializer<'de>>(
        from: D,
    ) -> Result<T, D::Error> {
        from.deserialize_any(Reading(PhantomData))
    }
}

/// An optional number as text.
pub(crate) mod optional_text {
    use super::{Deserialize, Deserializer, Display, Numbered, Serializer, text};

    pub(crate) fn serialize<T: Display, S: Serializer>(
        value: &Option<T>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => to.collect_str(value),
            None => to.serialize_none(),
        }
    }

    #[derive(Deserialize)]
    #[serde(bound(deserialize = "T: Numbered"))]
    struct Text<T>(#[serde(deserialize_with = "text::deserialize")] T);

    pub(crate) fn deserialize<'de, T: Numbered, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<T>, D::Error> {
        Ok(Option::<Text<T>>::deserialize(from)?.map(|Text(value)| value))
    }
}

/// A leader as [`ShownLeader`] writes it.
#[derive(Deserialize)]
struct Shown {
    id: AgentId,
    #[serde(deserialize_with = "text::deserialize")]
    incarnation: Incarnation,
    #[serde(deserialize_with = "text::deserialize")]
    term: Term,
}

impl From<Shown> for Leader {
    fn from(shown: Shown) -> Self {
        Self {
            id: shown.id,
            incarnation: shown.incarnation,
            term: shown.term,
        }
    }
}

pub(crate) mod leader {
    use super::{Deserialize, Deserializer, Leader, Serialize, Serializer, Shown, ShownLeader};

    pub(crate) fn serialize<S: Serializer>(value: &Leader, to: S) -> Result<S::Ok, S::Error> {
        ShownLeader::from(value).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Leader, D::Error> {
        Shown::deserialize(from).map(Leader::from)
    }
}

pub(crate) mod optional_leader {
    use super::{Deserialize, Deserializer, Leader, Serialize, Serializer, Shown, ShownLeader};

    pub(crate) fn serialize<S: Serializer>(
        value: &Option<Leader>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().map(ShownLeader::from).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Leader>, D::Error> {
        Ok(Option::<Shown>::deserialize(from)?.map(Leader::from))
    }
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
