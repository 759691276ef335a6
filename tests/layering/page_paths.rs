//! The example of a crate below the facade must compile for a user of that crate alone, who does not have the facade.
//!
//! Decided here: no code block names the facade, in hidden lines either. If the facade shows the page too, the example
//! hides its imports: a reader imports the items from the crate of the page.

use std::fs;

use super::{PACKAGES, rust_files, touches::root};

const BELOW: [&str; 4] = [
    "bully_core",
    "bully_classics",
    "bully_register",
    "bully_sim",
];

/// Returns the lines of examples that name the facade, and the number of lines of all examples.
fn facade_lines(source: &str) -> (Vec<usize>, usize) {
    let (mut found, mut all, mut is_code) = (Vec::new(), 0, false);
    for (line, text) in (1..).zip(source.lines()) {
        let text = text.trim_start();
        if !(text.starts_with("///") || text.starts_with("//!")) {
            continue;
        }
        if text[3..].trim_start().starts_with("```") {
            is_code = !is_code;
        } else if is_code {
            all += 1;
            found.extend(text.contains("actix_bully").then_some(line));
        }
    }
    (found, all)
}

#[test]
fn no_example_of_a_crate_below_the_facade_names_the_facade() {
    let (mut wrong, mut examples) = (Vec::new(), 0);
    for (_, folder) in PACKAGES.iter().filter(|(name, _)| BELOW.contains(name)) {
        let sources = root().join(folder);
        for file in rust_files(&sources) {
            let source = fs::read_to_string(sources.join(&file)).expect("a source file is text");
            let (lines, all) = facade_lines(&source);
            wrong.extend(lines.iter().map(|line| format!("{folder}/{file}:{line}")));
            examples += all;
        }
    }
    assert!(examples > 200, "only {examples} lines of examples");
    let why = "name the crate of this file, not the facade";
    assert!(wrong.is_empty(), "{why}:\n{}", wrong.join("\n"));
}

#[test]
fn the_facade_is_found_in_code_and_hidden_code_and_not_in_prose() {
    let source = "//! `actix_bully::record`\n//! ```\n//! # use actix_bully::record;\n//! ```\n";
    assert_eq!(facade_lines(source), (vec![3], 1));
}
