//! Values of each type: how they are read from TOML, read from a variable of the environment, and written.
//!
//! Decided here: a file has numbers as numbers and texts as texts. A variable is always text, so a number in it is read
//! from text; commas divide a list in a variable. Not here: which keys exist (`keys.rs`).

use std::{path::PathBuf, time::Duration};

use toml::{Table, Value};

use crate::{elections::bully::Preemption, protocol::Score, remote::MayBe, store::OpenStore};

use super::{
    ConfigError, GrantSettings, PeerSettings, TimingsPreset, duration,
    keys::Keys,
    read::{read_table, write_table},
};

/// A value that one key may hold.
pub(super) trait Setting: Sized {
    /// Reads the value from a file.
    fn from_value(key: &str, value: Value) -> Result<Self, ConfigError>;
    /// Reads the value from a variable.
    fn from_text(key: &str, text: &str) -> Result<Self, ConfigError>;
    /// Returns the value in the form of a file; `None` for a key that is not set.
    fn to_value(&self) -> Option<Value>;
}

/// A value without parts.
pub(super) trait Leaf: Sized {
    /// Describes the expected value to a user.
    const WANTED: &'static str;
    fn parse(text: &str) -> Option<Self>;
    fn read(value: &Value) -> Option<Self> {
        value.as_str().and_then(Self::parse)
    }
    fn write(&self) -> Value;
}

impl<T: Leaf> Setting for T {
    fn from_value(key: &str, value: Value) -> Result<Self, ConfigError> {
        Self::read(&value).ok_or_else(|| wrong(key, &value, Self::WANTED))
    }
    fn from_text(key: &str, text: &str) -> Result<Self, ConfigError> {
        Self::parse(text).ok_or_else(|| wrong(key, &Value::from(text), Self::WANTED))
    }
    fn to_value(&self) -> Option<Value> {
        Some(self.write())
    }
}

impl<T: Leaf> Setting for Option<T> {
    fn from_value(key: &str, value: Value) -> Result<Self, ConfigError> {
        T::from_value(key, value).map(Some)
    }
    fn from_text(key: &str, text: &str) -> Result<Self, ConfigError> {
        T::from_text(key, text).map(Some)
    }
    fn to_value(&self) -> Option<Value> {
        self.as_ref().map(Leaf::write)
    }
}

/// Returns the error for a wrong value. The error repeats only a short part of the value.
pub(super) fn wrong(key: &str, value: &Value, wanted: &'static str) -> ConfigError {
    let value: Box<str> = match value {
        Value::String(text) => cut(text),
        Value::Table(_) => "a table".into(),
        Value::Array(_) => "a list".into(),
        Value::Integer(number) => number.to_string().into(),
        Value::Float(number) => number.to_string().into(),
        Value::Boolean(is_so) => is_so.to_string().into(),
        Value::Datetime(time) => time.to_string().into(),
    };
    ConfigError::Value {
        key: key.to_owned(),
        value,
        wanted,
    }
}

/// Returns the text in quotes, shortened to [`LONGEST`].
pub(super) fn cut(text: &str) -> Box<str> {
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push_str("..");
    }
    format!("{short:?}").into()
}

/// Longest part of a wrong text that an error repeats, in characters.
const LONGEST: usize = 64;

impl Leaf for String {
    const WANTED: &'static str = "text in quotes";
    fn parse(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }
    fn write(&self) -> Value {
        Value::from(self.as_str())
    }
}

impl Leaf for PathBuf {
    const WANTED: &'static str = "the path of a file, in quotes";
    fn parse(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self::from(text))
    }
    fn write(&self) -> Value {
        Value::from(self.to_string_lossy().as_ref())
    }
}

impl Leaf for bool {
    const WANTED: &'static str = "true or false";
    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }
    fn read(value: &Value) -> Option<Self> {
        value.as_bool()
    }
    fn write(&self) -> Value {
        Value::from(*self)
    }
}

/// Implements [`Leaf`] for whole numbers that are not negative.
macro_rules! whole_numbers {
    ($($number:ty)*) => { $(
        impl Leaf for $number {
            const WANTED: &'static str = "a whole number that is not negative";
            fn parse(text: &str) -> Option<Self> {
                text.parse().ok()
            }
            fn read(value: &Value) -> Option<Self> {
                value.as_integer().and_then(|number| number.try_into().ok())
            }
            fn write(&self) -> Value {
                Value::from(i64::try_from(*self).unwrap_or(i64::MAX))
            }
        }
    )* };
}
whole_numbers!(u64 usize);

impl Leaf for Duration {
    const WANTED: &'static str =
        "a duration in quotes: a whole number and ns, us, ms, s, min or h, such as \"40ms\"";
    fn parse(text: &str) -> Option<Self> {
        duration::parse(text)
    }
    fn write(&self) -> Value {
        Value::from(duration::show(*self))
    }
}

impl Leaf for Score {
    const WANTED: &'static str = "a whole number, or a list of one to four of them";
    fn parse(text: &str) -> Option<Self> {
        let parts: Result<Vec<i64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
        score(&parts.ok()?)
    }
    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Integer(part) => Some(Self::from(*part)),
            Value::Array(parts) => {
                let parts: Option<Vec<i64>> = parts.iter().map(Value::as_integer).collect();
                score(&parts?)
            }
            Value::String(_)
            | Value::Float(_)
            | Value::Boolean(_)
            | Value::Datetime(_)
            | Value::Table(_) => None,
        }
    }
    fn write(&self) -> Value {
        match self.parts() {
            [part, 0, 0, 0] => Value::from(part),
            parts => Value::from(parts.to_vec()),
        }
    }
}

