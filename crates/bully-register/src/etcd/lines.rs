//! Splits a stream that arrives in parts into lines.
//!
//! Decided here: a line that is too long is reported as such, and its bytes are not kept.

#[derive(Debug, Default)]
pub(super) struct StreamLines {
    /// The part of the next line that was received so far.
    begun: Vec<u8>,
    is_too_long: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum StreamLine {
    Text(Vec<u8>),
    TooLong,
}

impl StreamLines {
    /// Adds a part of the stream, and returns the lines that end in it.
    pub(super) fn push(&mut self, piece: &[u8]) -> Vec<StreamLine> {
        let mut whole = Vec::new();
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            let text = part.strip_suffix(b"\n");
            self.keep(text.unwrap_or(part));
            if text.is_some() {
                let text = std::mem::take(&mut self.begun);
                whole.push(if std::mem::take(&mut self.is_too_long) {
                    StreamLine::TooLong
                } else {
                    StreamLine::Text(text)
                });
            }
        }
        whole
    }

    fn keep(&mut self, text: &[u8]) {
        if self.is_too_long || self.begun.len().saturating_add(text.len()) > MOST {
            self.is_too_long = true;
            self.begun = Vec::new();
        } else {
            self.begun.extend_from_slice(text);
        }
    }
}

/// Largest length of a line in bytes: the changes of several records, each of the largest size, with room to spare.
const MOST: usize = 65_536;

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> StreamLine {
        StreamLine::Text(text.into())
    }

    #[test]
    fn lines_are_the_same_however_they_are_cut() {
        let all = b"one\n\ntwo\nthree";
        for size in 1..=all.len() {
            let mut lines = StreamLines::default();
            let pieces = all.chunks(size);
            let found: Vec<_> = pieces.flat_map(|piece| lines.push(piece)).collect();
            assert_eq!(found, [text("one"), text(""), text("two")], "{size}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_never_kept() {
        let mut lines = StreamLines::default();
        assert_eq!(lines.push(&vec![b'x'; MOST]), []);
        for _ in 0..100 {
            assert_eq!(lines.push(&vec![b'x'; MOST]), []);
            assert_eq!(lines.begun.capacity(), 0);
        }
        assert_eq!(
            lines.push(b"\nshort\n"),
            [StreamLine::TooLong, text("short")]
        );
        let mut longest = vec![b'x'; MOST];
        longest.push(b'\n');
        assert!(matches!(&*lines.push(&longest), [StreamLine::Text(text)] if text.len() == MOST));
    }
}
