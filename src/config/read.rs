//! Reads a configuration by the derives of serde, replaces keys by environment variables, and makes the errors.
//!
//! Decided here: the key and the words in an error, which known name an error suggests for an unknown name, and how a
//! variable is read. Not here: which keys exist (`settings.rs`), and the forms of their values (`value.rs`).

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_path_to_error::{Path, Segment};
use toml::{Table, Value};

use crate::similar::similar;

use super::{Config, ConfigError, PeerSettings};

/// Reads a table. Missing keys get their defaults.
pub(super) fn read<T: DeserializeOwned>(table: Table) -> Result<T, ConfigError> {
    let whole = Value::Table(table);
    serde_path_to_error::deserialize(undated(whole.clone()))
        .map_err(|wrong| refusal(wrong.path(), wrong.inner().message(), &whole))
}

/// Replaces each date by a number with a fraction. No key may hold a date or such a number, but serde would accept a
/// date as text.
fn undated(value: Value) -> Value {
    match value {
        Value::Datetime(_) => Value::Float(0.0),
        Value::Array(list) => list.into_iter().map(undated).collect::<Vec<_>>().into(),
        Value::Table(table) => {
            let entries = table.into_iter();
            Value::Table(entries.map(|(key, value)| (key, undated(value))).collect())
        }
        Value::String(_) | Value::Integer(_) | Value::Float(_) | Value::Boolean(_) => value,
    }
}

/// Returns the error for an error message of serde.
fn refusal(path: &Path, message: &str, whole: &Value) -> ConfigError {
    let key = path.to_string();
    if let Some(known) = known_fields(message) {
        // For a key in a list, only the key is suggested: `address`, and not `peers[].address`.
        let name = key.rsplit("].").next().unwrap_or_default();
        let known = if name == key { keys::<Config>() } else { known };
        let similar = most_like(name, &known);
        return ConfigError::UnknownKey { similar, key };
    }
    let (mut value, mut name) = (Some(whole), "");
    for segment in path {
        value = match segment {
            Segment::Seq { index } => value.and_then(|list| list.get(index)),
            Segment::Map { key } => {
                name = key;
                value.and_then(|table| table.get(key))
            }
            Segment::Enum { .. } | Segment::Unknown => None,
        };
    }
    let expected = message.rsplit_once(EXPECTED);
    let wanted = match (name, expected.map_or(message, |(_, expected)| expected)) {
        ("peers", _) => "a table for each peer, such as [[peers]]",
        ("rights", _) => "a list of tables, such as [{ agents = \"api-*\" }]",
        (_, "a sequence") => "a list of names in quotes",
        (_, "a string") => "text in quotes",
        (_, "a boolean") => "true or false",
        (_, "u8") => "a whole number, 0 to 255",
        (_, "u16") => "a whole number, 0 to 65535",
        (_, "u32") => "a whole number, 0 to 4294967295",
        (_, "u64" | "usize") => "a whole number that is not negative",
        (_, "i32") => "a whole number, -2147483648 to 2147483647",
        (_, "i64") => "a whole number",
        (_, of_its_own) => of_its_own,
    };
    ConfigError::Value {
        key,
        value: value.map(shown).unwrap_or_default(),
        wanted: wanted.into(),
    }
}

/// The text in a message of serde before the description of the expected value.
const EXPECTED: &str = ", expected ";

/// Returns the names of a type's fields, which serde's message about an unknown field lists.
fn known_fields(message: &str) -> Option<Vec<String>> {
    let (_, expected) = message
        .strip_prefix("unknown field ")?
        .rsplit_once(EXPECTED)?;
    let names = expected.split('`').skip(1).step_by(2);
    Some(names.map(str::to_owned).collect())
}

/// Returns the names of all keys of a type, `section.key` for a key of a section. The names are taken from serde's
/// error messages about a key that cannot exist, which list the fields.
pub(super) fn keys<T: DeserializeOwned>() -> Vec<String> {
    let unknown = |section: &str| single(&format!("{section}?"), Value::from(0));
    let fields = |table: Table| {
        let refused = table.try_into::<T>().err();
        refused.and_then(|refused| known_fields(refused.message()))
    };
    let mut all = Vec::new();
    for name in fields(unknown("")).unwrap_or_default() {
        match fields(unknown(&format!("{name}."))) {
            Some(inner) => all.extend(inner.iter().map(|key| format!("{name}.{key}"))),
            None => all.push(name),
        }
    }
    all
}

/// Returns a table in which one key is set.
fn single(key: &str, value: Value) -> Table {
    let mut table = Table::new();
    put(&mut table, key, value);
    table
}

fn put(table: &mut Table, key: &str, value: Value) {
    let Some((section, name)) = key.split_once('.') else {
        table.insert(key.to_owned(), value);
        return;
    };
    let section = table.entry(section).or_insert_with(|| Table::new().into());
    if let Value::Table(section) = section {
        section.insert(name.to_owned(), value);
    }
}

