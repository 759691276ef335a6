//! The error of a program that checks real processes.

use std::{error::Error, fmt, io};

/// A step that failed, or a promise that was broken.
#[derive(Debug)]
pub(crate) struct Wrong(pub(crate) String);

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Wrong {}

impl From<io::Error> for Wrong {
    fn from(wrong: io::Error) -> Self {
        Self(wrong.to_string())
    }
}
