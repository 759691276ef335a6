//! Errors of a recording, and of the texts made from it.

use std::io;

use serde_json::error::Category;

use super::TooLong;
use crate::protocol::Time;

/// The reason why a file cannot be read as a recording. Lines are counted from 1.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The lines could not be read.
    #[error("the recording cannot be read: is the file there, and may this user read it? ({0})")]
    Read(#[source] io::Error),
    /// The first line is not a header.
    #[error(
        "line 1 is not the header of a recording: name a file that `--record` or `record save` wrote"
    )]
    Foreign,
    /// The recording is of another version of the format.
    #[error(
        "line 1: the recording is of format {version}, and this program reads {newest}: use the release that wrote it"
    )]
    Version {
        /// The version of the recording.
        version: u32,
        /// The newest version that this reader knows.
        newest: u32,
    },
    /// A line is not an entry.
    #[error("line {line} is not an entry of a recording: {}", words(source))]
    Malformed {
        /// The number of the line that is not an entry.
        line: usize,
        /// The error of the JSON parser.
        source: serde_json::Error,
    },
    /// A line is too long.
    #[error(
        "line {line} of the recording exceeds the limit of {max} bytes: record a cluster of fewer agents"
    )]
    LineTooLong {
        /// The number of the line that is too long.
        line: usize,
        /// The largest length of a line, in bytes.
        max: usize,
    },
    /// There are too many entries.
    #[error("at line {line} the recording exceeds the limit of {max} lines: record a shorter run")]
    TooManyEntries {
        /// The first line beyond the limit.
        line: usize,
        /// The largest number of entries.
        max: usize,
    },
    /// All lines together are too long.
    #[error("at line {line} the recording exceeds the limit of {max} bytes: record a shorter run")]
    TooLarge {
        /// The first line beyond the limit.
        line: usize,
        /// The largest size of a recording, in bytes.
        max: usize,
    },
    /// A line contains a list that is too long.
    #[error(
        "line {line} of the recording has a list of {len} items, and the limit is {max}: record a cluster of fewer agents"
    )]
    TooManyItems {
        /// The number of the line with the list.
        line: usize,
        /// Length of the list.
        len: usize,
        /// The largest length of a list.
        max: usize,
    },
    /// An entry is earlier than the entry before it.
    #[error(
        "line {line} is of {at} ms, earlier than the line before, which is of {before} ms: the file was changed, so copy the recording again"
    )]
    Backwards {
        /// The number of the line that is too early.
        line: usize,
        /// The time of this line.
        at: Time,
        /// The time of the line before it.
        before: Time,
    },
    /// The last line is missing.
    #[error(
        "the recording breaks off after line {line}: its last line is missing, so copy it again"
    )]
    Unended {
        /// The number of the last line that exists.
        line: usize,
    },
    /// There are lines after the last entry.
    #[error(
        "line {line} follows the end of the recording: remove this line and all lines after it"
    )]
    AfterEnd {
        /// The number of the first line after the end.
        line: usize,
    },
}

debug_is_text!(RecordingError);

/// Describes the error of a line in the crate's own words, not in the words of the parser.
fn words(wrong: &serde_json::Error) -> String {
    match wrong.classify() {
        Category::Eof => "it breaks off in the middle: copy the whole file again".to_owned(),
        Category::Syntax => {
            let column = wrong.column();
            format!("its character {column} is not JSON: was the file edited?")
        }
        Category::Data | Category::Io => {
            let text = wrong.to_string();
            // The position is left out, because each line is parsed alone.
            let (told, _) = text.rsplit_once(" at line ").unwrap_or((&text, ""));
            let named = told
                .replace("missing field", "it lacks")
                .replace("unknown variant", "this program does not know")
                .replace("unknown field", "this program does not know");
            let misfits = ["invalid", "duplicate field"];
            if misfits.iter().any(|misfit| told.starts_with(misfit)) {
                format!("a value does not fit there ({told}): was the file edited?")
            } else if named == told {
                named // a value, refused with its own advice
            } else {
                format!("{named}: use the release that wrote the file")
            }
        }
    }
}

/// The reason why a run cannot be played again, or written as commands or as a test.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Untold {
    /// The text would be too long.
    #[error(
        "the run is too long to be written as commands or as a test: record a shorter run ({0})"
    )]
    TooLong(#[from] TooLong),
    /// The beginning of the run was forgotten.
    #[error(
        "the recording lacks its first {forgotten} entries, which may have commands: record the run with a larger limit, \
         or, while it still runs, take its commands or its test from its live page"
    )]
    Forgotten {
        /// Number of forgotten entries.
        forgotten: u64,
    },
    /// The recording has no commands, and no agents at its beginning.
    #[error(
        "the recording does not name its first agents, so it cannot be repeated: use a recording of a cluster"
    )]
    NoAgents,
    /// The recording is the record of a running node.
    #[error(
        "this is the record of a running node, which has no commands that could be repeated: look at its entries, or play a run of a cluster again"
    )]
    Node,
    /// The run was recorded in real time.
    #[error(
        "a recording made in real time cannot be repeated exactly: save its commands to a script with \
         `--show RECORDING --commands SCRIPT`, then run `--script SCRIPT`"
    )]
    RealTime,
    /// The recording is a history of the simulator.
    #[error("this is a history of the simulator: play it again by `{again}`")]
    History {
        /// The command that repeats the history.
        again: String,
    },
    /// The run begins in another way than the example `cluster`.
    #[error(
        "the example `cluster` cannot begin like this recording: {what}; play the run again in the program that recorded it"
    )]
    Beginning {
        /// The difference between the two beginnings.
        what: &'static str,
    },
    /// The example `cluster` has no election with the name that the recording has.
    #[error(
        "the example `cluster` has no election `{protocol}`: play the run again in the program that recorded it"
    )]
    Protocol {
        /// The name of the election in the recording.
        protocol: String,
    },
    /// A command has no form in words.
    #[error(
        "the command at {at} ms has no form in words, so the run cannot be written as a script or a test: record a run without it ({command})"
    )]
    Command {
        /// The time of the command.
        at: Time,
        /// The command, as the recording has it.
        command: String,
    },
}

debug_is_text!(Untold);
