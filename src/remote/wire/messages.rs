//! MESSAGES: messages of a node's agents to the agents of another node, as many as fit in one frame. The writer sends
//! all messages that wait at one time together, in several frames if necessary.
//!
//! Messages contain the numbers of agents from rosters. A message is read without an allocation. Its payload is decoded
//! only when it is known that the message is allowed.

use bytes::{BufMut, BytesMut};

use super::{WireError, frame::kind, read::Cursor, write};
use crate::protocol::Incarnation;

/// Received messages, read one by one.
///
/// An iterator that ends after its first error. The messages before the error were complete, and the reader decides
/// what to do with them. `seq` is the frame's number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Messages<'a> {
    /// The frame's number.
    pub seq: u64,
    left: usize,
    cursor: Cursor<'a>,
}

/// One message on the wire: numbers and bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawMessage<'a> {
    /// The sender's number for the group.
    pub group: u32,
    /// The sender's number for its agent.
    pub from: u32,
    /// The incarnation of the sending agent.
    pub incarnation: Incarnation,
    /// The receivers.
    pub to: RawReceivers<'a>,
    /// The message, as [`encode_payload`](super::encode_payload) wrote it.
    pub payload: &'a [u8],
}

/// The receivers of a message among the agents of the receiving node, by the *receiver's* numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RawReceivers<'a> {
    /// All agents of the group.
    All,
    /// One agent.
    One(u32),
    /// Two or more agents.
    Several(Several<'a>),
}

/// Numbers in ascending order, each once, already checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Several<'a> {
    left: usize,
    cursor: Cursor<'a>,
}

impl Iterator for Several<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        self.cursor.small().ok()
    }
}

impl<'a> Messages<'a> {
    pub(super) const ITEMS: usize = 3;

    pub(super) fn read(mut cursor: Cursor<'a>) -> Result<Self, WireError> {
        let seq = cursor.unsigned()?;
        let left = cursor.array()?;
        // No correct writer makes such a frame. A peer could use it to cause work without a message.
        if left == 0 {
            return Err(WireError::Value);
        }
        Ok(Self { seq, left, cursor })
    }

    /// Returns the next message; `Ok(None)` after the last one.
    ///
    /// # Errors
    /// [`WireError`]: close the link.
    fn read_next(&mut self) -> Result<Option<RawMessage<'a>>, WireError> {
        let Some(left) = self.left.checked_sub(1) else {
            self.cursor.end()?;
            return Ok(None);
        };
        let cursor = &mut self.cursor;
        cursor.array_of(5)?;
        let message = RawMessage {
            group: cursor.small()?,
            from: cursor.small()?,
            incarnation: Incarnation(cursor.unsigned()?),
            to: receivers(cursor)?,
            payload: cursor.bytes()?,
        };
        self.left = left;
        Ok(Some(message))
    }
}

impl<'a> Iterator for Messages<'a> {
    type Item = Result<RawMessage<'a>, WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.read_next().transpose();
        if !matches!(next, Some(Ok(_))) {
            self.left = 0;
            self.cursor.stop();
        }
        next
    }
}

fn receivers<'a>(cursor: &mut Cursor<'a>) -> Result<RawReceivers<'a>, WireError> {
    if cursor.nil() {
        return Ok(RawReceivers::All);
    }
    if cursor.peek()? < 0x80 || (0xcc..=0xcf).contains(&cursor.peek()?) {
        return cursor.small().map(RawReceivers::One);
    }
    let left = cursor.array()?;
    let several = Several {
        left,
        cursor: *cursor,
    };
    let mut last = None;
    for _ in 0..left {
        let number = Some(cursor.small::<u32>()?);
        // Only the ascending order is allowed. An agent that is listed twice would receive the message twice.
        if number <= last {
            return Err(WireError::Value);
        }
        last = number;
    }
    // A single receiver is written without an array, and a message without receivers is not written at all.
    if left < 2 {
        return Err(WireError::Value);
    }
    Ok(RawReceivers::Several(several))
}

