//! Names and counters: of agents, of their incarnations, and of terms.
//!
//! Decided here: which name is valid, and that the counters never wrap. Not here: which of two agents has the higher
//! rank; [`Rank`](super::Rank) decides that.
#![warn(clippy::arithmetic_side_effects)]

use std::{
    borrow::Borrow,
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    num::NonZeroU64,
    str::FromStr,
    sync::Arc,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Visitor};

/// The name of one agent, unique within its group.
///
/// A name has 1 to 256 bytes, all printable. It has no white space, no format character (such as a character that turns
/// the direction of writing), and none of `/ * $ # ?`, which have a meaning in the addresses of message brokers.
/// Cloning copies a pointer.
///
/// ```
/// # use bully_core::protocol::AgentId;
/// let id: AgentId = "agent-3".parse()?;
/// assert_eq!(id.as_str(), "agent-3");
/// assert!("agent 3".parse::<AgentId>().is_err());
/// # Ok::<(), bully_core::protocol::IdError>(())
/// ```
#[derive(Clone)]
pub struct AgentId {
    name: Arc<str>,
    /// A hash of the name. By the hash a member is found quickly, and most names are distinguished without reading
    /// them.
    hash: u32,
}

impl AgentId {
    /// Length of the longest name, in bytes.
    pub const MAX_LEN: usize = 256;

    /// Checks a name.
    ///
    /// # Errors
    /// [`IdError`] when the name is empty, too long, or has a character that is not allowed.
    pub fn new(name: &str) -> Result<Self, IdError> {
        if name.is_empty() {
            return Err(IdError::Empty);
        }
        if name.len() > Self::MAX_LEN {
            return Err(IdError::TooLong {
                len: name.len(),
                max: Self::MAX_LEN,
            });
        }
        let forbidden = |c: char| {
            c.is_whitespace()
                || c.is_control()
                || is_format(c)
                || matches!(c, '/' | '*' | '$' | '#' | '?')
        };
        match name.chars().find(|c| forbidden(*c)) {
            Some(found) => Err(IdError::Forbidden { found }),
            None => Ok(Self {
                name: name.into(),
                hash: fnv1a(name.as_bytes()),
            }),
        }
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.name
    }

    pub(super) const fn hash(&self) -> u32 {
        self.hash
    }
}

/// Returns whether a character is visible only by its effect on other characters (the category Cf of Unicode 16). A
/// name with such a character looks like another name, or changes the direction of the text beside it.
const fn is_format(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{600}'..='\u{605}'
            | '\u{61c}'
            | '\u{6dd}'
            | '\u{70f}'
            | '\u{890}'..='\u{891}'
            | '\u{8e2}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{110bd}'
            | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0001}'
            | '\u{e0020}'..='\u{e007f}'
    )
}

/// Returns the hash FNV-1a of these bytes, in 32 bits.
fn fnv1a(bytes: &[u8]) -> u32 {
    let mix = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    bytes.iter().fold(0x811c_9dc5, mix)
}

impl PartialEq for AgentId {
    fn eq(&self, other: &Self) -> bool {
        // In most cases both names are copies of the same pointer.
        Arc::ptr_eq(&self.name, &other.name) || self.hash == other.hash && self.name == other.name
    }
}

impl Eq for AgentId {}

impl PartialOrd for AgentId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for AgentId {
    fn cmp(&self, other: &Self) -> Ordering {
        if Arc::ptr_eq(&self.name, &other.name) {
            return Ordering::Equal; // most searches end at a copy of the same pointer
        }
        self.name.cmp(&other.name)
    }
}

impl Hash for AgentId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state); // equal to the hash of the `str`, because an `AgentId` can be borrowed as one
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

impl fmt::Debug for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

impl FromStr for AgentId {
    type Err = IdError;
    fn from_str(name: &str) -> Result<Self, IdError> {
        Self::new(name)
    }
}

impl TryFrom<&str> for AgentId {
    type Error = IdError;
    fn try_from(name: &str) -> Result<Self, IdError> {
        Self::new(name)
    }
}

impl TryFrom<String> for AgentId {
    type Error = IdError;
    fn try_from(name: String) -> Result<Self, IdError> {
        Self::new(&name)
    }
}

impl AsRef<str> for AgentId {
    fn as_ref(&self) -> &str {
        &self.name
    }
}

impl Borrow<str> for AgentId {
    fn borrow(&self) -> &str {
        &self.name
    }
}

impl PartialEq<str> for AgentId {
    fn eq(&self, name: &str) -> bool {
        self.as_str() == name
    }
}

impl PartialEq<&str> for AgentId {
    fn eq(&self, name: &&str) -> bool {
        self.as_str() == *name
    }
}

impl Serialize for AgentId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name)
    }
}

impl<'de> Deserialize<'de> for AgentId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Name)
    }
}

