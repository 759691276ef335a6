//! Writes MessagePack in its shortest form, straight into the output buffer.
//!
//! Decided here: a frame, and bytes whose length is known only at the end, are written without a second buffer. Room
//! for the length in its usual form is reserved before the content; if the length turns out to need a longer form,
//! which is rare, the content is moved.

use bytes::{BufMut, BytesMut};

/// Writes one frame: four bytes of length, then the output of `body`.
///
/// The longest frame that a peer accepts is 1 MiB; a writer with more content writes several frames.
pub(super) fn frame(out: &mut BytesMut, body: impl FnOnce(&mut BytesMut)) {
    let start = out.len();
    out.put_u32(0);
    body(out);
    close_frame(out, start);
}

/// Fills in the length of the frame that begins at `start`.
pub(super) fn close_frame(out: &mut BytesMut, start: usize) {
    let body = out.len().saturating_sub(start.saturating_add(4));
    let length = u32::try_from(body).unwrap_or(u32::MAX).to_be_bytes();
    if let Some(room) = out.get_mut(start..).and_then(|f| f.first_chunk_mut::<4>()) {
        *room = length;
    }
}

#[inline]
pub(super) fn unsigned(out: &mut BytesMut, value: u64) {
    if let Ok(byte) = u8::try_from(value) {
        if byte >= 0x80 {
            out.put_u8(0xcc);
        }
        out.put_u8(byte);
    } else if let Ok(short) = u16::try_from(value) {
        out.put_u8(0xcd);
        out.put_u16(short);
    } else if let Ok(word) = u32::try_from(value) {
        out.put_u8(0xce);
        out.put_u32(word);
    } else {
        out.put_u8(0xcf);
        out.put_u64(value);
    }
}

pub(super) fn signed(out: &mut BytesMut, value: i64) {
    if let Ok(value) = u64::try_from(value) {
        unsigned(out, value);
    } else if let Ok(byte) = i8::try_from(value) {
        if byte < -0x20 {
            out.put_u8(0xd0);
        }
        out.put_i8(byte);
    } else if let Ok(short) = i16::try_from(value) {
        out.put_u8(0xd1);
        out.put_i16(short);
    } else if let Ok(word) = i32::try_from(value) {
        out.put_u8(0xd2);
        out.put_i32(word);
    } else {
        out.put_u8(0xd3);
        out.put_i64(value);
    }
}

pub(super) fn nil(out: &mut BytesMut) {
    out.put_u8(0xc0);
}

/// Writes a text; the texts of this protocol are at most 256 bytes.
pub(super) fn text(out: &mut BytesMut, text: &str) {
    let len = text.len();
    match (u8::try_from(len), u16::try_from(len)) {
        (Ok(len @ ..0x20), _) => out.put_u8(0xa0 | len),
        (Ok(len), _) => {
            out.put_u8(0xd9);
            out.put_u8(len);
        }
        (Err(_), Ok(len)) => {
            out.put_u8(0xda);
            out.put_u16(len);
        }
        (Err(_), Err(_)) => {
            out.put_u8(0xdb);
            out.put_u32(u32::try_from(len).unwrap_or(u32::MAX));
        }
    }
    out.put_slice(text.as_bytes());
}

/// Writes the head of an array.
pub(super) fn array(out: &mut BytesMut, items: usize) {
    match (u8::try_from(items), u16::try_from(items)) {
        (Ok(items @ ..0x10), _) => out.put_u8(0x90 | items),
        (_, Ok(items)) => {
            out.put_u8(0xdc);
            out.put_u16(items);
        }
        (_, Err(_)) => {
            out.put_u8(0xdd);
            out.put_u32(u32::try_from(items).unwrap_or(u32::MAX));
        }
    }
}

/// Writes bytes, after their length in its shortest form.
pub(super) fn bytes(out: &mut BytesMut, bytes: &[u8]) {
    match (u8::try_from(bytes.len()), u16::try_from(bytes.len())) {
        (Ok(len), _) => out.put_slice(&[0xc4, len]),
        (Err(_), Ok(len)) => {
            out.put_u8(0xc5);
            out.put_u16(len);
        }
        (Err(_), Err(_)) => {
            out.put_u8(0xc6);
            out.put_u32(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        }
    }
    out.put_slice(bytes);
}

/// Closes an array whose head of one byte was reserved at `start`.
pub(super) fn close_array(out: &mut BytesMut, start: usize, items: usize) {
    match (u8::try_from(items), u16::try_from(items)) {
        (Ok(items @ ..0x10), _) => set(out, start, &[0x90 | items]),
        (_, items) => {
            let [a, b] = items.unwrap_or(u16::MAX).to_be_bytes();
            widen(out, start.saturating_add(1), 2);
            set(out, start, &[0xdc, a, b]);
        }
    }
}

/// Moves all bytes from `at` on by `by` bytes.
fn widen(out: &mut BytesMut, at: usize, by: usize) {
    let end = out.len();
    out.put_bytes(0, by);
    if at <= end {
        out.copy_within(at..end, at.saturating_add(by));
    }
}

fn set(out: &mut BytesMut, at: usize, bytes: &[u8]) {
    let room = out
        .get_mut(at..)
        .and_then(|rest| rest.get_mut(..bytes.len()));
    if let Some(room) = room {
        room.copy_from_slice(bytes);
    }
}
