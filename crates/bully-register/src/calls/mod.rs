//! A setting that a builder has several calls for.
//!
//! Decided here: two different calls for one setting are refused by both names, in any order of the calls. The same
//! call may be repeated, and the latest counts. Not here: which setters a builder has. How its tests find a pair that
//! loses a setting: `pairs.rs`.

#[cfg(any(test, feature = "testkit"))]
pub mod pairs;

use std::collections::BTreeSet;

/// A setting, and the calls that have made it.
#[derive(Clone, Debug)]
pub struct OneOf<T> {
    made: Option<T>,
    /// The names of the calls; their order does not matter.
    calls: BTreeSet<&'static str>,
}

/// Two calls that make one setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The name of the first one.
    pub first: &'static str,
    /// The other one.
    pub second: &'static str,
}

impl<T> OneOf<T> {
    /// No call yet.
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

    /// The setting of the latest call.
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

/// No call yet.
impl<T> Default for OneOf<T> {
    fn default() -> Self {
        Self::none()
    }
}
