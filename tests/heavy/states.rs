//! The numbers of states of every search: the file `states.txt`, and how it is written anew.

use std::{
    fs,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use crate::case::Case;

/// A row of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The name of the search's group.
    pub group: String,
    /// The name of the search.
    pub name: String,
    /// The expected end.
    pub end: String,
    /// Number of different states, and length of the longest of the shortest paths to one of them.
    pub size: (usize, usize),
}

/// Returns all rows, in the order of the file.
pub fn rows() -> Vec<Row> {
    let mut group = "";
    let text = text();
    let row = |line| {
        group = heading(line).unwrap_or(group);
        let cells: Vec<&str> = line.split(" | ").collect();
        let [name, end, unique, depth] = cells[..] else {
            return None;
        };
        Some(Row {
            group: group.into(),
            name: name.into(),
            end: end.into(),
            size: (unique.parse().ok()?, depth.parse().ok()?),
        })
    };
    text.lines().filter_map(row).collect()
}

/// Returns the searches with the numbers that the file has for them.
pub fn known(group: &'static str, mut cases: Vec<Case>) -> Vec<Case> {
    let rows = rows();
    for case in &mut cases {
        let row = rows
            .iter()
            .find(|row| row.group == group && row.name == case.name);
        (case.group, case.size) = (group, row.map(|row| row.size));
    }
    cases
}

/// Writes the row of this search anew, or adds it at the end of its group.
pub fn write(case: &Case, (unique, depth): (usize, usize)) {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let row = format!("{} | {} | {unique} | {depth}", case.name, case.end);
    let text = text();
    let mut lines: Vec<&str> = text.lines().collect();
    let begin = lines
        .iter()
        .position(|line| heading(line) == Some(case.group));
    let begin = begin.unwrap_or_else(|| panic!("states.txt has no [{}]", case.group));
    let rows = lines[begin..].iter().take_while(|line| !line.is_empty());
    let end = begin + rows.count();
    let name = format!("{} | ", case.name);
    match lines[begin..end]
        .iter()
        .position(|line| line.starts_with(&name))
    {
        Some(position) => lines[begin + position] = &row,
        None => lines.insert(end, &row),
    }
    fs::write(path(), lines.join("\n") + "\n").expect("states.txt can be written");
}

fn heading(line: &str) -> Option<&str> {
    line.strip_prefix('[')?.strip_suffix(']')
}

fn text() -> String {
    let text = fs::read_to_string(path()).expect("states.txt can be read");
    text.replace("\r\n", "\n")
}

fn path() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "states.txt"].iter().collect()
}
