//! Replaces the stores that are servers, in a build without them.

use crate::{Wrong, group::Way};

/// A store that does not exist.
pub(crate) enum Store {}

impl Store {
    pub(crate) fn start(way: Way, _processes: usize) -> Result<Self, Wrong> {
        let name = way.name();
        Err(Wrong(format!(
            "build it with the feature `stores` for {name}"
        )))
    }

    pub(crate) fn address(&self) -> String {
        match *self {}
    }

    pub(crate) fn operations(&self) -> Option<i64> {
        match *self {}
    }
}
