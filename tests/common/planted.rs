//! Plays tests of this binary again, each in a process in which a rule is broken on purpose: the test
//! has to fail there, and to say by what.
//!
//! Decided here: what counts as found. A test that fails for another reason finds nothing, and
//! `tests/README.md` names what finds each defect, no more and no less.
#![allow(clippy::print_stdout, reason = "what was found is shown")]

use std::{env, fmt::Debug, process::Command};

/// A defect, the test of this binary that finds it, and a part of what the test says then.
pub(crate) type Case<D> = (D, &'static str, &'static str);

/// Plays the test of each case under its defect. With `DEFECT=Ended`, only for those whose name has
/// that.
pub(crate) fn are_found<D: Debug>(binary: &str, variable: &str, cases: &[Case<D>]) {
    let only = env::var("DEFECT").unwrap_or_default();
    let mut missed = Vec::new();
    for (defect, test, due) in cases {
        let name = format!("{defect:?}");
        if !name.contains(&only) {
            continue;
        }
        let said = play(test, variable, &name);
        let failed = said.contains("test result: FAILED. 0 passed; 1 failed");
        println!(
            "{name}: {test} fails: {failed}, says \"{due}\": {}",
            said.contains(due)
        );
        if !failed || !said.contains(due) {
            missed.push(format!("{name}, by {test}:\n{said}"));
        }
    }
    assert!(missed.is_empty(), "not found: {}", missed.join("\n"));
    let found = cases.iter();
    let found: Vec<_> = found
        .map(|(defect, test, _)| format!("`{defect:?}` | `{binary}`: `{test}` |"))
        .collect();
    assert_eq!(named(binary), found, "tests/README.md and what is found");
}

/// What a test says in a process of its own with that defect.
fn play(test: &str, variable: &str, defect: &str) -> String {
    let this = env::current_exe().unwrap_or_default();
    let mut process = Command::new(this);
    process.args([test, "--exact", "--nocapture"]);
    match process.env(variable, defect).output() {
        Ok(output) => [output.stdout, output.stderr]
            .map(|text| String::from_utf8_lossy(&text).into_owned())
            .concat(),
        Err(reason) => format!("no process: {reason}"),
    }
}

/// The ends of the rows that say that this binary finds a defect.
fn named(binary: &str) -> Vec<&'static str> {
    let found_here = format!(" | `{binary}`: ");
    let rows = include_str!("../README.md").lines();
    let rows = rows.filter(|row| row.contains(&found_here));
    rows.filter_map(|row| row.splitn(3, " | ").nth(2)).collect()
}
