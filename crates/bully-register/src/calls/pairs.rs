//! Tests of a builder that go through every pair of its setters.
//!
//! Decided here: which setters the source has (so a test whose list lacks a new setter fails), and when one setter of a
//! pair loses the setting of the other. Not here: the values for the setters, and the text that shows a builder.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::type_complexity,
    reason = "tests alone use it: a panic is how it answers"
)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Returns the names of all methods `fn name(self, ..) -> Self` of the type `builder`, from all files in `src/` of the
/// folder `package`.
pub fn setters_of(package: &str, builder: &str) -> BTreeSet<String> {
    let folder = Path::new(package).join("src");
    let mut found = BTreeSet::new();
    for file in rust_files(&folder) {
        let text = fs::read_to_string(&file).unwrap();
        let blocks = text.split("\nimpl").skip(1);
        let own = blocks.filter(|block| {
            let head = block.split('{').next().unwrap_or_default();
            let mut names = head.split(|letter: char| !letter.is_alphanumeric());
            !head.contains(" for ") && names.any(|name| name == builder)
        });
        for block in own {
            let block = block.split("\n}").next().unwrap_or_default();
            for function in ["pub fn ", "pub const fn ", "pub(crate) fn "]
                .iter()
                .flat_map(|begin| block.split(begin).skip(1))
            {
                let head = function.split('{').next().unwrap_or_default();
                if head.contains("self") && head.contains("-> Self") {
                    let end = head.find(['(', '<']).unwrap();
                    found.insert(head[..end].to_owned());
                }
            }
        }
    }
    found
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| {
        if path.is_dir() {
            rust_files(&path)
        } else {
            vec![path]
        }
    });
    files
        .filter(|path| path.extension().is_some_and(|of| of == "rs"))
        .collect()
}

/// The text that shows all settings of a builder after some calls; or the text of the error that refuses the calls.
pub type Outcome = Result<String, String>;

/// Returns the pairs of setters that break a rule. The rules: both orders of two calls have the same outcome; if each
/// call is accepted alone, both together keep both settings, or are refused with an error that contains both names.
pub fn wrong_pairs<B>(
    setters: &BTreeMap<&'static str, Box<dyn Fn(B) -> B>>,
    outcome: impl Fn(&[&dyn Fn(B) -> B]) -> Outcome,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let alone = outcome(&[]);
    for (first, one) in setters {
        for (second, two) in setters.iter().filter(|(second, _)| *second > first) {
            let both = outcome(&[one, two]);
            if both != outcome(&[two, one]) {
                wrong.push(format!("{first}, {second}: the order counts"));
            }
            let (left, right) = (outcome(&[one]), outcome(&[two]));
            match &both {
                Err(said) if left.is_ok() && right.is_ok() => {
                    let is_named = |call: &str| said.contains(&format!("`{call}(..)`"));
                    if !is_named(first) || !is_named(second) {
                        wrong.push(format!("{first}, {second}: {said}"));
                    }
                }
                Err(_) => {}
                Ok(_) => {
                    for (lost, name, rest) in [(&left, first, &right), (&right, second, &left)] {
                        if both == *rest && *lost != alone {
                            wrong.push(format!("{first}, {second}: {name} is lost"));
                        }
                    }
                }
            }
        }
    }
    wrong
}

/// Returns the setters that change nothing, because the test gives them the default value. With such a value, a test
/// could not see that a setting was lost.
pub fn idle_setters<B>(
    setters: &BTreeMap<&'static str, Box<dyn Fn(B) -> B>>,
    outcome: impl Fn(&[&dyn Fn(B) -> B]) -> Outcome,
) -> Vec<&'static str> {
    let alone = outcome(&[]);
    let is_idle = |call: &dyn Fn(B) -> B| outcome(&[call]) == alone;
    let idle = setters.iter().filter(|(_, call)| is_idle(call));
    idle.map(|(name, _)| *name).collect()
}
