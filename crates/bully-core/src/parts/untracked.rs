//! A value that no rule of an election reads.

use std::{
    fmt,
    hash::{Hash, Hasher},
};

/// A value for people beside the state of a machine. Two states that differ only in such values are equal and have the
/// same debug text, so that a search of all states visits one of them.
#[derive(Clone, Copy, Default)]
pub struct Untracked<T>(pub T);

impl<T> fmt::Debug for Untracked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

impl<T> PartialEq for Untracked<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Untracked<T> {}

impl<T> Hash for Untracked<T> {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
