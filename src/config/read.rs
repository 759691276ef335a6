//! Four users of the one list of keys. They read a table of TOML, read variables of the environment, write a
//! configuration as a table, and list the names of all keys.
//!
//! Decided here: each key is read by the type of its field, an unknown name is an error, and which known name is
//! suggested for an unknown name. Not here: which keys exist (`keys.rs`), and which values each may hold (`value.rs`).

use std::{collections::BTreeMap, convert::Infallible};

use toml::{Table, Value};

use crate::similar::similar;

use super::{
    ConfigError,
    keys::{Keys, Visitor},
    value::{Setting, wrong},
};

/// Reads a table into `into`. A field whose key is missing does not change. In errors, `place` is the text before the
/// name of a key.
pub(super) fn read_table<T: Keys>(
    place: &str,
    table: Table,
    into: &mut T,
) -> Result<(), ConfigError> {
    let mut reader = TableReader {
        place,
        rest: table,
        known: Vec::new(),
    };
    into.visit(&mut reader)?;
    reader.must_be_empty()
}

struct TableReader<'a> {
    place: &'a str,
    rest: Table,
    known: Vec<&'static str>,
}

impl Visitor for TableReader<'_> {
    type Error = ConfigError;

    fn visit<T: Setting>(&mut self, key: &'static str, field: &mut T) -> Result<(), ConfigError> {
        self.known.push(key);
        let value = match key.split_once('.') {
            None => self.rest.remove(key),
            Some((section, name)) => match self.rest.get_mut(section) {
                None => None,
                Some(Value::Table(table)) => table.remove(name),
                Some(other) => {
                    let place = format!("{}{section}", self.place);
                    return Err(wrong(&place, other, "a section of its own"));
                }
            },
        };
        if let Some(value) = value {
            *field = T::from_value(&format!("{}{key}", self.place), value)?;
        }
        Ok(())
    }
}

impl TableReader<'_> {
    /// Returns an error for the first key that belongs to no field.
    fn must_be_empty(self) -> Result<(), ConfigError> {
        for (name, value) in &self.rest {
            let section = format!("{name}.");
            let is_section = self.known.iter().any(|known| known.starts_with(&section));
            let unknown = if let (Value::Table(table), true) = (value, is_section) {
                match table.keys().next() {
                    Some(inner) => format!("{section}{inner}"),
                    None => continue,
                }
            } else {
                name.clone()
            };
            return Err(ConfigError::UnknownKey {
                similar: most_like(&unknown, self.known.iter().copied()),
                key: format!("{}{unknown}", self.place),
            });
        }
        Ok(())
    }
}

/// Returns the first characters of the name of each variable of a configuration: the prefix and one underscore.
///
/// # Errors
/// [`ConfigError::Prefix`] if no variable can begin with the prefix.
pub(super) fn variable_prefix(prefix: &str) -> Result<String, ConfigError> {
    let name = prefix.strip_suffix('_').unwrap_or(prefix);
    // Kubernetes allows these characters in a name. A shell allows fewer.
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if !name.is_empty() && name.chars().all(is_letter) {
        Ok(format!("{name}_"))
    } else {
        Err(ConfigError::Prefix {
            prefix: prefix.into(),
        })
    }
}

/// Reads the variables that begin with the prefix and an underscore.
pub(super) fn read_variables<T: Keys>(
    prefix: &str,
    variables: impl IntoIterator<Item = (String, String)>,
    into: &mut T,
) -> Result<(), ConfigError> {
    let prefix = variable_prefix(prefix)?;
    let ours = |(name, _): &(String, String)| name.starts_with(&prefix);
    let mut reader = VariableReader {
        rest: variables.into_iter().filter(ours).collect(),
        prefix,
        known: Vec::new(),
    };
    into.visit(&mut reader)?;
    match reader.rest.into_keys().next() {
        None => Ok(()),
        Some(name) => Err(ConfigError::UnknownVariable {
            similar: most_like(&name, reader.known.iter().map(String::as_str)).map(str::to_owned),
            name,
        }),
    }
}

struct VariableReader {
    prefix: String,
    rest: BTreeMap<String, String>,
    known: Vec<String>,
}

impl Visitor for VariableReader {
    type Error = ConfigError;

    fn visit<T: Setting>(&mut self, key: &'static str, field: &mut T) -> Result<(), ConfigError> {
        let name = format!(
            "{}{}",
            self.prefix,
            key.replace('.', "_").to_ascii_uppercase()
        );
        if let Some(text) = self.rest.remove(&name) {
            *field = T::from_text(&name, &text)?;
        }
        self.known.push(name);
        Ok(())
    }
}

/// Writes a table. [`read_table`] reads the same value from it.
pub(super) fn write_table<T: Keys + Clone>(from: &T) -> Table {
    let mut writer = TableWriter(Table::new());
    // The visitor may change the fields that it visits; this visitor does not.
    match from.clone().visit(&mut writer) {
        Ok(()) => writer.0,
    }
}

struct TableWriter(Table);

impl Visitor for TableWriter {
    type Error = Infallible;

    fn visit<T: Setting>(&mut self, key: &'static str, field: &mut T) -> Result<(), Infallible> {
        let Some(value) = field.to_value() else {
            return Ok(());
        };
        match key.split_once('.') {
            None => {
                self.0.insert(key.to_owned(), value);
            }
            Some((section, name)) => {
                let section = self.0.entry(section).or_insert_with(|| Table::new().into());
                if let Value::Table(section) = section {
                    section.insert(name.to_owned(), value);
                }
            }
        }
        Ok(())
    }
}

/// Returns the known name that differs by the fewest letters, or that differs only in its section.
fn most_like<'a>(unknown: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // If a key is in the wrong section, the known key has the same last word.
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let known: Vec<_> = known.collect();
    let moved = || {
        known
            .iter()
            .copied()
            .find(|name| last(name) == last(unknown))
    };
    similar(unknown, known.iter().copied()).or_else(moved)
}

/// Returns the names of all keys; those of a peer as `peers[].node`.
#[cfg(test)]
pub(super) fn names<T: Keys + Default>(place: &str) -> Vec<String> {
    struct Names(Vec<&'static str>);
    impl Visitor for Names {
        type Error = Infallible;
        fn visit<T: Setting>(&mut self, key: &'static str, _: &mut T) -> Result<(), Infallible> {
            self.0.push(key);
            Ok(())
        }
    }
    let mut names = Names(Vec::new());
    match T::default().visit(&mut names) {
        Ok(()) => names.0.iter().map(|key| format!("{place}{key}")).collect(),
    }
}
