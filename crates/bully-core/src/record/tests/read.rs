//! Reading a recording: its own text is read again, and any other text is refused with the number of the line.

use super::{AT, Recording, RecordingError, What, full, golden, usual};

fn read(text: &str) -> Result<Recording, RecordingError> {
    Recording::read(text.as_bytes())
}

fn refused(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

/// Returns the text of a recording in which `line` replaces the line `number`, counted from 1.
fn with(number: usize, line: &str) -> String {
    let text = full();
    let lines = text.lines().zip(1..);
    let changed = lines.map(|(old, at)| if at == number { line } else { old });
    changed.flat_map(|line| [line, "\n"]).collect()
}

/// Files in this format exist, so a changed line needs a new version of the format.
#[test]
fn a_recording_of_version_1_is_read_and_written_again_to_the_last_byte() {
    let text = full();
    let recording = read(&text).unwrap();
    assert_eq!(recording.to_jsonl(), text);
    let mut written = Vec::new();
    recording.write(&mut written).unwrap();
    assert_eq!(written, text.as_bytes());
    assert_eq!(read(text.trim_end()).unwrap(), recording, "no end of line");
}

/// Returns texts that are not recordings, each with its description. The text is read, and the error is reviewed.
fn refused_texts() -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut add = |name: &str, text: String| all.push((name.to_owned(), text));
    for foreign in [
        "",
        "\n",
        "{}",
        "[]",
        "not json",
        "{\"format\":\"other\",\"version\":1}",
        "\u{0}\u{1}",
    ] {
        add(&format!("the file {foreign:?}"), foreign.to_owned());
    }
    let whole = full();
    for (from, to) in [
        ("\"version\":1", "\"version\":2"),
        ("\"seed\":7", "\"seed\":7,\"more\":1"),
    ] {
        add(&format!("{from} is {to}"), whole.replacen(from, to, 1));
    }
    for line in [
        "",
        "{}",
        "nonsense",
        "{\"at_ns\":1",
        "{\"at_ns\":1,",
        "{\"at_ns\":1}",
        "{\"at_ns\":-1,\"what\":\"ended\"}",
        "{\"at_ns\":1,\"what\":\"unheard_of\"}",
        "{\"at_ns\":1,\"what\":\"ended\",\"more\":1}",
        "{\"at_ns\":1,\"at_ns\":1,\"what\":\"ended\"}",
        "{\"at_ns\":1,\"what\":{\"mark\":1}}",
        "{\"at_ns\":1,\"what\":{\"command\":{\"crash\":[\"\"]}}}",
        "{\"at_ns\":1,\"what\":{\"role\":{\"agent\":\"a\",\"role\":\"waiting\",\"more\":1}}}",
        "{\"at_ns\":1,\"what\":{\"event\":{\"agent\":\"a\\u202eb\",\"event\":1}}}",
        "{\"at_ns\":50000000,\"what\":{\"mark\":\"late\"}}",
    ] {
        add(&format!("line 3 is {line}"), with(3, line));
    }
    let deep = format!("{{\"at_ns\":1,\"what\":{}", "[".repeat(10_000));
    add("line 3 is 10,000 levels deep", with(3, &deep));
    let long = "x".repeat(1 << 20);
    let long = format!("{{\"at_ns\":1,\"what\":{{\"mark\":\"{long}\"}}}}");
    add("line 3 has a mebibyte", with(3, &long));
    let arrives = vec!["2"; 10_001].join(",");
    let many = format!(
        "{{\"at_ns\":2,\"what\":{{\"sent\":{{\"message\":{{\"from\":\"a\",\"to\":\"b\",\"kind\":\"k\",\"text\":\"t\"}},\"arrives\":[{arrives}]}}}}}}"
    );
    add("line 3 has too many arrivals", with(3, &many));
    let sides = vec!["[]"; 10_001].join(",");
    let sides = format!("{{\"at_ns\":2,\"what\":{{\"command\":{{\"partition\":[{sides}]}}}}}}");
    add("line 3 has too many sides", with(3, &sides));
    let five: Vec<&str> = whole.lines().take(5).collect();
    add("five lines", five.join("\n"));
    add("a line after the end", format!("{whole}{{}}"));
    all
}

/// Compares each error with a golden text. `BLESS=1` writes it. An error names the line, and does not repeat the words
/// of a parser.
#[test]
fn texts_that_are_not_recordings_are_refused_as_reviewed() {
    let mut text = String::new();
    for (name, refused_text) in refused_texts() {
        let error = refused(&refused_text);
        // The list of the names that are expected grows with each command.
        let (error, _) = error.split_once(", expected").unwrap_or((&error, ""));
        text.extend([&*name, "\n    ", error, "\n"]);
    }
    golden("refused.txt", &text);
}

#[test]
fn a_file_without_an_end_is_refused() {
    let whole = full();
    let head = whole.split_inclusive('\n').next().unwrap();
    let entry = "{\"at_ns\":1,\"what\":{\"mark\":\"x\"}}\n";
    let endless = std::io::Read::chain(head.as_bytes(), Endless(entry.as_bytes(), 0));
    let read = Recording::read(std::io::BufReader::new(endless));
    assert_eq!(
        read.unwrap_err().to_string(),
        "at line 500002 the recording exceeds the limit of 500000 lines: record a shorter run"
    );
}

/// A reader that repeats the same bytes without end.
struct Endless(&'static [u8], usize);

impl std::io::Read for Endless {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        for byte in &mut *into {
            *byte = self.0[self.1];
            self.1 = (self.1 + 1) % self.0.len();
        }
        Ok(into.len())
    }
}

#[test]
fn a_violation_stands_where_it_was_found() {
    let marks = [1, 2, 2, 3].map(|at| (at, What::Mark(at.to_string())));
    let mut recording = usual(1, marks, 9);
    recording.violate(AT(2), "two lead".to_owned());
    let found = &recording.entries()[3].what;
    assert_eq!(found, &What::Violation("two lead".to_owned()));
    recording.violate(AT(99), "late".to_owned());
    assert_eq!(recording.entries().last().unwrap().what, What::Ended);
    let text = recording.to_text();
    assert!(text.contains("9.000  ==  BROKEN: late"), "{text}");
    assert!(read(&recording.to_jsonl()).is_ok());
}

#[test]
fn the_first_difference_is_shown_with_both_lines() {
    let marked = |marks: &[&str]| {
        let marks = marks.iter().map(|mark| What::Mark((*mark).into()));
        usual(2, (1..).zip(marks), 5)
    };
    let one = marked(&["a", "b"]);
    assert_eq!(one.first_difference(&one.clone()), None);
    assert_eq!(
        one.first_difference(&marked(&["a", "c"]))
            .unwrap()
            .to_string(),
        "line 3 differs: {\"at_ns\":2000000,\"what\":{\"mark\":\"b\"}} and {\"at_ns\":2000000,\"what\":{\"mark\":\"c\"}}"
    );
    assert_eq!(one.first_difference(&marked(&["a"])).unwrap().line, 3);
    assert_eq!(one.first_difference(&usual(3, [], 5)).unwrap().line, 1);
}
