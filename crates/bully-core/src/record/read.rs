//! Reads recordings that another program may have written.
//!
//! Decided here: the limits of a recording; no data beyond a limit is kept. A recording is read completely or not at
//! all.

use std::io::{BufRead, Read};

use super::{Header, RecordedCommand, Recording, RecordingError, TraceEntry, What};
use crate::protocol::Time;

pub(super) fn read(mut from: impl BufRead) -> Result<Recording, RecordingError> {
    let mut line = Vec::new();
    let mut reader = Lines::default();
    if !reader.next(&mut from, &mut line)? {
        return Err(RecordingError::Foreign);
    }
    let header = Header::read(&line)?;
    bounded(1, header.agents.len().max(header.timings_ns.len()))?;
    let mut entries: Vec<TraceEntry> = Vec::new();
    let mut before = Time::ZERO;
    while reader.next(&mut from, &mut line)? {
        let at_line = reader.number;
        let is_over = entries.last().is_some_and(|last| last.what == What::Ended);
        if is_over {
            return Err(RecordingError::AfterEnd { line: at_line });
        }
        if entries.len() == MOST_ENTRIES {
            let max = MOST_ENTRIES;
            return Err(RecordingError::TooManyEntries { line: at_line, max });
        }
        let mut entry: TraceEntry =
            serde_json::from_slice(&line).map_err(|source| RecordingError::Malformed {
                line: at_line,
                source,
            })?;
        bounded(at_line, entry.longest_list())?;
        if entry.at < before {
            let (line, at) = (at_line, entry.at);
            return Err(RecordingError::Backwards { line, at, before });
        }
        before = entry.at;
        entries.push(entry);
    }
    match entries.last() {
        Some(last) if last.what == What::Ended => Ok(Recording::of(header, entries)),
        Some(_) | None => Err(RecordingError::Unended {
            line: reader.number,
        }),
    }
}

/// The position of the reader in a file: the lines and bytes that it has read so far.
#[derive(Debug, Default)]
struct Lines {
    number: usize,
    bytes: usize,
}

impl Lines {
    /// Reads the next line, without its end. Returns whether there was a line.
    fn next(
        &mut self,
        from: &mut impl BufRead,
        line: &mut Vec<u8>,
    ) -> Result<bool, RecordingError> {
        line.clear();
        // One byte more than the limit is read, because it shows that a line exceeds the limit.
        let most = u64::try_from(LONGEST_LINE).unwrap_or(u64::MAX);
        let mut limited = from.take(most.saturating_add(1));
        let read = limited
            .read_until(b'\n', line)
            .map_err(RecordingError::Read)?;
        if read == 0 {
            return Ok(false);
        }
        self.number = self.number.saturating_add(1);
        self.bytes = self.bytes.saturating_add(read);
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if read > LONGEST_LINE {
            let max = LONGEST_LINE;
            return Err(RecordingError::LineTooLong {
                line: self.number,
                max,
            });
        }
        if self.bytes > MOST_BYTES {
            let max = MOST_BYTES;
            return Err(RecordingError::TooLarge {
                line: self.number,
                max,
            });
        }
        Ok(true)
    }
}

fn bounded(line: usize, len: usize) -> Result<(), RecordingError> {
    if len > MOST_ITEMS {
        let max = MOST_ITEMS;
        return Err(RecordingError::TooManyItems { line, len, max });
    }
    Ok(())
}

impl TraceEntry {
    /// Returns the length of the longest list in the entry.
    fn longest_list(&mut self) -> usize {
        match &mut self.what {
            What::Sent { arrives, .. } => arrives.len(),
            What::Command(RecordedCommand::Partition(sides)) if sides.len() > MOST_ITEMS => {
                sides.len()
            }
            What::Command(command) => command.agents_mut().len(),
            What::Settled { sides, .. } => {
                let longest = sides.iter().map(|side| side.agents.len()).max();
                sides.len().max(longest.unwrap_or(0))
            }
            What::Lost { .. }
            | What::Delivered(_)
            | What::Dropped { .. }
            | What::Role { .. }
            | What::Event { .. }
            | What::Happened { .. }
            | What::Mark(_)
            | What::Violation(_)
            | What::Ended => 0,
        }
    }
}

// The reader has limits, because another program may have written the recording. Chosen: about ten times the largest
// record of an agent (8 MiB, 50,000 entries); a list may name each agent of a group of 10,000.
const LONGEST_LINE: usize = 1 << 20;
const MOST_BYTES: usize = 64 << 20;
const MOST_ENTRIES: usize = 500_000;
const MOST_ITEMS: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lines_together_have_a_limit() {
        let (mut lines, mut line) = (Lines::default(), Vec::new());
        lines.bytes = MOST_BYTES - 2;
        let mut from: &[u8] = b"a\nb\n";
        assert!(lines.next(&mut from, &mut line).unwrap());
        let refused = lines.next(&mut from, &mut line);
        assert!(matches!(
            refused,
            Err(RecordingError::TooLarge { line: 2, .. })
        ));
    }
}
