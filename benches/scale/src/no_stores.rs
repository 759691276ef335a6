//! In place of the stores that are servers, where they are not built.

use crate::{Wrong, group::Way};

/// There is none.
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
