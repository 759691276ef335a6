//! The text of an error names its cause: a caller that prints the error with `{}` sees the whole reason.
//!
//! Decided here: the text of a variant with a cause contains that cause. A caller that also walks
//! [`std::error::Error::source`] prints the cause twice; without this rule, a caller that does not walk it would print
//! half of the reason.

use std::fs;

use super::{PACKAGES, rust_files, touches::root};

#[test]
fn an_error_with_a_cause_shows_it() {
    let src = root().join("src");
    let mut silent = Vec::new();
    let mut with_cause = 0;
    for file in rust_files(&src) {
        let text =
            fs::read_to_string(src.join(&file)).unwrap_or_else(|why| unreachable!("{file}: {why}"));
        for Variant { message, fields } in variants(&text) {
            let Some(cause) = cause(fields) else { continue };
            with_cause += 1;
            if !message.contains(&format!("{{{cause}")) && message.trim() != "transparent" {
                silent.push(format!("src/{file}: {}", message.trim()));
            }
        }
    }
    assert!(with_cause >= 20, "only {with_cause} errors have a cause");
    assert!(
        silent.is_empty(),
        "these hide their cause:\n{}",
        silent.join("\n")
    );
}

/// Rust prints an error that `main` or a test returns with `Debug`.
#[test]
fn an_error_that_main_returns_prints_its_text() {
    let (mut silent, mut told) = (Vec::new(), 0);
    for (_, sources) in PACKAGES {
        let src = root().join(sources);
        for file in rust_files(&src) {
            let text = fs::read_to_string(src.join(&file))
                .unwrap_or_else(|why| unreachable!("{file}: {why}"));
            for error in public_errors(&text).chain(errors_by_hand(&text)) {
                told += 1;
                let shows = [
                    format!("debug_is_text!({error});"),
                    format!("Debug for {error} {{"),
                ];
                let is_shown = shows.iter().any(|shows| text.contains(shows));
                if !SAID_TO_PEERS.contains(&error) && !is_shown {
                    silent.push(format!("{sources}/{file}: {error}"));
                }
            }
        }
    }
    assert!(told >= 60, "found only {told} public errors");
    assert!(
        silent.is_empty(),
        "add `debug_is_text!(..)` below these:\n{}",
        silent.join("\n")
    );
}

/// Errors for traces and counters: reasons of links, events and dropped messages. No call returns them to a `main`.
const SAID_TO_PEERS: &[&str] = &[
    "CertificateFault",
    "ChangeError",
    "Closed",
    "Farewell",
    "NoticeRefused",
    "SecretFault",
    "Unencodable",
    "Unheard",
    "WireError",
];

/// Returns the names of the public errors of a file whose texts are written by hand.
fn errors_by_hand(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(move |line| {
        let (_, name) = line.strip_prefix("impl ")?.split_once("Error for ")?;
        let name = name.strip_suffix(" {}")?;
        let is_public = ["enum", "struct"]
            .iter()
            .any(|kind| text.contains(&format!("pub {kind} {name} {{")));
        is_public.then_some(name)
    })
}

/// Returns the names of the public errors of a file that derive their texts.
fn public_errors(text: &str) -> impl Iterator<Item = &str> {
    text.split("thiserror::Error").skip(1).filter_map(|rest| {
        let rest = rest.split_once(")]\n")?.1;
        let item = rest
            .lines()
            .find(|line| !line.starts_with(['#', '/', ' ', ')']))?;
        let name = item
            .strip_prefix("pub enum ")
            .or_else(|| item.strip_prefix("pub struct "))?;
        name.split(|c: char| !c.is_alphanumeric()).next()
    })
}

#[test]
fn a_cause_that_is_hidden_is_found() {
    let text = r#"
    #[error("it is refused")]
    Id(#[from] IdError),
    #[error("{path} cannot be read: {reason}")]
    Read {
        path: PathBuf,
        #[source]
        reason: io::Error,
    },
    #[error(transparent)]
    Other(#[from] OtherError),
    #[error("{path} cannot be written")]
    Write { path: PathBuf, source: io::Error },
    #[error("without a cause")]
    Plain,
"#;
    let found = variants(text).map(|found| (found.message.trim().to_owned(), cause(found.fields)));
    let expected = [
        (r#""it is refused""#, Some("0")),
        (r#""{path} cannot be read: {reason}""#, Some("reason")),
        ("transparent", Some("0")),
        (r#""{path} cannot be written""#, Some("source")),
        (r#""without a cause""#, None),
    ];
    let expected = expected.map(|(message, cause)| (message.to_owned(), cause));
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

struct Variant<'a> {
    message: &'a str,
    fields: &'a str,
}

/// Returns each item with an error text, with the source up to the next text.
fn variants(text: &str) -> impl Iterator<Item = Variant<'_>> {
    text.split("#[error(").skip(1).filter_map(|rest| {
        let (message, fields) = rest.split_once(")]\n")?;
        // The rest after the closing brace is another item.
        let fields = fields.split("\n}").next().unwrap_or(fields);
        Some(Variant { message, fields })
    })
}

/// Returns the name by which a message shows the cause.
fn cause(fields: &str) -> Option<&str> {
    let marked = ["#[from]", "#[source]"]
        .iter()
        .find_map(|mark| fields.split_once(mark));
    let Some((before, after)) = marked else {
        return has_source(fields).then_some("source");
    };
    match after.split_once(':') {
        Some((name, _)) if !before.trim_end().ends_with('(') => Some(name.trim()),
        _ => Some("0"),
    }
}

fn has_source(fields: &str) -> bool {
    fields
        .split(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == ':'))
        .any(|word| word == "source:")
}
