//! A text with a limit of its length, which no write exceeds.
//!
//! Decided here: a part that does not fit is left out as a whole, and nothing is written after it. Not here: the
//! largest size of a text, and whether a longer text is refused or ends early with a remark; the writer of the text
//! decides that.

use std::{
    fmt::{self, Write as _},
    io,
};

use serde::Serialize;

/// A text with a limit in bytes.
///
/// ```
/// use bully_core::record::BoundedText;
/// use std::fmt::Write;
/// let mut text = BoundedText::new(10);
/// assert!(writeln!(text, "four").is_ok());
/// assert!(writeln!(text, "thousands").is_err());
/// assert!(writeln!(text, "1").is_err(), "nothing follows what is left out");
/// assert_eq!(text.ended_by("and so on\n"), "four\nand so on\n");
/// ```
#[derive(Clone, Debug)]
pub struct BoundedText {
    text: String,
    most: usize,
    is_full: bool,
}

/// A text has more bytes than its limit allows.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the text to write would exceed its limit of {most} bytes")]
pub struct TooLong {
    /// The limit of the text, in bytes.
    pub most: usize,
}

debug_is_text!(TooLong);

impl BoundedText {
    /// Returns an empty text with room for `most` bytes.
    pub const fn new(most: usize) -> Self {
        Self {
            text: String::new(),
            most,
            is_full: false,
        }
    }

    /// Writes the whole of `text`, or nothing.
    ///
    /// # Errors
    /// [`TooLong`] if `text` does not fit, or if an earlier part did not fit.
    pub fn push(&mut self, text: &str) -> Result<(), TooLong> {
        let TooLong { most } = self.over();
        if self.is_full || self.text.len().saturating_add(text.len()) > most {
            self.is_full = true;
            return Err(TooLong { most });
        }
        self.text.push_str(text);
        Ok(())
    }

    /// Writes the whole formatted text of `what`, or nothing.
    ///
    /// # Errors
    /// The same as those of [`push`](Self::push).
    pub fn append(&mut self, what: fmt::Arguments<'_>) -> Result<(), TooLong> {
        let before = self.text.len();
        self.write_fmt(what).map_err(|_| {
            self.text.truncate(before);
            self.over()
        })
    }

    /// Returns whether a part of the text was left out, because it did not fit.
    pub const fn is_full(&self) -> bool {
        self.is_full
    }

    /// Returns the text, if no part of it was left out.
    ///
    /// # Errors
    /// [`TooLong`] if a part of the text was left out.
    pub fn whole(self) -> Result<String, TooLong> {
        if self.is_full {
            return Err(self.over());
        }
        Ok(self.text)
    }

    /// Returns the text. If a part was left out, the result contains only the whole lines of the text, followed by
    /// `words`.
    pub fn ended_by(mut self, words: &str) -> String {
        if self.is_full {
            let lines = self.text.rfind('\n').map_or(0, |end| end.saturating_add(1));
            self.text.truncate(lines);
            self.text.push_str(words);
        }
        self.text
    }

    /// Returns a value as JSON of at most `most` bytes. The part that exceeds the limit is not kept in memory.
    ///
    /// # Errors
    /// [`TooLong`] if the JSON is longer.
    pub fn json(value: &impl Serialize, most: usize) -> Result<String, TooLong> {
        let mut text = Self::new(most);
        text.add_json(value)?;
        text.whole()
    }

    /// Writes the whole value as JSON, or nothing. A value without a JSON form is not written.
    ///
    /// # Errors
    /// The same as those of [`push`](Self::push).
    pub fn add_json(&mut self, value: &impl Serialize) -> Result<(), TooLong> {
        let before = self.text.len();
        if serde_json::to_writer(&mut *self, value).is_err() {
            self.text.truncate(before);
        }
        if self.is_full {
            return Err(self.over());
        }
        Ok(())
    }

    const fn over(&self) -> TooLong {
        TooLong { most: self.most }
    }
}

impl fmt::Write for BoundedText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text).map_err(|_| fmt::Error)
    }
}

impl io::Write for BoundedText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = std::str::from_utf8(bytes)
            .map_err(|wrong| io::Error::new(io::ErrorKind::InvalidData, wrong))?;
        self.push(text).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_fits_is_whole_and_a_longer_text_is_refused() {
        let mut text = BoundedText::new(5);
        text.push("12345").unwrap();
        assert_eq!(text.clone().whole().unwrap(), "12345");
        assert_eq!(text.push("6"), Err(TooLong { most: 5 }));
        assert!(text.is_full());
        assert_eq!(text.whole(), Err(TooLong { most: 5 }));
    }

    #[test]
    fn a_part_that_does_not_fit_is_not_begun() {
        let mut text = BoundedText::new(8);
        text.append(format_args!("{}\n", "one")).unwrap();
        text.append(format_args!("{}{}", 22, "55555")).unwrap_err();
        assert_eq!(text.text.len(), 4);
        assert!(text.push("x").is_err(), "nothing follows it");
        assert_eq!(text.ended_by("..\n"), "one\n..\n");
    }

    #[test]
    fn json_is_whole_or_refused() {
        assert_eq!(
            BoundedText::json(&["ä", "\n"], 12).unwrap(),
            "[\"ä\",\"\\n\"]"
        );
        let long = vec!["x"; 1_000];
        assert_eq!(
            BoundedText::json(&long, 3_999),
            Err(TooLong { most: 3_999 })
        );
        assert_eq!(BoundedText::json(&long, 4_001).unwrap().len(), 4_001);
    }
}
