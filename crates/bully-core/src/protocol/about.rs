//! A short text that an agent publishes about itself, such as the URL of its own server.
//!
//! Decided here: which text is valid. Not here: the use of the text. No election reads it; [`Member`](super::Member)
//! contains the text with the incarnation that published it.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Visitor};

/// A text that an agent publishes about itself for the other agents of its group, such as the URL of its own server.
///
/// 1 to 256 bytes without control characters, line separators and characters that change the direction of the text
/// around them. The text comes from another agent: escape it before you show it, and check it before you use it.
/// Cloning copies a pointer.
///
/// ```
/// # use bully_core::protocol::About;
/// let about: About = "http://10.0.0.3:8080".parse()?;
/// assert_eq!(about.as_str(), "http://10.0.0.3:8080");
/// assert!(About::new("two\nlines").is_err());
/// # Ok::<(), bully_core::protocol::AboutError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct About(Arc<String>); // one word of memory, because each member and each agent has this field

impl About {
    /// Length of the longest text, in bytes.
    pub const MAX_LEN: usize = 256;

    /// Checks a text.
    ///
    /// # Errors
    /// [`AboutError`] when the text is empty, too long, or has a character that is not allowed.
    pub fn new(text: &str) -> Result<Self, AboutError> {
        let (len, max) = (text.len(), Self::MAX_LEN);
        if len == 0 {
            return Err(AboutError::Empty);
        }
        if len > max {
            return Err(AboutError::TooLong { len, max });
        }
        match text.chars().find(|c| is_forbidden(*c)) {
            Some(found) => Err(AboutError::Forbidden { found }),
            None => Ok(Self(Arc::new(text.to_owned()))),
        }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns whether a terminal, a log or a web page would obey this character instead of showing it.
fn is_forbidden(c: char) -> bool {
    let parts_lines = matches!(c, '\u{2028}' | '\u{2029}');
    let turns_text = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}');
    c.is_control() || parts_lines || turns_text
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl FromStr for About {
    type Err = AboutError;
    fn from_str(text: &str) -> Result<Self, AboutError> {
        Self::new(text)
    }
}

impl Serialize for About {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for About {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_str(Text)
    }
}

/// Checks a text before it is copied: a refused text is never copied.
struct Text;

impl Visitor<'_> for Text {
    type Value = About;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the text about an agent")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<About, E> {
        About::new(text).map_err(E::custom)
    }
}

/// The reason why an agent's text about itself was refused.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AboutError {
    /// The text has no characters.
    #[error("the text about an agent is empty: leave it out, or give it 1 to 256 bytes")]
    Empty,
    /// The text is longer than the limit.
    #[error("the text about an agent has {len} bytes, and the limit is {max}: shorten it")]
    TooLong {
        /// Length of the text in bytes.
        len: usize,
        /// The limit in bytes.
        max: usize,
    },
    /// The text has a character that a terminal, a log or a web page would obey instead of showing it.
    #[error(
        "the text about an agent contains {found:?}: use printable characters in one line of text"
    )]
    Forbidden {
        /// The first forbidden character.
        found: char,
    },
}

debug_is_text!(AboutError);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_bounded_and_in_one_line() {
        assert_eq!(About::new(""), Err(AboutError::Empty));
        let longest = "x".repeat(256);
        assert_eq!(About::new(&longest).unwrap().as_str(), longest);
        let (len, max) = (257, 256);
        assert_eq!(
            About::new(&"x".repeat(257)),
            Err(AboutError::TooLong { len, max })
        );
        // The limit counts bytes, not characters.
        let (len, max) = (258, 256);
        assert_eq!(
            About::new(&"\u{fc}".repeat(129)),
            Err(AboutError::TooLong { len, max })
        );
        for found in [
            '\n', '\r', '\0', '\u{1b}', '\u{7f}', '\u{85}', '\u{9b}', '\u{61c}', '\u{200e}',
            '\u{200f}', '\u{2028}', '\u{2029}', '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}',
        ] {
            let text = format!("http://a{found}b");
            assert_eq!(About::new(&text), Err(AboutError::Forbidden { found }));
        }
        for good in [
            "http://10.0.0.3:8080",
            " a rack <b> in \u{fc}ber & \"co\" ",
            "-",
        ] {
            assert_eq!(About::new(good).unwrap().as_str(), good);
        }
    }
}
