//! The first difference between two runs.

use std::fmt;

use super::Recording;

/// The first line in which two recordings differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Number of the line, counted from 1.
    pub line: usize,
    /// The line with this number in the first recording; `None` if the recording is shorter.
    pub one: Option<String>,
    /// The line with this number in the second recording; `None` if the recording is shorter.
    pub other: Option<String>,
}

impl Difference {
    pub(super) fn between(one: &Recording, other: &Recording) -> Option<Self> {
        if one.header() != other.header() {
            return Some(Self {
                line: 1,
                one: Some(one.header().to_line()),
                other: Some(other.header().to_line()),
            });
        }
        let (ours, theirs) = (one.entries(), other.entries());
        let longest = ours.len().max(theirs.len());
        let at = (0..longest).find(|at| ours.get(*at) != theirs.get(*at))?;
        Some(Self {
            line: at.saturating_add(2),
            one: ours.get(at).map(super::TraceEntry::to_line),
            other: theirs.get(at).map(super::TraceEntry::to_line),
        })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = |line: &Option<String>| line.clone().unwrap_or_else(|| "nothing".to_owned());
        let (one, other) = (said(&self.one), said(&self.other));
        write!(f, "line {} differs: {one} and {other}", self.line)
    }
}
