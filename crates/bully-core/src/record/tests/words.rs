//! The words of a command.

use std::collections::BTreeSet;

use super::{RecordedCommand, every_command};
use crate::{
    protocol::{Contact, NewVoter, VoterChange},
    record::{CommandError, NetworkRecord, read_span},
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
    for command in every_command() {
        assert_eq!(read(&command.to_string()), command);
    }
    let kinds: BTreeSet<String> = every_command().iter().map(kind).collect();
    assert_eq!(kinds, all_kinds());
    assert_eq!(kinds.len(), 23);
}

#[test]
fn every_command_has_forms_that_are_read() {
    let mut kinds = BTreeSet::new();
    for (form, meaning) in RecordedCommand::FORMS {
        let command = read(form);
        assert_eq!(read(&command.to_string()), command, "{form}");
        assert!(!meaning.is_empty());
        kinds.insert(kind(&command));
    }
    assert_eq!(kinds, all_kinds());
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

#[test]
fn a_command_is_written_in_more_than_one_way() {
    for (said, canonical) in [
        ("  crash   5 ", "crash 5"),
        ("partition 1 2|3", "partition 1 2 | 3"),
        ("cut 1>2", "cut 1 > 2"),
        ("join agent-12", "join agent-12 12"),
        ("join db", "join db 0"),
        ("join 99999999999999999999", "join 99999999999999999999 0"),
        ("score 2 7,0,0", "score 2 7"),
        ("score 2 +7", "score 2 7"),
        ("network", "network delay 0ms"),
        ("network delay 5ms..5ms", "network delay 5ms"),
        (
            "network loss 10.0% delay 0s..20ms",
            "network delay 0ms..20ms loss 10%",
        ),
        ("network loss 0.10%", "network delay 0ms loss 0.1%"),
    ] {
        assert_eq!(read(said).to_string(), canonical, "{said}");
    }
    let loss = NetworkRecord {
        loss: 1_000,
        ..NetworkRecord::default()
    };
    assert_eq!(read("network loss 100%"), RecordedCommand::Network(loss));
}

#[test]
fn a_text_that_is_not_a_command_is_refused_with_advice() {
    for (said, advice) in [
        ("", "there is no command ``, but crash, stop"),
        ("xyzzy", "there is no command `xyzzy`, but crash, stop"),
        (
            "crsh 5",
            "there is no command `crsh`; did you mean `crash`?",
        ),
        ("Crash 5", "`Crash`; did you mean `crash`?"),
        ("stpo 5", "did you mean `stop`?"),
        ("add_voter 5", "did you mean `add-voter`?"),
        ("loss 5%", "did you mean `network delay"),
        ("crash", "write `crash agent-4 agent-5`"),
        ("crash 1 | 2", "`|` has no meaning here"),
        ("crash a;b", "`a;b` has no meaning here"),
        ("crash a/b", "\"a/b\""),
        ("hang 4 5", "write `hang agent-5`"),
        (
            "cut",
            "write `cut agent-1 agent-2` or `cut agent-1 > agent-2`",
        ),
        ("cut > 2", "`>` has no meaning here"),
        ("cut 1 2 3", "write `cut"),
        ("cut 1 > > 2", "write `cut"),
        ("heal now", "write `heal`"),
        ("partition", "write `partition"),
        ("partition 1 |", "write `partition"),
        ("partition 1 > 2", "`>` has no meaning here"),
        ("score 2", "write `score"),
        ("score 2 high", "`high` is not a score"),
        ("score 2 1,2,3,4,5", "up to four"),
        ("score 2 1,", "write a number"),
        ("score 2 9999999999999999999", "write a number"),
        ("network slow 1%", "write `network"),
        ("network delay ..5ms", "`` is not a span of time"),
        ("network loss 10", "write 0% to 100%"),
        ("network loss 101%", "write 0% to 100%"),
        ("network loss 0.05%", "write 0% to 100%"),
        ("network loss .5%", "write 0% to 100%"),
        ("network loss +5%", "write 0% to 100%"),
        ("network loss %", "write 0% to 100%"),
    ] {
        let refused = said.parse::<RecordedCommand>().unwrap_err();
        assert!(refused.to_string().contains(advice), "{said}: {refused}");
    }
}

#[test]
fn a_span_is_exact_or_refused() {
    for (word, nanos) in [
        ("1.5s", 1_500_000_000),
        ("0.000001s", 1_000),
        ("0.001us", 1),
        ("9.0ns", 9),
        ("0.50000000000000000000000000s", 500_000_000),
    ] {
        assert_eq!(read_span(word).unwrap().as_nanos(), nanos, "{word}");
    }
    for word in [
        "",
        "5",
        "ms",
        "-5ms",
        "1e99s",
        "nans",
        ".5ms",
        "5.ms",
        "1.2.3ms",
        "+5ms",
        "1.+5ms",
        "0.5ns",
        "0.0000000001s",
        "99999999999s",
        "5MS",
        "5parsec",
    ] {
        let word = word.to_owned();
        assert_eq!(read_span(&word), Err(CommandError::Span { word }));
    }
}

#[test]
fn no_text_makes_the_reader_panic() {
    let pieces = [
        "cut",
        "1",
        ">",
        "|",
        "é",
        "network",
        "delay",
        "..",
        "%",
        ";",
        "-",
        "999999999999",
        "ß.",
        "\u{0}",
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