/// Checks a name before it is copied: a refused name is never copied.
struct Name;

impl Visitor<'_> for Name {
    type Value = AgentId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an agent's name")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<AgentId, E> {
        AgentId::new(name).map_err(E::custom)
    }
}

/// The reason why a name was refused.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// The name has no characters.
    #[error("an agent's name is empty: give it 1 to 256 bytes")]
    Empty,
    /// The name is longer than the limit.
    #[error("an agent's name of {len} bytes exceeds the limit of {max}: shorten it")]
    TooLong {
        /// Length of the name in bytes.
        len: usize,
        /// The limit in bytes.
        max: usize,
    },
    /// The name has a character that has a meaning in addresses, or that cannot be seen.
    #[error(
        "an agent's name contains {found:?}: use printable characters without white space, format characters and / * $ # ?"
    )]
    Forbidden {
        /// The first forbidden character.
        found: char,
    },
}

debug_is_text!(IdError);

/// The number of an election that was won. A larger term is newer, for every observer.
///
/// It never wraps: [`next`](Self::next) ends at `u64::MAX`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Term(pub u64);

impl Term {
    /// The term before the first election.
    pub const ZERO: Self = Self(0);

    /// Returns the next term; `None` after the largest term.
    #[must_use]
    pub fn next(self) -> Option<Self> {
        self.0.checked_add(1).map(Self)
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of an agent's incarnation. An incarnation is the time between two crashes, and its number grows with each
/// restart.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Incarnation(pub u64);

impl Incarnation {
    /// Returns the next incarnation.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of a store of votes, given when the store is made (a random number for a file). It is shown as 16 hex
/// digits.
///
/// A voter that has lost its store comes back with another store. By this number the voter's peers notice the other
/// store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StoreId(NonZeroU64);

impl StoreId {
    /// Makes the id with the number `number`. No store has the number 0, so 0 becomes 1.
    pub const fn new(number: u64) -> Self {
        match NonZeroU64::new(number) {
            Some(number) => Self(number),
            None => Self(NonZeroU64::MIN),
        }
    }

    /// Returns the number.
    pub const fn get(self) -> u64 {
        self.0.get()
    }
}

impl From<NonZeroU64> for StoreId {
    fn from(number: NonZeroU64) -> Self {
        Self(number)
    }
}

impl fmt::Display for StoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The identity of one round of questions that an agent asks. An answer repeats the whole identity.
///
/// So the agent recognizes an answer to a former incarnation or to an earlier question, and does not count this answer.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Round {
    /// The asker's incarnation.
    pub incarnation: Incarnation,
    /// The number of the question within that incarnation.
    pub counter: u64,
}

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.incarnation, self.counter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_checked() {
        assert_eq!(AgentId::new(""), Err(IdError::Empty));
        assert_eq!(
            AgentId::new(&"x".repeat(257)),
            Err(IdError::TooLong { len: 257, max: 256 })
        );
        assert!(AgentId::new(&"x".repeat(256)).is_ok());
        for (name, found) in [
            ("a b", ' '),
            ("a/b", '/'),
            ("a\u{0}", '\u{0}'),
            ("ä?", '?'),
            ("a\u{a0}", '\u{a0}'),
            ("a\u{202e}b", '\u{202e}'),
            ("a\u{200b}", '\u{200b}'),
            ("\u{feff}a", '\u{feff}'),
            ("a\u{ad}b", '\u{ad}'),
            ("a\u{2066}", '\u{2066}'),
            ("a\u{e0041}", '\u{e0041}'),
        ] {
            assert_eq!(AgentId::new(name), Err(IdError::Forbidden { found }));
        }
        for name in ["größe-1.Ω", "שרת-1", "خادم", "サーバ"] {
            assert!(AgentId::new(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_name_is_its_text() {
        let id = AgentId::new("a").unwrap();
        assert!(id == *"a" && id == "a" && id != *"b" && id != "b");
        let names = std::collections::BTreeSet::from([id]);
        assert!(names.contains("a") && !names.contains("") && !names.contains("b"));
    }

    #[test]
    fn counters_end_and_do_not_wrap() {
        assert_eq!(Term(u64::MAX).next(), None);
        assert_eq!(Term(7).next(), Some(Term(8)));
        assert_eq!(Incarnation(u64::MAX).next(), Incarnation(u64::MAX));
    }

    #[test]
    fn a_store_is_shown_by_all_its_digits() {
        assert_eq!(StoreId::new(0xab).to_string(), "00000000000000ab");
        assert_eq!(StoreId::new(u64::MAX).to_string(), "ffffffffffffffff");
    }

    #[test]
    fn rounds_order_by_incarnation_first() {
        let round = |i, counter| Round {
            incarnation: Incarnation(i),
            counter,
        };
        assert!(round(2, 0) > round(1, 99));
    }
}
