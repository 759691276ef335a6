//! Cuts a stream of bytes into frames.
//!
//! Decided here: a length is checked before memory is reserved for it, and the buffer grows with the received
//! bytes, never with an announced length.

use std::time::Duration;

use super::WireError;
use crate::{
    protocol::Time,
    remote::{Closed, Limits},
};

const HEAD: usize = 4;

/// Returns whether the bytes begin a record of TLS: a handshake (22) or an alert (21), and the version 3.x. If these
/// bytes were a length, it would be far above the range of [`Limits::frame`].
const fn is_tls(head: [u8; HEAD]) -> bool {
    matches!(head, [0x15 | 0x16, 0x03, ..])
}

/// The frames of one connection, as its bytes arrive.
///
/// # How a driver uses it
/// 1. `read_buf` into [`room`](Self::room); a test may call `feed`.
/// 2. Call [`next`](Self::next) until it returns `None`; each body is valid until the next call.
/// 3. Wait for more bytes until [`deadline`](Self::deadline), if it returns a time; then close the link with
///    `Closed::FrameTimeout`.
///
/// Call [`raise`](Self::raise) between two frames as soon as the link is ready: a long frame may follow, in the same
/// read, the frame that made the link ready.
#[derive(Debug)]
pub struct Frames {
    buffer: Vec<u8>,
    /// The position at which the next frame begins.
    start: usize,
    max: usize,
    time: Duration,
    /// Time at which the first byte of the unfinished frame arrived; `None` between two frames.
    began: Option<Time>,
}

impl Frames {
    /// Returns the frames of a new connection. None of them may be longer than [`Limits::EARLY_FRAME`].
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self {
            buffer: Vec::new(),
            start: 0,
            max: Limits::EARLY_FRAME,
            time: limits.frame_time(),
            began: None,
        }
    }

    /// Allows frames of up to [`Limits::frame`] from now on.
    pub fn raise(&mut self, limits: &Limits) {
        self.max = limits.frame();
    }

    /// Returns the buffer for the next read. The caller may only append to it. It has room for at least
    /// [`Limits::READ_AHEAD`] bytes, and is never larger than a frame and this room together.
    pub fn room(&mut self) -> &mut Vec<u8> {
        // The handled bytes are removed once for each read: after each frame, all later bytes would be moved again.
        self.buffer.drain(..self.start);
        self.start = 0;
        let spare = self.buffer.capacity().saturating_sub(self.buffer.len());
        if spare < Limits::READ_AHEAD {
            // `reserve` could double a buffer that is already as long as a frame.
            self.buffer.reserve_exact(Limits::READ_AHEAD);
        }
        &mut self.buffer
    }

    /// Appends bytes, at most [`Limits::READ_AHEAD`] of them. Returns their number.
    #[cfg(feature = "testkit")]
    pub fn feed(&mut self, bytes: &[u8]) -> usize {
        let (now, _) = bytes
            .split_at_checked(Limits::READ_AHEAD)
            .unwrap_or((bytes, &[]));
        self.room().extend_from_slice(now);
        now.len()
    }

    /// Returns the body of the next frame; `None` if more bytes are needed.
    ///
    /// # Errors
    /// `Closed::FrameTooLarge`, `Closed::Encrypted` for the head of a record of TLS, or `Closed::Malformed`
    /// for a frame of no bytes. Then the stream cannot be read any further.
    pub fn next(&mut self, now: Time) -> Result<Option<&[u8]>, Closed> {
        let Some(len) = self.announced()? else {
            let is_between = self.start == self.buffer.len();
            // A new byte does not extend the deadline of its frame: otherwise a frame could arrive slowly for ever.
            self.began = if is_between {
                None
            } else {
                self.began.or(Some(now))
            };
            return Ok(None);
        };
        let body = self.start.saturating_add(HEAD);
        let end = body.saturating_add(len);
        if end > self.buffer.len() {
            self.began = self.began.or(Some(now));
            return Ok(None);
        }
        self.began = None;
        self.start = end;
        Ok(self.buffer.get(body..end))
    }

    /// Returns the checked length of the next frame's body; `None` if its head has not arrived.
    fn announced(&self) -> Result<Option<usize>, Closed> {
        let rest = self.buffer.get(self.start..).unwrap_or_default();
        let Some(head) = rest.first_chunk::<HEAD>() else {
            return Ok(None);
        };
        let announced = u32::from_be_bytes(*head);
        let len = usize::try_from(announced).unwrap_or(usize::MAX);
        if len == 0 {
            return Err(WireError::Truncated.into());
        }
        if len > self.max {
            if is_tls(*head) {
                return Err(Closed::Encrypted);
            }
            let (len, max) = (announced.into(), self.max);
            return Err(Closed::FrameTooLarge { len, max });
        }
        Ok(Some(len))
    }

    /// Returns the deadline of the unfinished frame; `None` if no frame has begun.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.began.map(|began| began.after(self.time))
    }

    /// Returns the capacity of the buffer in bytes.
    #[cfg(feature = "testkit")]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.buffer.capacity()
    }
}
