//! The reasons why a register does not pass the suite.
//!
//! Decided here: a broken clause and a store that does not answer are different errors. If the store does not answer,
//! it is not known whether the clause holds.

use std::{fmt, time::Duration};

use super::Clause;
use crate::RegisterError;

/// The reason why a register does not pass the suite.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum NonConformance {
    /// The register breaks the contract.
    #[error("the register breaks `{clause}` ({}): {found}; let no election use it before this is mended", clause.sentence())]
    Broken {
        /// The broken clause.
        clause: Clause,
        /// The observation.
        found: Found,
    },
    /// An operation has failed at each try: the store cannot be reached, or refuses the operation. So it is not known
    /// whether the clause holds.
    #[error(
        "the register failed while `{clause}` was tested, so test it again once its store works: {source}"
    )]
    Failed {
        /// The clause that was tested.
        clause: Clause,
        /// The last error.
        #[source]
        source: RegisterError,
    },
    /// An operation did not end. A register has to fail an operation whose store does not answer.
    #[error(
        "an operation did not end within {limit:?} while `{clause}` was tested: let the register return an error if its store does not answer"
    )]
    Overdue {
        /// The clause that was tested.
        clause: Clause,
        /// The limit.
        limit: Duration,
    },
    /// The register has panicked.
    #[error("the register panicked while `{clause}` was tested: let it return an error instead")]
    Panicked {
        /// The clause that was tested.
        clause: Clause,
    },
    /// The suite was not called in a runtime of tokio.
    #[error(
        "the suite needs a runtime of tokio with a clock: call it in `#[tokio::test]` or `#[actix::test]`"
    )]
    NoRuntime,
}

debug_is_text!(NonConformance);

impl NonConformance {
    /// Returns the clause that is broken, or that was tested when the register failed.
    pub const fn clause(&self) -> Option<Clause> {
        match self {
            Self::Broken { clause, .. }
            | Self::Failed { clause, .. }
            | Self::Overdue { clause, .. }
            | Self::Panicked { clause } => Some(*clause),
            Self::NoRuntime => None,
        }
    }
}

/// An observation of the suite, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found(String);

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Clause {
    pub(super) fn broken(self, found: impl Into<String>) -> NonConformance {
        NonConformance::Broken {
            clause: self,
            found: Found(found.into()),
        }
    }

    /// Returns an error unless `holds` is true.
    pub(super) fn check(
        self,
        holds: bool,
        found: impl FnOnce() -> String,
    ) -> Result<(), NonConformance> {
        if holds {
            Ok(())
        } else {
            Err(self.broken(found()))
        }
    }
}
