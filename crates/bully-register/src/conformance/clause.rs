//! The clauses of the contract, each with its name and its sentence.
//!
//! Decided here: the words of a report and of an error. The tests of the clauses are in the files beside this one.

use std::{collections::BTreeSet, fmt};

/// A clause of the contract of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Clause {
    /// All connections to one store have the same name.
    OneName,
    /// A key that was never written has no entry.
    AbsentIsNone,
    /// A read shows the written bytes and the version that the swap returned.
    ReadsWhatWasWritten,
    /// Each key has its own entry: similar keys are not mixed up.
    KeysApart,
    /// A swap whose expected entry is not the present entry changes nothing and shows the present entry.
    SwapCompares,
    /// Each write gets a version that the key never had before.
    NewVersion,
    /// A value of the largest allowed size is kept whole, and a larger value is refused.
    LargestValue,
    /// An operation that begins after a confirmed swap sees its effect, on every connection.
    SeenAtOnce,
    /// Of several swaps that expect the same entry, at most one succeeds.
    OneWins,
    /// A swap is applied at most once, even if its answer was lost.
    AppliedOnce,
    /// A conflict, and every error except `Unknown`, means that nothing was changed and nothing will be changed.
    FailureMeansUnchanged,
    /// An operation does nothing before it is polled.
    WaitsForPoll,
    /// An operation that is dropped does not harm another operation.
    DropHarmsNothing,
    /// A removal removes the entry that it expects, and no other entry.
    RemovalCompares,
    /// A listing returns all entries below a key, in the order of their keys, or the error that there are too many.
    ListsBelow,
    /// A register with a stream of changes reports changes.
    TellsChanges,
}

impl Clause {
    /// All clauses.
    pub const ALL: [Self; 16] = [
        Self::OneName,
        Self::AbsentIsNone,
        Self::ReadsWhatWasWritten,
        Self::KeysApart,
        Self::SwapCompares,
        Self::NewVersion,
        Self::LargestValue,
        Self::SeenAtOnce,
        Self::OneWins,
        Self::AppliedOnce,
        Self::FailureMeansUnchanged,
        Self::WaitsForPoll,
        Self::DropHarmsNothing,
        Self::RemovalCompares,
        Self::ListsBelow,
        Self::TellsChanges,
    ];

    /// Returns the name of the clause, as an error writes it.
    pub const fn name(self) -> &'static str {
        self.words().0
    }

    /// Returns the requirement of the clause, in a sentence.
    pub const fn sentence(self) -> &'static str {
        self.words().1
    }

    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::OneName => ("one-name", "two connections to one store have one name"),
            Self::AbsentIsNone => ("absent-is-none", "a key that nobody wrote has no entry"),
            Self::ReadsWhatWasWritten => (
                "reads-what-was-written",
                "a read shows the written bytes and the version that the swap returned",
            ),
            Self::KeysApart => ("keys-apart", "each key has an entry of its own"),
            Self::SwapCompares => (
                "swap-compares",
                "a swap whose expected entry is not there changes nothing and shows the entry that is there",
            ),
            Self::NewVersion => (
                "new-version",
                "each write has a version that its key never had before",
            ),
            Self::LargestValue => (
                "largest-value",
                "a value of 4,096 bytes is kept whole, and a larger one is refused as `TooLarge`",
            ),
            Self::SeenAtOnce => (
                "seen-at-once",
                "an operation that begins after a confirmed swap knows of it, on every connection",
            ),
            Self::OneWins => (
                "one-wins",
                "of several swaps that expect the same entry, one succeeds at most",
            ),
            Self::AppliedOnce => (
                "applied-once",
                "a swap is applied once at most, also if its answer was lost",
            ),
            Self::FailureMeansUnchanged => (
                "failure-means-unchanged",
                "a conflict, and every error but `Unknown`, means that nothing was changed and nothing will be",
            ),
            Self::WaitsForPoll => (
                "waits-for-poll",
                "an operation does nothing before it is polled",
            ),
            Self::DropHarmsNothing => (
                "drop-harms-nothing",
                "an operation that is dropped harms no other one",
            ),
            Self::RemovalCompares => (
                "removal-compares",
                "a removal removes the entry that it expects, and no other one",
            ),
            Self::ListsBelow => (
                "lists-below",
                "a listing shows all entries below a key, in the order of their keys, or says that there are too many",
            ),
            Self::TellsChanges => (
                "tells-changes",
                "a register that offers a stream of changes tells of them",
            ),
        }
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The results of the suite for a register that keeps the contract.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    held: BTreeSet<Clause>,
    missed_changes: u32,
}

impl Report {
    pub(super) fn hold(&mut self, clauses: &[Clause]) {
        self.held.extend(clauses);
    }

    pub(super) fn miss(&mut self, changes: u32) {
        self.missed_changes = changes;
    }

    /// Returns whether the suite has tested this clause, and it holds. Clauses about an operation that the register
    /// does not offer are not tested.
    pub fn holds(&self, clause: Clause) -> bool {
        self.held.contains(&clause)
    }

    /// Returns the number of changes that the register did not report, of the (at most eleven) changes that the suite
    /// made. A stream may miss some changes; agents then learn of a change at their next read.
    pub const fn missed_changes(&self) -> u32 {
        self.missed_changes
    }
}

/// One line for each clause.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for clause in Clause::ALL {
            let outcome = if self.holds(clause) {
                clause.sentence()
            } else {
                "(the register does not offer this)"
            };
            writeln!(f, "{clause:24} {outcome}")?;
        }
        match self.missed_changes {
            0 => Ok(()),
            missed => writeln!(f, "{missed} changes were not told of within 5 s"),
        }
    }
}
