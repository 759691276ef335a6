//! The places that a new message, timer, input, or field of the view has to touch. A test fails with the list of the
//! places that lack it. Presets, planted defects and packages are in `listed.rs`, the options of elections in
//! `options.rs`.
//!
//! Decided here: the places that the compiler does not check, since they are tables, lists and generators. The compiler
//! checks an exhaustive `match`. `PLACES.md` describes the places in words.
//!
//! Sources are read as text: an item is named if its name occurs as a whole word.

use std::{fs, path::PathBuf};

use super::rust_files;

/// The messages of one family of elections, and the places that must name each of them.
struct Messages {
    /// The enum of the messages, and the file that defines it.
    all: &'static str,
    defined: &'static str,
    /// The elections' pages: the table of roles and inputs of at least one of them has a row for the message.
    pages: &'static [&'static str],
}

const MESSAGES: &[Messages] = &[
    Messages {
        all: "BullyMessage",
        defined: "crates/bully-core/src/elections/message/bully.rs",
        pages: &["bully", "astra"],
    },
    Messages {
        all: "QuorumMessage",
        defined: "crates/bully-core/src/elections/message/quorum.rs",
        pages: &["quorum"],
    },
    Messages {
        all: "RingMessage",
        defined: "crates/bully-classics/src/ring/message.rs",
        pages: &["ring"],
    },
    Messages {
        all: "ReorganizationMessage",
        defined: "crates/bully-classics/src/reorganization/message.rs",
        pages: &["reorganization"],
    },
    Messages {
        all: "InvitationMessage",
        defined: "crates/bully-classics/src/invitation/message.rs",
        pages: &["invitation"],
    },
    Messages {
        all: "BallotMessage",
        defined: "crates/bully-classics/src/ballot/message.rs",
        pages: &["ballot"],
    },
];

#[test]
fn a_message_is_in_every_list_of_messages() {
    if is_published() {
        return;
    }
    let mut missing = Missing::default();
    for family in MESSAGES {
        let source = read(family.defined);
        let names = names(&source, family.all);
        assert!(!names.is_empty(), "no messages in {}", family.defined);
        for name in names {
            let message = format!("{}::{name}", family.all);
            let pages: Vec<_> = family.pages.iter().map(|page| page_of(page)).collect();
            if !pages.iter().any(|page| has_word(&rows(&read(page)), name)) {
                missing.add(
                    &message,
                    &format!("the table of roles and inputs of {pages:?}"),
                );
            }
        }
    }
    missing.report();
}

/// A file that defines timers, and the machines that set them: their pages and unit tests must name each timer.
const TIMERS: &[(&str, &[&str])] = &[
    (
        "crates/bully-core/src/elections/timer.rs",
        &["bully", "astra", "quorum", "lease"],
    ),
    ("crates/bully-classics/src/ring/state.rs", &["ring"]),
    ("crates/bully-classics/src/ballot/timer.rs", &["ballot"]),
    (
        "crates/bully-classics/src/reorganization/timer.rs",
        &["reorganization"],
    ),
    (
        "crates/bully-classics/src/invitation/timer.rs",
        &["invitation"],
    ),
];

#[test]
fn a_timer_is_in_its_machines_table_and_unit_tests() {
    let mut missing = Missing::default();
    for (defined, machines) in TIMERS {
        let timers = variants(&read(defined), "Timer {");
        assert!(!timers.is_empty(), "no timers in {defined}");
        let pages: String = machines
            .iter()
            .map(|machine| rows(&read(&page_of(machine))))
            .collect();
        let due: Vec<_> = pages
            .lines()
            .filter(|row| row.contains("`TimedOut`"))
            .collect();
        let folders = machines
            .iter()
            .map(|machine| format!("{}/tests", folder_of(machine)));
        let tests: String = folders.map(|folder| all_of(&folder)).collect();
        for timer in timers {
            let name = format!("{defined}: {timer}");
            if !due.iter().any(|row| has_word(row, &timer)) {
                missing.add(
                    &name,
                    &format!("the row `TimedOut` of the page of {machines:?}"),
                );
            }
            if !has_word(&tests, &timer) {
                missing.add(&name, &format!("the unit tests of {machines:?}"));
            }
        }
    }
    missing.report();
}

/// Files that handle each event, and have an arm for unknown events of a later core.
const EVENTS: &[&str] = &[
    "src/agent/drive.rs",
    "src/agent/log.rs",
    "src/agent/subscribers.rs",
    "src/metrics/agent.rs",
    "src/dashboard/entries.rs",
];

/// The compiler cannot check it: these files have an arm for unknown events, as applications have.
#[test]
fn an_event_is_handled_in_each_file_that_handles_events() {
    if is_published() {
        return;
    }
    let events = variants(
        &read("crates/bully-core/src/protocol/event.rs"),
        "enum Event {",
    );
    assert!(events.len() >= 7, "{events:?}");
    are_named("Event", &events, EVENTS);
}

/// The generators of inputs: every input in every role, random inputs, and the inputs of fuzzing.
const INPUTS: &[&str] = &[
    "crates/bully-core/src/elections/fixture/cells.rs",
    "crates/bully-core/src/elections/fixture/random.rs",
    "fuzz/src/core.rs",
];

/// The compiler cannot check it: the files make inputs, and match none.
#[test]
fn an_input_is_given_in_every_role_at_random_and_by_fuzzing() {
    if is_published() {
        return;
    }
    let inputs = variants(
        &read("crates/bully-core/src/protocol/input.rs"),
        "enum Input<M, T, A = Infallible> {",
    );
    assert!(inputs.len() >= 10, "{inputs:?}");
    are_named("Input", &inputs, INPUTS);
}

