//! The reasons why bytes are not a frame or a message.

use std::fmt;

/// A fault in bytes from the network. The link is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The bytes end too early, or announce more bytes than follow.
    #[error("the peer's packet ends too early")]
    Truncated,
    /// Bytes remain after the end.
    #[error("bytes follow after the end of the peer's packet")]
    Trailing,
    /// Another type was expected, or the value is not in its only allowed form.
    #[error("a value in the peer's packet has another type than expected")]
    Type,
    /// The value could be written in fewer bytes.
    #[error("a value in the peer's packet is written in more bytes than it needs")]
    NotShortest,
    /// The value is nested too deeply.
    #[error("lists in the peer's packet are nested too deeply")]
    Depth,
    /// The arrays have too many items.
    #[error("lists in the peer's packet have too many items")]
    Items,
    /// A text is too long.
    #[error("a text in the peer's packet is too long")]
    TextTooLong,
    /// A text is not UTF-8.
    #[error("a text in the peer's packet is not UTF-8")]
    Utf8,
    /// A number, name or variant is not allowed at its place.
    #[error("a field of the peer's packet has a value that this release does not allow")]
    Value,
    /// The kind of the frame is unknown.
    #[error("the peer's packet is of a kind that this release does not know")]
    Kind,
}

impl serde::de::Error for WireError {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::Value // the text may hold a peer's bytes, and costs an allocation
    }

    fn invalid_type(_: serde::de::Unexpected<'_>, _: &dyn serde::de::Expected) -> Self {
        Self::Type
    }

    fn invalid_length(_: usize, _: &dyn serde::de::Expected) -> Self {
        Self::Type
    }
}

/// Bounds of a message; see [`Limits`](crate::remote::Limits).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Deepest nesting.
    pub depth: u8,
    /// Largest number of items in all arrays of a message together.
    pub items: usize,
    /// Longest text in bytes.
    pub text: usize,
}

impl Bounds {
    /// Returns whether every payload of the length `len` is within the bounds of items and texts, since each item and
    /// text takes bytes.
    pub(in crate::remote) fn fit_any(&self, len: usize) -> bool {
        len <= self.items.min(self.text)
    }
}

impl Default for Bounds {
    fn default() -> Self {
        crate::remote::Limits::default().bounds()
    }
}
