//! The failures, with advice.

use std::{io, path::PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    #[error("{path:?} cannot be used: {source}")]
    File { path: PathBuf, source: io::Error },
    #[error("{path:?} is there already: remove it, or choose another folder; nothing was written")]
    Exists { path: PathBuf },
    #[error("only one of {certificate:?} and {key:?} is there: remove it to begin anew")]
    HalfAnAuthority { certificate: PathBuf, key: PathBuf },
    #[error(
        "{name:?} cannot be a node's name: use labels of 1 to 63 lower-case letters, digits and inner hyphens, joined by dots, and a letter in the last one"
    )]
    Name { name: String },
    #[error("\"ca\" is the authority's own name here: call the node something else")]
    Reserved,
    #[error("no certificate can be made: {0}")]
    Issue(#[from] rcgen::Error),
}
