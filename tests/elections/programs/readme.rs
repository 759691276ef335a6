//! Tests that the list of programs in `tests/README.md` names only tests that exist, and all of them.

use std::{collections::BTreeSet, fs, path::PathBuf};

/// Files in which every test plays a program as written.
const OF_PROGRAMS: [&str; 6] = [
    "elections/ballot/written.rs",
    "elections/programs/database.rs",
    "elections/programs/go_faults.rs",
    "elections/programs/go_figures.rs",
    "elections/programs/go_main.rs",
    "elections/traces/astra.rs",
];

fn read(path: &str) -> String {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests");
    fs::read_to_string(tests.join(path)).unwrap()
}

/// Returns the names of the tests in a file.
fn tests_in(path: &str) -> BTreeSet<String> {
    let text = read(path);
    let after = text.split("#[test]\nfn ").skip(1);
    after
        .filter_map(|test| Some(test.split_once('(')?.0.to_owned()))
        .collect()
}

/// Returns the file and the test in the second cell of each row.
fn listed() -> Vec<(String, String)> {
    let readme = read("README.md");
    let section = readme
        .split("\n## ")
        .find(|s| s.starts_with("Every seed's"));
    let rows = section
        .unwrap()
        .lines()
        .filter(|line| line.starts_with('|'));
    let cells = rows.skip(2).filter_map(|row| row.split('|').nth(2));
    let words = |cell: &str| {
        let mut words = cell.split('`').skip(1).step_by(2).map(str::to_owned);
        (words.next().unwrap(), words.next().unwrap())
    };
    cells.map(words).collect()
}

#[test]
fn every_program_is_listed_with_tests_that_exist() {
    let listed = listed();
    for (path, test) in &listed {
        assert!(tests_in(path).contains(test), "no {test} in {path}");
    }
    for path in OF_PROGRAMS {
        let tests = tests_in(path);
        assert!(!tests.is_empty(), "{path}");
        for test in tests {
            assert!(
                listed.contains(&(path.to_owned(), test.clone())),
                "tests/README.md does not say {test} of {path}"
            );
        }
    }
}