fn score(parts: &[i64]) -> Option<Score> {
    match *parts {
        [a] => Some(Score::from(a)),
        [a, b] => Some(Score::from((a, b))),
        [a, b, c] => Some(Score::from((a, b, c))),
        [a, b, c, d] => Some(Score::from((a, b, c, d))),
        _ => None,
    }
}

/// A value that is one of a few words.
trait Word: Copy + 'static {
    const ALL: &'static [Self];
    const WANTED: &'static str;
    fn word(self) -> &'static str;
}

impl<T: Word> Leaf for T {
    const WANTED: &'static str = <Self as Word>::WANTED;
    fn parse(text: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|one| one.word() == text)
    }
    fn write(&self) -> Value {
        Value::from(self.word())
    }
}

impl Word for MayBe {
    const ALL: &'static [Self] = &[Self::Leader, Self::Voter, Self::Observer];
    const WANTED: &'static str = "\"leader\", \"voter\" or \"observer\"";
    fn word(self) -> &'static str {
        match self {
            Self::Leader => "leader",
            Self::Voter => "voter",
            Self::Observer => "observer",
        }
    }
}

impl Word for OpenStore {
    const ALL: &'static [Self] = &[Self::Open, Self::Create, Self::OpenOrCreate];
    const WANTED: &'static str = "\"open\", \"create\" or \"open-or-create\"";
    fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Create => "create",
            Self::OpenOrCreate => "open-or-create",
        }
    }
}

impl Word for TimingsPreset {
    const ALL: &'static [Self] = &[
        Self::Default,
        Self::Lan,
        Self::Fast,
        Self::Wan,
        Self::InProcess,
    ];
    const WANTED: &'static str = "\"default\", \"lan\", \"fast\", \"wan\" or \"in_process\"";
    fn word(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Lan => "lan",
            Self::Fast => "fast",
            Self::Wan => "wan",
            Self::InProcess => "in_process",
        }
    }
}

impl Leaf for Preemption {
    const WANTED: &'static str = "\"immediately\", \"never\" or a duration such as \"10s\"";
    fn parse(text: &str) -> Option<Self> {
        match text {
            "immediately" => Some(Self::Immediately),
            "never" => Some(Self::Never),
            after => duration::parse(after).map(Self::After),
        }
    }
    fn write(&self) -> Value {
        match self {
            Self::Immediately => Value::from("immediately"),
            Self::Never => Value::from("never"),
            Self::After(after) => Value::from(duration::show(*after)),
        }
    }
}

impl Setting for Vec<String> {
    fn from_value(key: &str, value: Value) -> Result<Self, ConfigError> {
        let read = |(at, each)| String::from_value(&format!("{key}[{at}]"), each);
        list(key, value, "a list of names in quotes")?
            .into_iter()
            .enumerate()
            .map(read)
            .collect()
    }
    fn from_text(_: &str, text: &str) -> Result<Self, ConfigError> {
        Ok(parts(text).map(str::to_owned).collect())
    }
    fn to_value(&self) -> Option<Value> {
        (!self.is_empty()).then(|| Value::from(self.clone()))
    }
}

impl Setting for Vec<PeerSettings> {
    fn from_value(key: &str, value: Value) -> Result<Self, ConfigError> {
        tables(key, value, "a table for each peer, such as [[peers]]")
    }
    fn from_text(_: &str, text: &str) -> Result<Self, ConfigError> {
        let peer = |part: &str| match part.split_once('=') {
            Some((node, address)) => PeerSettings::new(node, address),
            None => PeerSettings::inbound(part),
        };
        Ok(parts(text).map(peer).collect())
    }
    fn to_value(&self) -> Option<Value> {
        (!self.is_empty()).then(|| written(self))
    }
}

impl Setting for Option<Vec<GrantSettings>> {
    fn from_value(key: &str, value: Value) -> Result<Self, ConfigError> {
        tables(
            key,
            value,
            "a list of tables, such as [{ agents = \"api-*\" }]",
        )
        .map(Some)
    }
    fn from_text(key: &str, text: &str) -> Result<Self, ConfigError> {
        Err(wrong(key, &Value::from(text), "in a file"))
    }
    fn to_value(&self) -> Option<Value> {
        self.as_deref().map(written)
    }
}

/// Returns the parts of a text between its commas; no parts for an empty text.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let is_empty = text.trim().is_empty();
    text.split(',').map(str::trim).filter(move |_| !is_empty)
}

fn list(key: &str, value: Value, wanted: &'static str) -> Result<Vec<Value>, ConfigError> {
    if let Value::Array(list) = value {
        return Ok(list);
    }
    Err(wrong(key, &value, wanted))
}

fn tables<T: Keys + Default>(
    key: &str,
    value: Value,
    wanted: &'static str,
) -> Result<Vec<T>, ConfigError> {
    let read = |(at, each)| {
        let key = format!("{key}[{at}]");
        if let Value::Table(table) = each {
            let mut read = T::default();
            read_table(&format!("{key}."), table, &mut read)?;
            return Ok(read);
        }
        Err(wrong(&key, &each, wanted))
    };
    list(key, value, wanted)?
        .into_iter()
        .enumerate()
        .map(read)
        .collect()
}

fn written<T: Keys + Clone>(tables: &[T]) -> Value {
    let write = |each: &T| -> Table { write_table(each) };
    Value::from(tables.iter().map(write).collect::<Vec<_>>())
}
