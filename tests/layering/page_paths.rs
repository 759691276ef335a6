//! An example in the documentation of a crate below the facade is right on each page that shows it: on the page of its
//! own crate, and on the page of the facade where the facade re-exports the item.
//!
//! Decided here: no code block names the facade, because a program with that crate alone does not have it. Where the
//! facade re-exports an item, the examples of the item hide the imports of all that the facade re-exports: a reader
//! imports these from the crate of the page.

use std::fs;

use super::{PACKAGES, mentions::mentions, module_of, rust_files, touches::root};

#[test]
fn an_example_is_right_on_each_page_that_shows_it() {
    let exported = exported();
    assert!(exported.len() > 40, "only {exported:?}");
    let (mut wrong, mut examples) = (Vec::new(), 0);
    for (package, folder) in PACKAGES.iter().filter(|(name, _)| BELOW.contains(name)) {
        let sources = root().join(folder);
        for file in rust_files(&sources) {
            let source = fs::read_to_string(sources.join(&file)).expect("it is text");
            examples += blocks(&source).len();
            let found = faults(&format!("{package}/{file}"), &source, &exported);
            wrong.extend(found.iter().map(|fault| format!("{folder}/{file}:{fault}")));
        }
    }
    assert!(examples > 30, "only {examples} examples");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_path_that_is_wrong_on_a_page_is_found() {
    let exported = ["bully_core::record::Recording", "bully_classics::ring"].map(str::to_owned);
    let of = |file, source: &str| faults(file, &source.replace('|', "\n"), &exported);
    let facade = "//! ```|//! # mod actix_bully { use bully_core::record; }|//! use actix_bully::record;|//! ```|";
    let why = "an example names the facade: name the crate of this file";
    let expected = [format!("2: {why}"), format!("3: {why}")];
    assert_eq!(of("bully_core/record/mod.rs", facade), expected);

    let shown =
        "/// ```|/// use bully_core::record::{Moment, Recording};|/// ```|pub struct Recording;|";
    let why =
        "the facade has bully_core::record::Recording by another path: hide this import with `# `";
    assert_eq!(
        of("bully_core/record/file.rs", shown),
        [format!("2: {why}")]
    );
    let method = shown.replace("pub struct Recording;", "impl Recording {");
    assert_eq!(of("bully_core/record/svg.rs", &method).len(), 1);
    let module = "//! ```|//! use bully_classics::ring::Ring;|//! ```|";
    assert_eq!(of("bully_classics/ring/mod.rs", module).len(), 1);

    let hidden = shown.replace("use bully", "# use bully");
    assert_eq!(of("bully_core/record/file.rs", &hidden), [""; 0]);
    let elsewhere = shown.replace("pub struct Recording;", "pub struct Moment;");
    assert_eq!(of("bully_core/record/moment.rs", &elsewhere), [""; 0]);
    let prose = "//! As `actix_bully::record`.|//! ```text|//! use bully_core::record::Recording|//! ```|pub struct Recording;";
    assert_eq!(of("bully_core/record/file.rs", prose), [""; 0]);
}

/// The crates whose pages may not need the facade.
const BELOW: [&str; 4] = [
    "bully_core",
    "bully_classics",
    "bully_register",
    "bully_sim",
];

/// Marks of the blocks in another language than Rust.
const OTHER_LANGUAGES: [&str; 2] = ["text", "toml"];

/// A block of code in the documentation.
struct Block<'a> {
    /// What stands behind the fence.
    info: &'a str,
    /// The lines, with their numbers in the file.
    lines: Vec<(usize, &'a str)>,
}

/// The faults of the examples in a file, with their lines.
fn faults(file: &str, source: &str, exported: &[String]) -> Vec<String> {
    let module = module_of(file);
    let is_shown = |path: &String| {
        is_within(&module.join("::"), path)
            || (path.split("::").next() == module.first().copied() && documents(source, path))
    };
    let is_on_both = exported.iter().any(is_shown);
    let mut found = Vec::new();
    for Block { info, lines } in blocks(source) {
        for (line, code) in &lines {
            if code.contains("actix_bully") {
                found.push(format!(
                    "{line}: an example names the facade: name the crate of this file"
                ));
            }
        }
        if !is_on_both || OTHER_LANGUAGES.contains(&info) {
            continue;
        }
        let shown = lines
            .iter()
            .map(|(_, code)| if is_hidden(code) { "" } else { code });
        let shown = shown.collect::<Vec<_>>().join("\n");
        for mention in mentions(&shown) {
            let path = mention.path.join("::");
            if exported.iter().any(|known| is_within(&path, known)) {
                let line = lines.get(mention.line - 1).map_or(0, |(line, _)| *line);
                found.push(format!(
                    "{line}: the facade has {path} by another path: hide this import with `# `"
                ));
            }
        }
    }
    found
}

/// rustdoc compiles such a line, and does not show it.
fn is_hidden(code: &str) -> bool {
    code == "#" || code.starts_with("# ")
}

/// The paths of all that the facade re-exports of our other crates.
fn exported() -> Vec<String> {
    let sources = root().join("src");
    let mut found = Vec::new();
    for file in rust_files(&sources) {
        let source = fs::read_to_string(sources.join(&file)).expect("it is text");
        for export in source.split(" use ").zip(source.split(" use ").skip(1)) {
            let (before, export) = export;
            let export = export.split(';').next().unwrap_or_default();
            if before.ends_with("pub") {
                found.extend(
                    mentions(export)
                        .into_iter()
                        .map(|mention| mention.path.join("::")),
                );
            }
        }
    }
    found.retain(|path| BELOW.iter().any(|name| is_within(path, name)));
    found
}

/// Whether a file has the documentation of an item, or of its methods.
fn documents(source: &str, path: &str) -> bool {
    let name = path.rsplit("::").next().unwrap_or_default();
    let kinds = [
        "pub struct",
        "pub enum",
        "pub trait",
        "pub type",
        "pub const",
        "impl",
    ];
    source.lines().any(|line| {
        let rest = kinds.iter().find_map(|kind| line.strip_prefix(kind));
        let rest = rest.and_then(|rest| rest.strip_prefix(' ')?.strip_prefix(name));
        rest.is_some_and(|rest| {
            !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_')
        })
    })
}

fn is_within(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// The blocks of code in the documentation of a file.
fn blocks(source: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let mut open: Option<Block<'_>> = None;
    for (at, line) in source.lines().enumerate() {
        let line = line.trim_start();
        let Some(text) = line
            .strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"))
        else {
            continue;
        };
        let text = text.strip_prefix(' ').unwrap_or(text);
        match (text.strip_prefix("```"), &mut open) {
            (Some(info), None) => {
                open = Some(Block {
                    info,
                    lines: Vec::new(),
                });
            }
            (Some(_), Some(_)) => found.extend(open.take()),
            (None, Some(block)) => block.lines.push((at + 1, text)),
            (None, None) => {}
        }
    }
    found
}
