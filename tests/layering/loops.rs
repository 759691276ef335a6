//! The files of a machine whose methods call each other in a circle: the largest set of files in which each file leads
//! to every other.
//!
//! A reader who follows a method of such a file has to open all files of the circle. Rust is read line by line, as it
//! is formatted here: a method begins with its `fn`, indented once, and ends with the brace below it.

use std::collections::{BTreeMap, BTreeSet};

/// The methods that each file of a machine contains, and the methods that it calls on its own object.
#[derive(Debug, Default)]
pub(crate) struct Calls<'a> {
    homes: BTreeMap<&'a str, BTreeSet<&'a str>>,
    calls: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> Calls<'a> {
    /// Reads one file.
    pub(crate) fn read(&mut self, file: &'a str, source: &'a str) {
        let called = self.calls.entry(file).or_default();
        let mut is_in_method = false;
        for line in source.lines() {
            if let Some(name) = begins(line) {
                self.homes.entry(name).or_default().insert(file);
                is_in_method = true;
            }
            if is_in_method {
                called.extend(calls(line));
            }
            is_in_method &= line != "    }";
        }
    }

    /// Returns the files of the largest circle; none if no two files lead to each other.
    pub(crate) fn largest_loop(&self) -> BTreeSet<&'a str> {
        let reach: BTreeMap<_, _> = self
            .calls
            .keys()
            .map(|file| (*file, self.reach(file)))
            .collect();
        let leads = |from: &str, to: &str| reach.get(from).is_some_and(|all| all.contains(to));
        let loops = reach.keys().map(|file| {
            let mutual = |other: &&&str| file != *other && leads(file, other) && leads(other, file);
            let others: BTreeSet<_> = reach.keys().filter(mutual).copied().collect();
            let itself = (!others.is_empty()).then_some(*file);
            others.into_iter().chain(itself).collect::<BTreeSet<_>>()
        });
        loops.max_by_key(BTreeSet::len).unwrap_or_default()
    }

    /// Returns the calls between these files.
    pub(crate) fn among(&self, files: &BTreeSet<&str>) -> Vec<String> {
        let mut found = Vec::new();
        for from in files {
            for name in self.calls.get(from).into_iter().flatten() {
                let homes = self.homes.get(name).into_iter().flatten();
                let others = homes.filter(|home| *home != from && files.contains(*home));
                found.extend(others.map(|home| format!("{from} calls `{name}` of {home}")));
            }
        }
        found
    }

    /// Returns all files to which a file leads.
    fn reach(&self, from: &str) -> BTreeSet<&'a str> {
        let mut found = BTreeSet::new();
        let mut next: Vec<&str> = vec![from];
        while let Some(file) = next.pop() {
            let called = self.calls.get(file).into_iter().flatten();
            for home in called.filter_map(|name| self.homes.get(name)).flatten() {
                if found.insert(*home) {
                    next.push(home);
                }
            }
        }
        found
    }
}

/// Returns the name of the method that begins on this line.
fn begins(line: &str) -> Option<&str> {
    let line = line
        .strip_prefix("    ")
        .filter(|rest| !rest.starts_with(' '))?;
    let (before, after) = line.split_once("fn ")?;
    let is_head = before
        .split_whitespace()
        .all(|word| ["pub", "pub(super)", "pub(crate)", "const", "async"].contains(&word));
    is_head.then(|| word(after))
}

/// Returns the names that are called on `self` or `Self` on this line.
fn calls(line: &str) -> impl Iterator<Item = &str> {
    let code = line.split("//").next().unwrap_or_default();
    ["self.", "Self::"].into_iter().flat_map(move |how| {
        code.match_indices(how).filter_map(move |(at, _)| {
            let name = word(code.get(at + how.len()..)?);
            let after = code.get(at + how.len() + name.len()..)?;
            (!name.is_empty() && after.starts_with('(')).then_some(name)
        })
    })
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_'));
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}
