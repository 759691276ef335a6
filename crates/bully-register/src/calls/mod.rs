//! A setting that several calls of a builder can make.
//!
//! Decided here: two different calls for one setting are refused, with both names, in any order of the calls. The same
//! call may be repeated, and the latest counts. Not here: which setters a builder has. `pairs.rs` is for tests that
//! find a pair of calls that loses a setting.

#[cfg(any(test, feature = "testkit"))]
pub mod pairs;

use std::collections::BTreeSet;

/// A setting, and the calls that have made it.
#[derive(Clone, Debug)]
pub struct OneOf<T> {
    made: Option<T>,
    /// The names of the calls, sorted, so that an error does not depend on the order of the calls.
    calls: BTreeSet<&'static str>,
}

/// Two calls that make one setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The name of the first call.
    pub first: &'static str,
    /// The name of the other call.
    pub second: &'static str,
}

impl<T> OneOf<T> {
    /// Makes a setting that no call has made.
    pub const fn none() -> Self {
        Self {
            made: None,
            calls: BTreeSet::new(),
        }
    }

    /// Notes a call and its setting.
    pub fn make(&mut self, call: &'static str, setting: T) {
        self.calls.insert(call);
        self.made = Some(setting);
    }

    /// Returns the setting of the latest call.
    ///
    /// # Errors
    /// [`Contradiction`] if two different calls made it.
    pub fn get(&self) -> Result<Option<&T>, Contradiction> {
        let mut calls = self.calls.iter();
        match (calls.next(), calls.next()) {
            (Some(first), Some(second)) => Err(Contradiction { first, second }),
            _ => Ok(self.made.as_ref()),
        }
    }
}

/// A setting that no call has made.
impl<T> Default for OneOf<T> {
    fn default() -> Self {
        Self::none()
    }
}