/// Returns a wrong value for an error: of a text only the beginning, of a list or a table nothing of its content.
fn shown(value: &Value) -> Box<str> {
    match value {
        Value::String(text) => cut(text),
        Value::Table(_) => "a table".into(),
        Value::Array(_) => "a list".into(),
        Value::Integer(number) => number.to_string().into(),
        Value::Float(number) => number.to_string().into(),
        Value::Boolean(is_so) => is_so.to_string().into(),
        Value::Datetime(time) => time.to_string().into(),
    }
}

/// Returns the text in quotes, shortened to [`LONGEST`].
pub(super) fn cut(text: &str) -> Box<str> {
    format!("{:?}", shortened(text)).into()
}

pub(super) fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push_str("..");
    }
    short
}

/// Longest part of a wrong text that an error repeats, in characters.
const LONGEST: usize = 64;

/// Returns the text with which the name of each variable begins: the prefix and one underscore.
///
/// # Errors
/// [`ConfigError::Prefix`] if no variable can begin with the prefix.
pub(super) fn variable_prefix(prefix: &str) -> Result<String, ConfigError> {
    let name = prefix.strip_suffix('_').unwrap_or(prefix);
    // Kubernetes allows these characters in the name of a variable. A shell allows fewer.
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if !name.is_empty() && name.chars().all(is_letter) {
        Ok(format!("{name}_"))
    } else {
        Err(ConfigError::Prefix {
            prefix: prefix.into(),
        })
    }
}

/// Replaces each key of a configuration for which there is an environment variable. All names of `variables` begin with
/// `prefix`.
pub(super) fn lay_over(
    config: &Config,
    prefix: &str,
    variables: BTreeMap<String, String>,
) -> Result<Config, ConfigError> {
    let mut table = written(config)?;
    let variable = |key: &String| {
        let name = key.replace('.', "_").to_ascii_uppercase();
        format!("{prefix}{name}")
    };
    let all = keys::<Config>();
    for (name, text) in variables {
        let Some(key) = all.iter().find(|key| variable(key) == name) else {
            let names: Vec<_> = all.iter().map(variable).collect();
            let similar = most_like(&name, &names);
            return Err(ConfigError::UnknownVariable { name, similar });
        };
        put(&mut table, key, read_variable(key, &name, &text)?);
    }
    read(table)
}

/// Returns the configuration as a table.
///
/// # Errors
/// [`ConfigError::Value`] if the configuration has a value from Rust that no file can hold.
fn written(config: &Config) -> Result<Table, ConfigError> {
    let table = Table::try_from(config).ok();
    let table =
        table.filter(|table| read(table.clone()).is_ok_and(|again: Config| again == *config));
    table.ok_or_else(|| ConfigError::Value {
        key: String::from("Config"),
        value: "a value that was set in Rust and that no file can hold".into(),
        wanted: "one of a file, where variables are laid over it".into(),
    })
}

/// Reads the text of a variable in the first form that the key accepts: a text, a number, true or false, or a list of
/// numbers, names or peers. Commas separate the items of a list.
fn read_variable(key: &str, name: &str, text: &str) -> Result<Value, ConfigError> {
    let is_empty = text.trim().is_empty();
    let parts = text.split(',').map(str::trim).filter(|_| !is_empty);
    let numbers: Result<Vec<i64>, _> = parts.clone().map(str::parse).collect();
    let peers = parts.clone().map(|part| match part.split_once('=') {
        Some((node, address)) => PeerSettings::new(node, address),
        None => PeerSettings::inbound(part),
    });
    let forms = [
        text.parse::<i64>().ok().map(Value::from),
        text.parse::<bool>().ok().map(Value::from),
        numbers.ok().map(Value::from),
        Some(parts.collect::<Vec<_>>().into()),
        Value::try_from(peers.collect::<Vec<_>>()).ok(),
    ];
    let judged = |form: &Value| read::<Config>(single(key, form.clone()));
    let as_text = Value::from(text);
    let Err(mut refused) = judged(&as_text) else {
        return Ok(as_text);
    };
    if let ConfigError::Value { key, .. } = &mut refused {
        name.clone_into(key);
    }
    let mut forms = forms.into_iter().flatten();
    forms.find(|form| judged(form).is_ok()).ok_or(refused)
}

/// Returns the known name that is most similar to the unknown name, if the two differ in a few letters or only in the
/// section.
fn most_like(unknown: &str, known: &[String]) -> Option<String> {
    fn last(name: &str) -> Option<&str> {
        name.rsplit('.').next()
    }
    let mut names = known.iter().map(String::as_str);
    let close = similar(unknown, names.clone());
    let moved = || names.find(|name| last(name) == last(unknown));
    close.or_else(moved).map(str::to_owned)
}