/// Fails if a file does not name each variant with its enum.
fn are_named(of: &str, variants: &[String], files: &[&str]) {
    let mut missing = Missing::default();
    for file in files {
        let source = read(file);
        for name in variants.iter().map(|variant| format!("{of}::{variant}")) {
            if !has_word(&source, &name) {
                missing.add(&name, file);
            }
        }
    }
    missing.report();
}

/// The elections that wrap another one, with the methods that they lack on purpose.
const WRAPPERS: [(&str, &[&str]); 2] = [
    ("src/agent/any/mod.rs", &[]),
    (
        "crates/bully-core/src/elections/lease/simulated/mod.rs",
        &["note_write", "admits"], // an agent with a lease keeps no record
    ),
];

/// A wrapper that lacks a method with a default uses the default: the compiler does not notice.
#[test]
fn an_election_around_another_one_has_each_of_its_methods() {
    if is_published() {
        return;
    }
    let mut missing = Missing::default();
    let source = read("crates/bully-core/src/protocol/election.rs");
    let (_, rest) = source.split_once("pub trait Election").expect("a trait");
    let (methods, _) = rest.split_once("\n}").expect("its end");
    for method in methods
        .split("    fn ")
        .skip(1)
        .filter_map(|rest| rest.split('(').next())
    {
        for (file, lacking) in WRAPPERS {
            if !lacking.contains(&method) && !read(file).contains(&format!("fn {method}(")) {
                missing.add(method, file);
            }
        }
    }
    missing.report();
}

/// The folders that use each field of a view: an agent publishes it, the simulator checks or shows it, and fuzzing
/// compares it with the events.
const VIEWS: &[&str] = &["src/agent", "crates/bully-sim/src/sim", "fuzz/src"];

#[test]
fn a_field_of_the_view_is_published_simulated_and_fuzzed() {
    if is_published() {
        return;
    }
    let mut missing = Missing::default();
    let source = read("crates/bully-core/src/protocol/view.rs");
    let (_, rest) = source.split_once("pub struct View {").expect("a view");
    let (fields, _) = rest.split_once("\n}").expect("its end");
    let fields = fields
        .lines()
        .filter_map(|line| line.trim().strip_prefix("pub "));
    for field in fields.filter_map(|field| Some(field.split_once(':')?.0)) {
        for folder in VIEWS {
            if !has_word(&all_of(folder), field) {
                missing.add(&format!("View::{field}"), folder);
            }
        }
    }
    missing.report();
}

/// The places that lack an item.
#[derive(Default)]
pub(super) struct Missing(Vec<String>);

impl Missing {
    pub(super) fn add(&mut self, what: &str, place: &str) {
        self.0.push(format!("{what} is missing in {place}"));
    }

    #[track_caller]
    pub(super) fn report(self) {
        assert!(self.0.is_empty(), "\n{}", self.0.join("\n"));
    }
}

/// Returns whether this is the published package, which contains no fuzzing, benches or guide.
pub(super) fn is_published() -> bool {
    !root().join("fuzz").exists()
}

pub(super) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub(super) fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|wrong| unreachable!("{path}: {wrong}"))
}

/// Returns the text of a file, of all Rust files of a folder, or of `NAME.rs` if there is no folder.
pub(super) fn all_of(folder: &str) -> String {
    let path = root().join(folder);
    if path.is_file() {
        return read(folder);
    }
    if !path.is_dir() {
        return read(&format!("{folder}.rs"));
    }
    let files = rust_files(&path);
    files
        .iter()
        .map(|file| read(&format!("{folder}/{file}")))
        .collect()
}

/// Returns the folder of a machine.
pub(super) fn folder_of(machine: &str) -> String {
    MACHINES
        .iter()
        .map(|folder| format!("{folder}/{machine}"))
        .find(|folder| root().join(folder).exists())
        .unwrap_or_else(|| unreachable!("{machine} has no folder"))
}

/// The folders that contain a folder for each machine.
pub(super) const MACHINES: [&str; 2] = [
    "crates/bully-core/src/elections",
    "crates/bully-classics/src",
];

fn page_of(machine: &str) -> String {
    format!("{}/mod.rs", folder_of(machine))
}

/// Returns the rows of the tables on a page.
fn rows(page: &str) -> String {
    let rows = page.lines().filter(|line| line.starts_with("//! |"));
    rows.flat_map(|row| [row, "\n"]).collect()
}

/// Returns the messages of the enum that the macro `messages!` defines.
fn names<'a>(source: &'a str, all: &str) -> Vec<&'a str> {
    let begin = format!("pub enum {all} ");
    let (_, rest) = source.split_once(&begin).unwrap_or_default();
    let (arms, _) = rest.split_once("\n    }").unwrap_or((rest, ""));
    let arms = arms.lines().map(str::trim);
    let arms = arms.filter(|arm| arm.starts_with(char::is_uppercase));
    arms.filter_map(|arm| Some(arm.split_once('(')?.0))
        .collect()
}

/// Returns the variants of the enum whose definition contains `definition`.
pub(super) fn variants(source: &str, definition: &str) -> Vec<String> {
    let Some((_, rest)) = source.split_once(definition) else {
        return Vec::new();
    };
    let (inside, _) = rest.split_once("\n}").unwrap_or((rest, ""));
    let lines = inside.lines().filter_map(|line| line.strip_prefix("    "));
    let names = lines.filter(|line| line.starts_with(char::is_uppercase));
    let name = |line: &str| {
        let end = line.find(|next: char| !next.is_alphanumeric());
        line.get(..end.unwrap_or(line.len()))
            .unwrap_or_default()
            .to_owned()
    };
    names.map(name).collect()
}

pub(super) fn has_word(text: &str, word: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text
            .get(at + word.len()..)
            .and_then(|text| text.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}
