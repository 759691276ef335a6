//! The suite accepts registers that keep the contract, and names the broken clause for other registers.

#![expect(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a panic fails the test; a defect changes what it names and nothing else"
)]

mod wrong;

use std::{sync::Arc, thread};

use bully_register::{
    FileRegister, MemoryRegister, Register,
    conformance::{Clause, NonConformance, Report, check},
};
use wrong::{Defect, Wrong};

use Clause::*;
use Defect::*;

fn run<R: Register + 'static>(connect: impl Fn() -> R) -> Result<Report, NonConformance> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(check(connect))
}

#[test]
fn a_register_that_keeps_to_the_contract_passes() {
    let report = run(Wrong::store(Nothing)).unwrap();
    assert!(Clause::ALL.iter().all(|clause| report.holds(*clause)));
    assert_eq!(report.missed_changes(), 0);
}

#[test]
fn the_register_in_memory_passes_behind_a_pointer() {
    let register = Arc::new(MemoryRegister::new());
    let report = run(|| Arc::clone(&register)).unwrap();
    assert!(Clause::ALL.iter().all(|clause| report.holds(*clause)));
    assert_eq!(report.missed_changes(), 0);
}

#[test]
#[cfg(unix)]
fn a_folder_passes_and_has_no_stream_of_changes() {
    let folder = tempfile::tempdir().unwrap();
    let report = run(|| FileRegister::open(folder.path()).unwrap()).unwrap();
    for clause in Clause::ALL {
        let is_offered = clause != TellsChanges;
        assert_eq!(report.holds(clause), is_offered, "{clause}");
    }
    let words = report.to_string();
    assert!(
        words.contains("tells-changes            (the register does not offer this)"),
        "{words}"
    );
}

/// A defect, the clause that it breaks, and a part of the suite's words.
const WRONG: &[(Defect, Clause, &str)] = &[
    (NameOfConnection, OneName, "\"connection 1\" and \""),
    (AbsentIsEmpty, AbsentIsNone, "compares has an entry"),
    (KeepsText, ReadsWhatWasWritten, "was written to"),
    (
        FormerVersion,
        ReadsWhatWasWritten,
        "(version \"1\") is read",
    ),
    (LosesWrites, ReadsWhatWasWritten, "was written to"),
    (IgnoresCase, KeysApart, "has the entry of another key"),
    (CutsKeys, KeysApart, "has the entry of another key"),
    (ComparesPresence, SwapCompares, "expects \"first\""),
    (ComparesValue, SwapCompares, "of any store\") was done"),
    (ComparesAtSend, SwapCompares, "a late swap"),
    (ConflictShowsExpected, SwapCompares, "in its conflict while"),
    (VersionOfValue, NewVersion, "has a version of before"),
    (VersionsBeginAnew, NewVersion, "was written after a removal"),
    (CutsValues, LargestValue, "of 1000 bytes"),
    (KeepsAnySize, LargestValue, "4097 bytes ends with Ok("),
    (ReadsCache, SeenAtOnce, "another connection reads"),
    (WritesAfterComparison, OneWins, "both replaced"),
    (SendsAgain, AppliedOnce, "and before it had version"),
    (WritesOnConflict, FailureMeansUnchanged, "after a conflict"),
    (DoneIsUnreachable, FailureMeansUnchanged, "failed with"),
    (SwapsAtOnce, WaitsForPoll, "before it was polled"),
    (DropKeepsLock, DropHarmsNothing, "did not end within 10s"),
    (RemovesAny, RemovalCompares, "a removal that expects \"a\""),
    (RemovesNothing, RemovalCompares, "that is there ended with"),
    (RemovesLate, RemovalCompares, "a late removal"),
    (ListsByLetters, ListsBelow, "is listed"),
    (ListsWithoutOrder, ListsBelow, "is listed"),
    (ListsTheFirst, ListsBelow, "ends with Ok(1000)"),
    (TellsNothing, TellsChanges, "none of the 3 changes"),
    (TellsFormer, TellsChanges, "which no client wrote"),
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
