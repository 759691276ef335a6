//! The suite accepts registers that keep the contract, and names the broken clause for other registers.

#![expect(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a panic fails the test; a defect changes what it names and nothing else"
)]

mod wrong;

use std::thread;

use bully_register::{
    FileRegister, MemoryRegister, Register,
    conformance::{Clause, NonConformance, Report, check},
};
use wrong::{Defect, Wrong};

fn run<R: Register + 'static>(connect: impl Fn() -> R) -> Result<Report, NonConformance> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(check(connect))
}

#[test]
fn a_register_that_keeps_to_the_contract_passes() {
    let report = run(Wrong::store(Defect::Nothing)).unwrap();
    assert!(Clause::ALL.iter().all(|clause| report.holds(*clause)));
    assert_eq!(report.missed_changes(), 0);
}

#[test]
fn the_register_in_memory_passes() {
    let register = MemoryRegister::new();
    let report = run(|| register.clone()).unwrap();
    assert!(Clause::ALL.iter().all(|clause| report.holds(*clause)));
    assert_eq!(report.missed_changes(), 0);
}

#[test]
#[cfg(unix)]
fn a_folder_passes_and_has_no_stream_of_changes() {
    let folder = tempfile::tempdir().unwrap();
    let report = run(|| FileRegister::open(folder.path()).unwrap()).unwrap();
    for clause in Clause::ALL {
        let is_offered = clause != Clause::TellsChanges;
        assert_eq!(report.holds(clause), is_offered, "{clause}");
    }
    let words = report.to_string();
    assert!(
        words.contains("tells-changes            (the register does not offer this)"),
        "{words}"
    );
}

/// A defect, the clause that it breaks, and a part of what the suite says.
const WRONG: &[(Defect, Clause, &str)] = &[
    (
        Defect::NameOfConnection,
        Clause::OneName,
        "\"connection 1\" and \"connection 2\"",
    ),
    (
        Defect::AbsentIsEmpty,
        Clause::AbsentIsNone,
        "compares has an entry",
    ),
    (
        Defect::KeepsText,
        Clause::ReadsWhatWasWritten,
        "was written to",
    ),
    (
        Defect::FormerVersion,
        Clause::ReadsWhatWasWritten,
        "and \"first\" of 5 bytes (version \"1\") is read",
    ),
    (
        Defect::LosesWrites,
        Clause::ReadsWhatWasWritten,
        "was written to",
    ),
    (
        Defect::IgnoresCase,
        Clause::KeysApart,
        "has the entry of another key",
    ),
    (
        Defect::CutsKeys,
        Clause::KeysApart,
        "has the entry of another key",
    ),
    (
        Defect::ComparesPresence,
        Clause::SwapCompares,
        "expects \"first\" of 5 bytes",
    ),
    (
        Defect::ComparesValue,
        Clause::SwapCompares,
        "(version \"no version of any store\") was done",
    ),
    (Defect::ComparesAtSend, Clause::SwapCompares, "a late swap"),
    (
        Defect::ConflictShowsExpected,
        Clause::SwapCompares,
        "in its conflict while",
    ),
    (
        Defect::VersionOfValue,
        Clause::NewVersion,
        "has a version of before",
    ),
    (
        Defect::VersionsBeginAnew,
        Clause::NewVersion,
        "was written after a removal",
    ),
    (Defect::CutsValues, Clause::LargestValue, "of 1000 bytes"),
    (
        Defect::KeepsAnySize,
        Clause::LargestValue,
        "a swap of 4097 bytes ends with Ok(Done",
    ),
    (
        Defect::ReadsCache,
        Clause::SeenAtOnce,
        "another connection reads",
    ),
    (
        Defect::WritesAfterComparison,
        Clause::OneWins,
        "both replaced",
    ),
    (
        Defect::SendsAgain,
        Clause::AppliedOnce,
        "and before it had version",
    ),
    (
        Defect::WritesOnConflict,
        Clause::FailureMeansUnchanged,
        "after a conflict",
    ),
    (
        Defect::DoneIsUnreachable,
        Clause::FailureMeansUnchanged,
        "that failed with the store of the lease does not answer",
    ),
    (
        Defect::SwapsAtOnce,
        Clause::WaitsForPoll,
        "before it was polled",
    ),
    (
        Defect::DropKeepsLock,
        Clause::DropHarmsNothing,
        "did not end within 10s",
    ),
    (
        Defect::RemovesAny,
        Clause::RemovalCompares,
        "a removal that expects \"a\"",
    ),
    (
        Defect::RemovesNothing,
        Clause::RemovalCompares,
        "of the entry that is there ended with",
    ),
    (
        Defect::RemovesLate,
        Clause::RemovalCompares,
        "a late removal",
    ),
    (Defect::ListsByLetters, Clause::ListsBelow, "is listed"),
    (Defect::ListsWithoutOrder, Clause::ListsBelow, "is listed"),
    (
        Defect::ListsTheFirst,
        Clause::ListsBelow,
        "a listing ends with Ok(1000)",
    ),
    (
        Defect::TellsNothing,
        Clause::TellsChanges,
        "it reported none of the 3 changes",
    ),
    (
        Defect::TellsFormer,
        Clause::TellsChanges,
        "which no client wrote",
    ),
];

#[test]
fn each_wrong_register_fails_by_the_clause_that_it_breaks() {
    let running: Vec<_> = WRONG
        .iter()
        .map(|(defect, ..)| thread::spawn(|| run(Wrong::store(*defect))))
        .collect();
    let mut missed = Vec::new();
    for (running, (defect, clause, words)) in running.into_iter().zip(WRONG) {
        let said = match running.join().unwrap() {
            Ok(report) => format!("it passes:\n{report}"),
            Err(broken) => {
                let is_named =
                    broken.clause() == Some(*clause) && broken.to_string().contains(words);
                println!("{defect:?}: {broken}");
                if is_named {
                    continue;
                }
                broken.to_string()
            }
        };
        missed.push(format!("{defect:?}, by {clause}: {said}"));
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn outside_of_a_runtime_the_suite_says_what_it_needs() {
    let register = MemoryRegister::new();
    let refused = futures::executor::block_on(check(|| register.clone()));
    assert!(
        matches!(refused, Err(NonConformance::NoRuntime)),
        "{refused:?}"
    );
}
