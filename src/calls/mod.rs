//! A setting that a builder has several calls for.
//!
//! Decided here: that two different calls for one setting are refused by both names, in whatever order they came. The same call
//! may be repeated, and the latest counts. Not here: which setters a builder has. How its tests find a pair that
//! loses a setting: `pairs.rs`.

#[cfg(test)]
pub(crate) mod pairs;

use std::collections::BTreeSet;

/// A setting, and the calls that have made it.
#[derive(Clone, Debug)]
pub(crate) struct OneOf<T> {
    made: Option<T>,
    /// By name: the same words in whatever order they were called.
    calls: BTreeSet<&'static str>,
}

/// Two calls that make one setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Contradiction {
    pub(crate) first: &'static str,
    pub(crate) second: &'static str,
}

impl<T> OneOf<T> {
    pub(crate) const fn none() -> Self {
        Self {
            made: None,
            calls: BTreeSet::new(),
        }
    }

    pub(crate) fn make(&mut self, call: &'static str, setting: T) {
        self.calls.insert(call);
        self.made = Some(setting);
    }

    pub(crate) fn get(&self) -> Result<Option<&T>, Contradiction> {
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
