//! A setting that several calls of a builder can make.
//!
//! Decided here: two different calls for one setting are refused with an error that names both, in whichever order they
//! were made. The same call may be repeated; the latest value counts. Not here: which setters a builder has. `pairs.rs`
//! helps tests to find two calls where one call loses the setting of the other.

#[cfg(any(test, feature = "testkit"))]
pub mod pairs;

use std::collections::BTreeSet;

/// A setting, and the names of the calls that have set it.
#[derive(Clone, Debug)]
pub struct OneOf<T> {
    made: Option<T>,
    /// The names of the calls, sorted, so that an error does not depend on the order of the calls.
    calls: BTreeSet<&'static str>,
}

/// The error for two different calls that set the same setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The name of the first call.
    pub first: &'static str,
    /// The name of the other call.
    pub second: &'static str,
}

impl<T> OneOf<T> {
    /// Returns a setting that no call has set.
    pub const fn none() -> Self {
        Self {
            made: None,
            calls: BTreeSet::new(),
        }
    }

    /// Sets the setting, and notes the call that did.
    pub fn make(&mut self, call: &'static str, setting: T) {
        self.calls.insert(call);
        self.made = Some(setting);
    }

    /// Returns the setting of the latest call.
    ///
    /// # Errors
    /// [`Contradiction`] if two different calls set it.
    pub fn get(&self) -> Result<Option<&T>, Contradiction> {
        let mut calls = self.calls.iter();
        match (calls.next(), calls.next()) {
            (Some(first), Some(second)) => Err(Contradiction { first, second }),
            _ => Ok(self.made.as_ref()),
        }
    }
}

/// A setting that no call has set.
impl<T> Default for OneOf<T> {
    fn default() -> Self {
        Self::none()
    }
}
