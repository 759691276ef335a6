//! The questions of a participant to a register, and the answers.
//!
//! A register is one lease record and one claim record in a store, each with compare-and-swap. Questions and answers
//! stay in one process: none of them has bytes.
//!
//! Every question is answered once or not at all. A missing answer, and the answer [`Failed`](Answer::Failed), leave
//! the outcome of a swap unknown: it may have been applied, or may be applied later.

use super::{
    Micros,
    record::{ClaimRecord, LeaseRecord, RecordError},
};
use crate::protocol::Rank;

/// A question to a register. [`RegisterShown`] answers it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RegisterQuestion {
    /// "What do you hold?"
    Read(ReadRegister),
    /// "Hold this, if nothing has changed since you showed me that."
    Swap(Box<SwapRegister>),
}

/// "What do you hold?"
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReadRegister {
    /// The number of the question among those of this incarnation; an answer echoes it.
    pub request: u64,
}

/// "Hold this, if nothing has changed since you showed me that version."
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SwapRegister {
    /// The number of the question among those of this incarnation; an answer echoes it.
    pub request: u64,
    /// The version that was shown last, of the same record.
    pub expected: Version,
    /// The record that replaces it.
    pub record: Swapped,
}

/// One of the two records, to be written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Swapped {
    /// The lease.
    Lease(LeaseRecord),
    /// The claim.
    Claim(ClaimRecord),
}

/// A message of a register: its answer to a question, or a report of a change.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RegisterShown {
    /// The question that this answers; `None` for a report of a change.
    pub request: Option<u64>,
    /// Age of the read, for a report: it shows the store at some time since the read. Zero for the answer to a
    /// question, whose own time counts.
    pub age: Micros,
    /// Shortest time that the question waited at the register before the store was asked: an answer counts from then.
    pub waited: Micros,
    /// Set if the register knows its former content from a notification of its store, and the notifications do not lead
    /// to the present content. The contents in between are then unknown.
    pub is_broken: bool,
    /// The answer.
    pub answer: Answer,
}

/// Answers of a register.
#[expect(
    clippy::large_enum_variant,
    reason = "most answers are of the largest kind, and all are in a box"
)]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// To a read, and unasked: the contents, not older than the question.
    Holds {
        /// The lease.
        lease: Cell<LeaseRecord>,
        /// The claim.
        claim: Cell<ClaimRecord>,
    },
    /// To a swap: it was applied, and this is the version of the written record.
    Applied(Version),
    /// To a swap: it was not applied and will not be, because the record has another version.
    Changed,
    /// Unasked: the highest in rank of the agents of other processes that the store lists. A hint to whom to hand over.
    Contender(Option<Rank>),
    /// The store did not carry out the question, or did not confirm it in time. A swap may have been applied, or may be
    /// applied later.
    Failed,
}

/// One record and its version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cell<R> {
    /// The version of the content, including an empty content.
    pub version: Version,
    /// The content: nothing, a record, or something else.
    pub content: Result<Option<R>, RecordError>,
}

/// The store's name for the content of one of its records at a time: opaque, and only compared for equality.
///
/// A store that can go back to a backup has to make sure that no two contents have one version: nonces differ,
/// so the record's own text, or a digest of it, will do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Version(Box<[u8]>);

impl Version {
    /// The longest, in bytes.
    pub const MAX_LEN: usize = 64;

    /// A version of these bytes; `None` if there are more than [`MAX_LEN`](Self::MAX_LEN).
    pub fn new(bytes: &[u8]) -> Option<Self> {
        (bytes.len() <= Self::MAX_LEN).then(|| Self(bytes.into()))
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl RegisterShown {
    /// The answer to the question of that number.
    pub const fn to(request: u64, answer: Answer) -> Self {
        Self {
            request: Some(request),
            age: Micros(0),
            waited: Micros(0),
            is_broken: false,
            answer,
        }
    }

    /// The same, to a question that waited this long before the store was asked.
    pub const fn after(request: u64, waited: Micros, answer: Answer) -> Self {
        Self {
            request: Some(request),
            age: Micros(0),
            waited,
            is_broken: false,
            answer,
        }
    }

    /// An answer that is told unasked, by a read of that age.
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
