//! Reads one line from bytes that arrive in parts.
//!
//! Decided here: a line ends with a line feed, and has at most [`LONGEST`] bytes; bytes after the line feed are
//! ignored. Not here: how long a line may take (`serve.rs`).

/// Longest line in bytes, without its end.
pub(super) const LONGEST: usize = 4096;

/// A line that is being read.
#[derive(Debug, Default)]
pub(super) struct RequestLine(Vec<u8>);

/// The state of a line after more bytes have arrived.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LineProgress {
    /// The end of the line has not arrived.
    Unfinished,
    /// The line is complete.
    Whole,
    /// The limit is reached and the line has no end.
    TooLong,
}

impl RequestLine {
    pub(super) fn push(&mut self, bytes: &[u8]) -> LineProgress {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let more = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
        if self.0.len() + more.len() > LONGEST {
            return LineProgress::TooLong;
        }
        self.0.extend_from_slice(more);
        match end {
            Some(_) => LineProgress::Whole,
            None => LineProgress::Unfinished,
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_where_it_says_and_keeps_to_its_limit() {
        let mut line = RequestLine::default();
        assert_eq!(line.push(b"\"re"), LineProgress::Unfinished);
        assert_eq!(line.push(b""), LineProgress::Unfinished);
        assert_eq!(line.push(b"port\"\nand more\n"), LineProgress::Whole);
        assert_eq!(line.bytes(), b"\"report\"");

        let mut line = RequestLine::default();
        assert_eq!(line.push(&[b'x'; LONGEST]), LineProgress::Unfinished);
        assert_eq!(line.push(b"\n"), LineProgress::Whole);
        let mut line = RequestLine::default();
        assert_eq!(line.push(&[b'x'; LONGEST]), LineProgress::Unfinished);
        assert_eq!(line.push(b"x"), LineProgress::TooLong);
        assert!(line.bytes().len() <= LONGEST);
    }
}