/// The numbers of the receivers of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Targets<'a> {
    /// All agents of the group on the other node.
    All,
    /// The agents with these numbers of the other node: at least one number, in ascending order, each once.
    Some(&'a [u32]),
}

/// Writes one MESSAGES frame in place: call `begin`, then `push` for each message, then `end`.
///
/// ```
/// use actix_bully::remote::internals::wire::{MessagesWriter, Targets};
/// use actix_bully::protocol::Incarnation;
/// use bytes::BytesMut;
///
/// let mut out = BytesMut::new();
/// let mut messages = MessagesWriter::begin(7, &mut out);
/// messages.push(0, 3, Incarnation(9), Targets::Some(&[5]), &[0x2a]);
/// messages.end();
/// assert_eq!(out[..], *b"\0\0\0\x0c\x93\x03\x07\x91\x95\x00\x03\x09\x05\xc4\x01\x2a");
/// ```
#[derive(Debug)]
#[must_use]
pub struct MessagesWriter<'a> {
    out: &'a mut BytesMut,
    start: usize,
    array: usize,
    count: usize,
}

impl<'a> MessagesWriter<'a> {
    /// Begins a frame with this number. A frame without messages is not written, and its number may be used for the
    /// next frame.
    pub fn begin(seq: u64, out: &'a mut BytesMut) -> Self {
        let start = out.len();
        out.put_u32(0);
        write::array(out, Messages::ITEMS);
        write::unsigned(out, kind::MESSAGES);
        write::unsigned(out, seq);
        let array = out.len();
        out.put_u8(0x90);
        Self {
            out,
            start,
            array,
            count: 0,
        }
    }

    /// Appends a message; `payload` is its content.
    pub fn push(
        &mut self,
        group: u32,
        from: u32,
        incarnation: Incarnation,
        to: Targets<'_>,
        payload: &[u8],
    ) {
        // Most numbers take one byte: then the head of the array and both numbers are written in one call.
        if let (Ok(group @ ..0x80), Ok(from @ ..0x80)) = (u8::try_from(group), u8::try_from(from)) {
            self.out.extend_from_slice(&[0x95, group, from]);
        } else {
            write::array(self.out, 5);
            write::unsigned(self.out, group.into());
            write::unsigned(self.out, from.into());
        }
        write::unsigned(self.out, incarnation.0);
        match to {
            Targets::All => write::nil(self.out),
            Targets::Some([one]) => write::unsigned(self.out, (*one).into()),
            Targets::Some(several) => {
                write::array(self.out, several.len());
                for number in several {
                    write::unsigned(self.out, (*number).into());
                }
            }
        }
        write::bytes(self.out, payload);
        self.count = self.count.saturating_add(1);
    }

    /// Returns the number of messages in the frame.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Returns the length in bytes of the frame's body if it ended now, or up to two bytes more.
    #[must_use]
    pub fn len(&self) -> usize {
        // From 16 messages on, the head of the array takes two bytes more.
        let head = self.start.saturating_add(2);
        self.out.len().saturating_sub(head)
    }

    /// Returns whether the frame has no message.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Removes the last messages back to a position; see [`Self::position`].
    ///
    /// Used for a message that does not fit: end the frame, begin another, push the message again.
    pub fn take_back(&mut self, position: Position) {
        self.out.truncate(position.len);
        self.count = position.count;
    }

    /// Returns the present position in the frame.
    #[must_use]
    pub fn position(&self) -> Position {
        Position {
            len: self.out.len(),
            count: self.count,
        }
    }

    /// Ends the frame. Returns whether it had a message, and so was written.
    pub fn end(self) -> bool {
        if self.is_empty() {
            self.out.truncate(self.start);
            return false;
        }
        write::close_array(self.out, self.array, self.count);
        write::close_frame(self.out, self.start);
        true
    }
}

/// A position between two messages of one [`MessagesWriter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    len: usize,
    count: usize,
}
