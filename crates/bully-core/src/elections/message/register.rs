//! The questions of a participant to a register, and the answers.
//!
//! A register is one lease record and one claim record in a store, each with compare-and-swap. Questions and answers
//! stay in one process, so they have no form in bytes.
//!
//! Every question is answered once or not at all. After a missing answer, or the answer [`Failed`](Answer::Failed), the
//! outcome of a swap is unknown: the swap may have been applied, or may be applied later.

use super::{
    Micros,
    record::{ClaimRecord, LeaseRecord, RecordError},
};
use crate::protocol::Rank;

/// A question to a register. [`RegisterShown`] answers it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RegisterQuestion {
    /// Asks for the present contents.
    Read(ReadRegister),
    /// Replaces a record, if it still has the version that was shown last.
    Swap(Box<SwapRegister>),
}

/// The question for the present contents.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReadRegister {
    /// The number of the question among the questions of this incarnation; an answer repeats it.
    pub request: u64,
}

/// The question to replace a record, if the record still has the expected version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SwapRegister {
    /// The number of the question among the questions of this incarnation; an answer repeats it.
    pub request: u64,
    /// The version of this record that the register showed last.
    pub expected: Version,
    /// The record that replaces the present record.
    pub record: Swapped,
}

/// The new content of one of the two records.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Swapped {
    /// The lease.
    Lease(LeaseRecord),
    /// The claim.
    Claim(ClaimRecord),
}

/// A message of a register: an answer to a question, or a report of a change.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RegisterShown {
    /// The number of the question that this answers; `None` for a report of a change.
    pub request: Option<u64>,
    /// For a report: time since the register began to read the store. The contents were read at some moment since then.
    /// Zero for the answer to a question, because the sending time of the question counts instead.
    pub age: Micros,
    /// Time for which the question waited at the register before the store was asked; the real wait was at least as
    /// long. The age of the answer counts from the end of this time.
    pub waited: Micros,
    /// Set if the register knew an earlier content from a notification of its store, but was not notified of every
    /// change from the earlier content to the present content. Then the register does not know the contents in between.
    pub is_broken: bool,
    /// The answer, or the content of the report.
    pub answer: Answer,
}

/// The answers of a register.
#[expect(
    clippy::large_enum_variant,
    reason = "most answers are of the largest kind, and all are in a box"
)]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// For a read or a report: the contents of both records. After a read, they are not older than the question.
    Holds {
        /// The record of the lease, and its version.
        lease: Cell<LeaseRecord>,
        /// The record of the claim, and its version.
        claim: Cell<ClaimRecord>,
    },
    /// For a swap: the swap was applied, and this is the version of the written record.
    Applied(Version),
    /// For a swap: the swap was not applied and will not be, because the record has another version.
    Changed,
    /// In a report: the highest-ranked agent of other processes that the store lists; `None` if the store lists no such
    /// agent.
    Contender(Option<Rank>),
    /// The store did not carry out the question, or did not confirm it in time. A swap may have been applied, or may
    /// be applied later.
    Failed,
}

/// One record and its version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cell<R> {
    /// The version of the content. An empty content also has a version.
    pub version: Version,
    /// The content: no record, a record, or a text that is not a record.
    pub content: Result<Option<R>, RecordError>,
}

/// The store's mark for one content of one record. It is opaque: an agent only compares it with other marks.
///
/// If a store can go back to a backup, it has to make sure that no two contents have the same version. Nonces differ,
/// so the text of the record, or a digest of it, can be the version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Version(Box<[u8]>);

impl Version {
    /// Largest length of a version, in bytes.
    pub const MAX_LEN: usize = 64;

    /// Returns the version with these bytes; `None` for more than [`MAX_LEN`](Self::MAX_LEN) bytes.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        (bytes.len() <= Self::MAX_LEN).then(|| Self(bytes.into()))
    }

    /// Returns the bytes of the version.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl RegisterShown {
    /// Returns the answer to the question with this number.
    pub const fn to(request: u64, answer: Answer) -> Self {
        Self {
            request: Some(request),
            age: Micros(0),
            waited: Micros(0),
            is_broken: false,
            answer,
        }
    }

    /// Returns the answer to a question that waited this long before the store was asked.
    pub const fn after(request: u64, waited: Micros, answer: Answer) -> Self {
        Self {
            request: Some(request),
            age: Micros(0),
            waited,
            is_broken: false,
            answer,
        }
    }

    /// Returns a report without a question, based on a read of this age.
    pub const fn unasked(age: Micros, answer: Answer) -> Self {
        Self {
            request: None,
            age,
            waited: Micros(0),
            is_broken: false,
            answer,
        }
    }
}
