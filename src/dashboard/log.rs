//! The newest entries of a page's log.
//!
//! Decided here: elections have a separate list, because many messages would soon replace them; and the length of both
//! lists. Not here: the entries (`said.rs`).

use std::collections::VecDeque;

use super::said::{Happened, Said, shorten};

#[derive(Debug, Default)]
pub(crate) struct PageLog {
    said: VecDeque<Said>,
    elections: VecDeque<Said>,
}

impl PageLog {
    /// Adds entries, and forgets the oldest entries over the limit.
    pub(crate) fn add(&mut self, said: impl IntoIterator<Item = Said>) {
        for mut entry in said {
            shorten(&mut entry);
            let list = if matches!(entry.what, Happened::Election { .. }) {
                &mut self.elections
            } else {
                &mut self.said
            };
            list.push_back(entry);
            if list.len() > REMEMBERED {
                list.pop_front();
            }
        }
    }

    /// Returns the entries, and the elections.
    pub(crate) fn lists(&mut self) -> [&[Said]; 2] {
        [
            self.said.make_contiguous(),
            self.elections.make_contiguous(),
        ]
    }
}

/// Length of each list. It is short, because a new viewer gets both lists.
const REMEMBERED: usize = 300;
