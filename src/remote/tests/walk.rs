//! The page of `remote` follows one `Elect` through the code. The functions that it names must exist.

use std::{fs, path::Path};

const PAGE: &str = include_str!("../mod.rs");

/// Returns the steps of this walk: a function and its file.
fn stops() -> Vec<(&'static str, &'static str)> {
    let after = PAGE.split("//! # The walk").nth(1).unwrap();
    let rows = after.lines().filter(|line| line.starts_with("//! | `"));
    rows.take_while(|line| line.starts_with("//! |"))
        .map(|row| {
            let mut names = row.split('`').skip(1).step_by(2);
            (names.next().unwrap(), names.next().unwrap())
        })
        .collect()
}

fn source(file: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/remote");
    fs::read_to_string(folder.join(file)).unwrap_or_else(|reason| panic!("{file}: {reason}"))
}

fn has(file: &str, function: &str) -> bool {
    let head = format!("fn {function}");
    let source = source(file);
    let mut found = source.match_indices(&head);
    found.any(|(at, _)| source[at + head.len()..].starts_with(['(', '<']))
}

#[test]
fn every_stop_of_the_walk_is_a_function_of_that_file_and_there_are_ten_at_most() {
    let stops = stops();
    assert!((8..=10).contains(&stops.len()), "{stops:?}");
    for (function, file) in stops {
        assert!(has(file, function), "no `{function}` in {file}");
    }
    for (function, file) in [
        ("carry", "carry/outbox/sink.rs"),
        ("push", "carry/outbox/mod.rs"),
        ("turn", "link/write.rs"),
    ] {
        assert!(has(file, function), "no `{function}` in {file}");
        assert!(PAGE.contains(&format!("`{function}`")), "{function}");
    }
}
