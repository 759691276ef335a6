//! Keys and values of a register: a key has a form that each kind of store accepts, and a value has a limited size.
//!
//! Decided here: the form of a valid key, the largest value, and that a value that was read from a store is checked
//! before it is used.

use std::{fmt, str::FromStr, sync::Arc};

use super::RegisterError;
use bully_core::protocol::{AgentId, IdError};

/// Largest value, in bytes: enough for a lease with the longest names, with room to spare.
pub const MOST_BYTES: usize = 4_096;

/// Largest number of entries that a register lists. Chosen: a list is held in memory, up to 4 MB of values. A group
/// with more contenders (agents that want the lease) still elects, but cannot list them.
pub const MOST_LISTED: usize = 1_000;

/// The name of one value in a register: one to four names in the form of an [`AgentId`], separated by `/`.
///
/// ```
/// # use bully_register::RegisterKey;
/// let key: RegisterKey = "shop/orders/holder".parse()?;
/// assert_eq!(key.as_str(), "shop/orders/holder");
/// assert!("orders//holder".parse::<RegisterKey>().is_err());
/// # Ok::<(), bully_core::protocol::IdError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegisterKey(Arc<str>);

impl RegisterKey {
    /// Returns the key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether this key begins with all names of `prefix`, and has more names.
    ///
    /// ```
    /// # use bully_register::RegisterKey;
    /// let present: RegisterKey = "shop/present".parse()?;
    /// assert!("shop/present/api-1".parse::<RegisterKey>()?.is_below(&present));
    /// assert!(!"shop/presents/api-1".parse::<RegisterKey>()?.is_below(&present));
    /// # Ok::<(), bully_core::protocol::IdError>(())
    /// ```
    pub fn is_below(&self, prefix: &Self) -> bool {
        let rest = self.0.strip_prefix(prefix.as_str());
        rest.is_some_and(|rest| rest.starts_with('/'))
    }
}

impl FromStr for RegisterKey {
    type Err = IdError;

    fn from_str(key: &str) -> Result<Self, IdError> {
        let mut parts = 0;
        for part in key.split('/') {
            parts += 1;
            // The length of each part is checked, so only the number of parts is left to check.
            if parts > MOST_PARTS {
                return Err(IdError::Forbidden { found: '/' });
            }
            AgentId::new(part)?;
        }
        Ok(Self(key.into()))
    }
}

impl fmt::Display for RegisterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Largest number of names in a key.
const MOST_PARTS: usize = 4;

/// Identifies one write of an entry: a text that the store chooses. Two versions are equal or not; they have no order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version(Arc<str>);

impl Version {
    /// Length of the longest version, in bytes.
    pub const MAX_LEN: usize = 64;

    /// Makes a version from this text; `None` if the text is longer than [`MAX_LEN`](Self::MAX_LEN).
    pub fn new(text: &str) -> Option<Self> {
        (text.len() <= Self::MAX_LEN).then(|| Self(text.into()))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Makes a version from a number, for a store that numbers its writes.
impl From<u64> for Version {
    fn from(number: u64) -> Self {
        Self(number.to_string().into())
    }
}

/// A value that was read, with its version.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The version.
    pub version: Version,
    /// The value, of at most [`MOST_BYTES`] bytes.
    pub value: Vec<u8>,
}

impl Entry {
    /// Makes an entry from the data of a store.
    ///
    /// # Errors
    /// [`RegisterError::Foreign`] for a value that is too large, because no register writes such a value.
    pub fn new(key: &RegisterKey, version: Version, value: Vec<u8>) -> Result<Self, RegisterError> {
        if value.len() > MOST_BYTES {
            return Err(RegisterError::Foreign { key: key.clone() });
        }
        Ok(Self { version, value })
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("version", &self.version)
            .field("value", &String::from_utf8_lossy(&self.value))
            .finish()
    }
}

/// Returns the entry that a confirmed swap has written. The value is not too large, since the register accepted it.
#[doc(hidden)]
pub const fn entry_of_swap(version: Version, value: Vec<u8>) -> Entry {
    Entry { version, value }
}

pub(super) fn check_size(value: &[u8]) -> Result<(), RegisterError> {
    match value.len() {
        len if len > MOST_BYTES => Err(RegisterError::TooLarge { len }),
        _ => Ok(()),
    }
}
