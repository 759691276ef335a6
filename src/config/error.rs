//! The reasons why a configuration is refused: the wrong key, the reason, and advice.

use std::{error::Error, fmt, io, path::PathBuf};

use crate::{protocol::IdError, remote::NodeIdError};

/// The reason why a configuration is refused. Nothing was started or changed.
///
/// An error repeats a wrong value where that helps. If a key is unknown, or if the text is not TOML, the error contains
/// only the key or the line, since the value may be a password in the wrong place.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The text is not TOML.
    #[error("line {line}, column {column} is not TOML: {reason}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The reason of the parser, for example which text it expected at this place.
        reason: Box<str>,
    },
    /// The text is longer than a configuration may be.
    #[error("the configuration exceeds the limit of {max} bytes: is this the right file?")]
    TooLong {
        /// The limit, in bytes.
        max: usize,
    },
    /// The key does not exist.
    #[error("there is no key `{key}`{}", Similar(similar.as_deref(), "leave it out"))]
    UnknownKey {
        /// The key, with its section or list.
        key: String,
        /// The key with the most similar spelling, if there is one.
        similar: Option<String>,
    },
    /// The prefix cannot begin the name of an environment variable.
    #[error(
        "the prefix {prefix:?} cannot begin the name of a variable: use letters, digits and underscores, such as \"JOBS\""
    )]
    Prefix {
        /// The prefix.
        prefix: Box<str>,
    },
    /// An environment variable begins with the prefix, but no key has the rest of its name.
    #[error(
        "the variable {name} does not name a key{}",
        Similar(similar.as_deref(), "choose a prefix that nothing else uses")
    )]
    UnknownVariable {
        /// The variable.
        name: String,
        /// The variable with the most similar spelling, if there is one.
        similar: Option<String>,
    },
    /// The value of a key is not allowed.
    #[error("`{key}` is {value}: it has to be {wanted}")]
    Value {
        /// The key, or the variable that set it.
        key: String,
        /// The wrong value.
        value: Box<str>,
        /// The values that the key may hold.
        wanted: Box<str>,
    },
    /// A key that this configuration needs is missing.
    #[error("`{key}` is missing: {advice}")]
    Missing {
        /// The key.
        key: String,
        /// Advice.
        advice: &'static str,
    },
    /// Two keys contradict each other.
    #[error("`{key}` contradicts `{other}`: {advice}")]
    Contradiction {
        /// One of the two keys.
        key: String,
        /// The other key.
        other: String,
        /// Advice.
        advice: &'static str,
    },
    /// A name breaks the rules of an agent's name.
    #[error("the name in `{key}` is refused: {reason}")]
    Name {
        /// The key.
        key: String,
        /// The reason.
        #[source]
        reason: IdError,
    },
    /// A name breaks the rules of a node's name.
    #[error("the name in `{key}` is refused: {reason}")]
    NodeName {
        /// The key.
        key: String,
        /// The reason.
        #[source]
        reason: NodeIdError,
    },
    /// The value of a key is out of range, or does not fit the values of other keys.
    #[error("`{key}` is refused: {reason}")]
    Refused {
        /// The key.
        key: String,
        /// The error of the part that refuses the value: of the election, of its durations, of the bridge's limits or
        /// of the text about the agent.
        #[source]
        reason: Box<dyn Error + Send + Sync>,
    },
    /// Messages would cross a network on which others can read them.
    #[error(
        "`{key}` is {address:?}, which may be on another host, and nothing is encrypted: add the section `tls`, or `dangerous_plaintext = true` if no other process is on that network"
    )]
    Plaintext {
        /// The key.
        key: String,
        /// The address.
        address: String,
    },
    /// The key needs a feature that this build lacks.
    #[error("`{key}` needs the feature `{feature}` of actix-bully: build this program with it")]
    NoFeature {
        /// The key.
        key: &'static str,
        /// The feature.
        feature: &'static str,
    },
    /// The configuration has the section `zenoh`, but the program did not start it by the crate `actix-bully-zenoh`.
    #[error(
        "`zenoh` needs the crate `actix-bully-zenoh` with its feature `serde`: add it to this program, and write `actix_bully_zenoh::starter(&config)?.start()` in place of `config.start()`"
    )]
    NoZenoh,
    /// The file cannot be read.
    #[error(
        "the configuration {path:?} cannot be read: is it there, is it text, and may this user read it? ({reason})"
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason.
        #[source]
        reason: io::Error,
    },
}

debug_is_text!(ConfigError);

impl ConfigError {
    /// Makes the error of a value that a part of the crate refuses.
    pub(super) fn refused(
        key: impl Into<String>,
        reason: impl Error + Send + Sync + 'static,
    ) -> Self {
        Self::Refused {
            key: key.into(),
            reason: Box::new(reason),
        }
    }

    /// Returns the wrong key, or the variable that set it, as in the text of the error.
    pub fn key(&self) -> Option<String> {
        match self {
            Self::UnknownKey { key, .. }
            | Self::Value { key, .. }
            | Self::Missing { key, .. }
            | Self::Contradiction { key, .. }
            | Self::Name { key, .. }
            | Self::NodeName { key, .. }
            | Self::Refused { key, .. }
            | Self::Plaintext { key, .. } => Some(key.clone()),
            Self::UnknownVariable { name, .. } => Some(name.clone()),
            Self::NoFeature { key, .. } => Some((*key).to_owned()),
            Self::NoZenoh => Some(String::from("zenoh")),
            Self::Prefix { .. }
            | Self::Syntax { .. }
            | Self::TooLong { .. }
            | Self::Unreadable { .. } => None,
        }
    }
}

/// Advice for a name that does not exist: the most similar name that exists, or the given text if none is similar.
struct Similar<'a>(Option<&'a str>, &'static str);

impl fmt::Display for Similar<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(similar) => write!(f, ": did you mean `{similar}`?"),
            None => write!(f, ": {}", self.1),
        }
    }
}
