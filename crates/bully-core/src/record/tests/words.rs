//! The words of a command.

use std::collections::BTreeSet;

use super::{RecordedCommand, every_command, golden};
use crate::{
    protocol::{Contact, NewVoter, VoterChange},
    record::read_span,
};

fn read(text: &str) -> RecordedCommand {
    text.parse().expect(text)
}

/// Returns the name of the command's variant in a recording.
fn kind(command: &RecordedCommand) -> String {
    let json = serde_json::to_string(command).unwrap();
    json.split('"').nth(1).unwrap().to_owned()
}

fn all_kinds() -> BTreeSet<String> {
    let unknown = serde_json::from_str::<RecordedCommand>("\"explode\"").unwrap_err();
    let unknown = unknown.to_string();
    let quoted = unknown.split('`').skip(3).step_by(2);
    quoted.map(str::to_owned).collect()
}

#[test]
fn every_command_is_read_as_it_was_written() {
    let mut kinds = BTreeSet::new();
    for command in every_command() {
        assert_eq!(read(&command.to_string()), command);
        kinds.insert(kind(&command));
    }
    assert_eq!(kinds, all_kinds());
    assert_eq!(kinds.len(), 23);
}

#[test]
fn a_contact_is_left_out() {
    let new = |contact| NewVoter {
        id: super::id("a"),
        contact,
    };
    let with = RecordedCommand::ChangeVoters(VoterChange::Add(new(Some(Contact {
        node: "n".to_owned(),
        address: "127.0.0.1:1".to_owned(),
    }))));
    let without = RecordedCommand::ChangeVoters(VoterChange::Add(new(None)));
    assert_eq!(read(&with.to_string()), without);
}

/// Each line of the golden text has a text in JSON, as a command or a span of time, and the outcome: the canonical
/// command, the nanoseconds, or the refusal with its advice. `BLESS=1` writes the outcomes anew.
#[test]
fn texts_are_read_or_refused_with_advice_as_reviewed() {
    let outcome = |kind: &str, text: &str| match kind {
        "command" => match text.parse::<RecordedCommand>() {
            Ok(command) => command.to_string(),
            Err(refused) => format!("refused: {refused}"),
        },
        _ => match read_span(text) {
            Ok(span) => span.as_nanos().to_string(),
            Err(refused) => format!("refused: {refused}"),
        },
    };
    let mut written = String::new();
    for line in include_str!("words.txt").lines() {
        let (said, _) = line.split_once(" =>").unwrap();
        let (kind, json) = said.split_once(' ').unwrap();
        let text: String = serde_json::from_str(json).unwrap();
        written.extend([said, " => ", &outcome(kind, &text), "\n"]);
    }
    golden("words.txt", &written);
}

#[test]
fn no_text_makes_the_reader_panic() {
    let pieces = [
        "cut", "1", ">", "|", "é", "network", "delay", "..", "%", ";", "-", "ß.", "\u{0}",
    ];
    for a in pieces {
        for b in pieces {
            for c in pieces {
                format!("{a} {b} {c}").parse::<RecordedCommand>().ok();
                format!("{a}{b}{c}").parse::<RecordedCommand>().ok();
            }
        }
    }
}
