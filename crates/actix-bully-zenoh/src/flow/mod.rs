//! One end of a connection as a state machine: the next byte, the number of bytes under way, and the end.
//!
//! Decided here: the bytes in zenoh's messages form a complete stream, or the connection breaks. A position that is
//! missing, repeated or beyond the window breaks it. Nothing is sent again, because the bridge makes a new link faster
//! than a lost message could be requested. The window bounds the bytes that a peer can make this side hold: a sender
//! waits until the reader has taken the bytes, so an honest sender never exceeds the window.

use bytes::{Bytes, BytesMut};

/// Maximum number of bytes that are under way or unread in one direction. This number fits into zenoh's own queue for a
/// link (16 batches of 64 KiB), so that an honest sender does not make zenoh drop messages.
pub(super) const WINDOW: u64 = 256 * 1024;

/// Number of bytes that the reader takes before it reports its position to the sender. A packet after each read would
/// double the traffic.
const TELL_AFTER: u64 = WINDOW / 4;

/// One end of a connection.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// The position of the next byte to receive.
    received: u64,
    /// The position up to which the reader has taken bytes. `told` is the last position that was reported to the
    /// sender.
    taken: u64,
    told: u64,
    unread: BytesMut,
    /// The position of the next byte to send. `acknowledged` is the position up to which the other side has taken
    /// bytes.
    sent: u64,
    acknowledged: u64,
    is_open: bool,
    has_ended: bool,
    over: Option<Over>,
}

/// The reason why a connection has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Over {
    /// The other end closed the connection, or the zenoh session of the other end has ended.
    #[error(
        "the peer has closed the connection, or its zenoh session has ended: look whether that process runs; the bridges connect again by themselves"
    )]
    Gone,
    /// A packet came before the connection was accepted, or after its end.
    #[error(
        "the peer sent a packet before the connection was accepted, or after its end: the bridges connect again by themselves; if this repeats, run the same release at both ends"
    )]
    OutOfPlace,
    /// Bytes are missing or repeated.
    #[error(
        "the peer's bytes of position {found} came in place of {expected}: zenoh lost or repeated a message, and the bridges connect again by themselves"
    )]
    Gap {
        /// The position of the bytes.
        found: u64,
        /// The position of the byte that comes next.
        expected: u64,
    },
    /// The peer sent more bytes than the window allows.
    #[error(
        "the peer sent more bytes than this node had asked for: the bridges connect again by themselves; if this repeats, run the same release at both ends"
    )]
    Window,
    /// The peer acknowledged a position that was never sent, or that lies before its last acknowledgement.
    #[error(
        "the peer acknowledged bytes that this node did not send: the bridges connect again by themselves; if this repeats, run the same release at both ends"
    )]
    Acknowledgement,
}

/// Result of a read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FlowRead {
    /// Received bytes. A position, if present, has to be reported to the sender: all bytes before it were read.
    Bytes(Bytes, Option<u64>),
    /// No byte is available yet.
    Nothing,
    /// No byte will follow: the other end has sent its last byte, or is gone.
    End,
    /// The connection broke.
    Broken(Over),
}

impl Flow {
    /// Notes that the connection was accepted. A second call breaks the connection.
    pub(super) fn open(&mut self) {
        if self.is_open {
            self.end(Over::OutOfPlace);
        }
        self.is_open = true;
    }

    pub(super) const fn is_open(&self) -> bool {
        self.is_open
    }

    /// Returns the reason why the connection has ended; `None` if it has not.
    pub(super) const fn over(&self) -> Option<Over> {
        self.over
    }

    /// Ends the connection; the first reason stays.
    pub(super) fn end(&mut self, why: Over) {
        if self.over.is_none() {
            self.over = Some(why);
        }
        if self.over != Some(Over::Gone) {
            self.unread = BytesMut::new();
        }
    }

    /// Handles bytes that have arrived; `at` is the position of the first byte.
    pub(super) fn on_data(&mut self, at: u64, bytes: &[u8]) {
        let len = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let next = self.received.saturating_add(len);
        if self.over.is_some() {
            // Ignored, because the connection has ended already.
        } else if !self.is_open || self.has_ended {
            self.end(Over::OutOfPlace);
        } else if at != self.received {
            self.end(Over::Gap {
                found: at,
                expected: self.received,
            });
        } else if next.saturating_sub(self.taken) > WINDOW {
            self.end(Over::Window);
        } else {
            self.received = next;
            self.unread.extend_from_slice(bytes);
        }
    }

    /// Notes that the other side has taken all bytes before this position.
    pub(super) fn on_taken(&mut self, before: u64) {
        if self.is_open && (self.acknowledged..=self.sent).contains(&before) {
            self.acknowledged = before;
        } else {
            self.end(Over::Acknowledgement);
        }
    }

    /// Notes that the other side sends nothing after the position `at`.
    pub(super) fn on_end(&mut self, at: u64) {
        if !self.is_open || self.has_ended {
            self.end(Over::OutOfPlace);
        } else if at == self.received {
            self.has_ended = true;
        } else {
            self.end(Over::Gap {
                found: at,
                expected: self.received,
            });
        }
    }

    /// Takes at most `most` bytes.
    pub(super) fn read(&mut self, most: usize) -> FlowRead {
        let len = self.unread.len().min(most);
        if len > 0 {
            let bytes = self.unread.split_to(len).freeze();
            let taken = u64::try_from(len).unwrap_or(u64::MAX);
            self.taken = self.taken.saturating_add(taken);
            let is_due = self.taken.saturating_sub(self.told) >= TELL_AFTER;
            if is_due {
                self.told = self.taken;
            }
            return FlowRead::Bytes(bytes, is_due.then_some(self.taken));
        }
        match self.over {
            _ if self.has_ended => FlowRead::End,
            None => FlowRead::Nothing,
            // The other side is gone and its bytes have been read, so the reader gets the ordinary end of the stream.
            Some(Over::Gone) => FlowRead::End,
            Some(broken) => FlowRead::Broken(broken),
        }
    }

    /// Reserves up to `most` bytes of the window; returns their position and number. `None` while the window is full.
    pub(super) fn send(&mut self, most: usize) -> Option<(u64, usize)> {
        let under_way = self.sent.saturating_sub(self.acknowledged);
        let room = usize::try_from(WINDOW.saturating_sub(under_way)).unwrap_or(usize::MAX);
        let len = most.min(room);
        if len == 0 {
            return None;
        }
        let at = self.sent;
        let more = u64::try_from(len).unwrap_or(u64::MAX);
        self.sent = self.sent.saturating_add(more);
        Some((at, len))
    }

    /// Returns the position after the last byte that was sent.
    pub(super) const fn sent(&self) -> u64 {
        self.sent
    }
}

#[cfg(test)]
mod tests;
