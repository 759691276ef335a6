//! Reads MessagePack, in its shortest form only.
//!
//! Decided here: every value has exactly one form, so decoded bytes could only have been written in one way. The reader
//! is a cursor over a slice: it copies and allocates nothing, and compares an announced length with the remaining bytes
//! before it uses the length.

use super::{Bounds, WireError};

type ReadResult<T> = Result<T, WireError>;

/// A cursor over the bytes of one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
    bounds: Bounds,
}

/// An integer of MessagePack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Integer {
    /// Zero or above.
    Unsigned(u64),
    /// Below zero.
    Negative(i64),
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(bytes: &'a [u8], bounds: Bounds) -> Self {
        Self {
            rest: bytes,
            bounds,
        }
    }

    /// Leaves all remaining bytes unread.
    pub(super) const fn stop(&mut self) {
        self.rest = &[];
    }

    /// Checks that no bytes remain.
    pub(super) fn end(self) -> ReadResult<()> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(WireError::Trailing)
        }
    }

    /// Returns the first byte of the next value, which stays unread.
    pub(super) fn peek(&self) -> ReadResult<u8> {
        self.rest.first().copied().ok_or(WireError::Truncated)
    }

    /// Reads nil if it is next.
    #[inline]
    pub(super) fn nil(&mut self) -> bool {
        self.skip(0xc0)
    }

    #[inline]
    pub(super) fn boolean(&mut self) -> ReadResult<bool> {
        match self.byte()? {
            0xc2 => Ok(false),
            0xc3 => Ok(true),
            _ => Err(WireError::Type),
        }
    }

    #[inline]
    pub(super) fn integer(&mut self) -> ReadResult<Integer> {
        // Most numbers are small.
        if let Some((first @ 0x00..=0x7f, rest)) = self.rest.split_first() {
            self.rest = rest;
            return Ok(Integer::Unsigned((*first).into()));
        }
        self.long_integer()
    }

    fn long_integer(&mut self) -> ReadResult<Integer> {
        let (value, floor) = match self.byte()? {
            marker @ 0xe0..=0xff => {
                return Ok(Integer::Negative(i8::from_be_bytes([marker]).into()));
            }
            0xcc => (self.take::<1>().map(u8::from_be_bytes)?.into(), 0x80),
            0xcd => (self.take::<2>().map(u16::from_be_bytes)?.into(), 0x100),
            0xce => (self.take::<4>().map(u32::from_be_bytes)?.into(), 0x1_0000),
            0xcf => (self.take::<8>().map(u64::from_be_bytes)?, 0x1_0000_0000),
            marker @ 0xd0..=0xd3 => return self.negative(marker),
            _ => return Err(WireError::Type),
        };
        shortest(value >= floor, Integer::Unsigned(value))
    }

    #[inline]
    pub(super) fn unsigned(&mut self) -> ReadResult<u64> {
        match self.integer()? {
            Integer::Unsigned(value) => Ok(value),
            Integer::Negative(_) => Err(WireError::Value),
        }
    }

    /// Reads an unsigned integer that fits in a smaller type.
    #[inline]
    pub(super) fn small<T: TryFrom<u64>>(&mut self) -> ReadResult<T> {
        T::try_from(self.unsigned()?).map_err(|_| WireError::Value)
    }

    pub(super) fn float32(&mut self) -> ReadResult<f32> {
        match self.byte()? {
            0xca => self.take::<4>().map(f32::from_be_bytes),
            _ => Err(WireError::Type),
        }
    }

    pub(super) fn float64(&mut self) -> ReadResult<f64> {
        match self.byte()? {
            0xcb => self.take::<8>().map(f64::from_be_bytes),
            _ => Err(WireError::Type),
        }
    }

    /// Reads a text within the bounds.
    #[inline]
    pub(super) fn text(&mut self) -> ReadResult<&'a str> {
        let (len, is_shortest) = match self.byte()? {
            marker @ 0xa0..=0xbf => (usize::from(marker & 0x1f), true),
            0xd9 => at_least(0x20, self.length::<1>()?),
            0xda => at_least(0x100, self.length::<2>()?),
            0xdb => at_least(0x1_0000, self.length::<4>()?),
            _ => return Err(WireError::Type),
        };
        // A text may become a stored name: a peer must not make it as long as a frame.
        if len > self.bounds.text {
            return Err(WireError::TextTooLong);
        }
        let bytes = self.slice(len)?;
        shortest(is_shortest, ())?;
        std::str::from_utf8(bytes).map_err(|_| WireError::Utf8)
    }

    /// Reads bytes of any length.
    #[inline]
    pub(super) fn bytes(&mut self) -> ReadResult<&'a [u8]> {
        let (len, is_shortest) = match self.byte()? {
            0xc4 => (self.length::<1>()?, true),
            0xc5 => at_least(0x100, self.length::<2>()?),
            0xc6 => at_least(0x1_0000, self.length::<4>()?),
            _ => return Err(WireError::Type),
        };
        let bytes = self.slice(len)?;
        shortest(is_shortest, bytes)
    }

    /// Reads bytes of exactly this length.
    pub(super) fn exactly<const N: usize>(&mut self) -> ReadResult<[u8; N]> {
        self.bytes()?.try_into().map_err(|_| WireError::Value)
    }

    /// Reads the number of items of an array. It is never more than the remaining bytes can hold.
    #[inline]
    pub(super) fn array(&mut self) -> ReadResult<usize> {
        let (len, is_shortest) = match self.byte()? {
            marker @ 0x90..=0x9f => (usize::from(marker & 0x0f), true),
            0xdc => at_least(0x10, self.length::<2>()?),
            0xdd => at_least(0x1_0000, self.length::<4>()?),
            _ => return Err(WireError::Type),
        };
        if len > self.bounds.items {
            return Err(WireError::Items);
        }
        if len > self.rest.len() {
            return Err(WireError::Truncated);
        }
        shortest(is_shortest, len)
    }

    /// Reads the head of an array of exactly this number of items.
    #[inline]
    pub(super) fn array_of(&mut self, items: usize) -> ReadResult<()> {
        if self.array()? == items {
            Ok(())
        } else {
            Err(WireError::Type)
        }
    }

    /// Reads the head of a map of one entry if it is next.
    #[inline]
    pub(super) fn single_entry(&mut self) -> bool {
        self.skip(0x81)
    }

    #[inline]
    fn skip(&mut self, marker: u8) -> bool {
        match self.rest.split_first() {
            Some((first, rest)) if *first == marker => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    #[inline]
    fn byte(&mut self) -> ReadResult<u8> {
        let (first, rest) = self.rest.split_first().ok_or(WireError::Truncated)?;
        self.rest = rest;
        Ok(*first)
    }

    #[inline]
    fn take<const N: usize>(&mut self) -> ReadResult<[u8; N]> {
        let (first, rest) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or(WireError::Truncated)?;
        self.rest = rest;
        Ok(*first)
    }

    #[inline]
    fn slice(&mut self, len: usize) -> ReadResult<&'a [u8]> {
        let (first, rest) = self
            .rest
            .split_at_checked(len)
            .ok_or(WireError::Truncated)?;
        self.rest = rest;
        Ok(first)
    }

    #[inline]
    fn length<const N: usize>(&mut self) -> ReadResult<usize> {
        let bytes = self.take::<N>()?;
        Ok(bytes
            .iter()
            .fold(0, |length, byte| length << 8 | usize::from(*byte)))
    }

    fn negative(&mut self, marker: u8) -> ReadResult<Integer> {
        let (value, ceiling) = match marker {
            0xd0 => (self.take::<1>().map(i8::from_be_bytes)?.into(), -0x20),
            0xd1 => (self.take::<2>().map(i16::from_be_bytes)?.into(), -0x80),
            0xd2 => (self.take::<4>().map(i32::from_be_bytes)?.into(), -0x8000),
            _ => (self.take::<8>().map(i64::from_be_bytes)?, -0x8000_0000),
        };
        shortest(value < ceiling, Integer::Negative(value))
    }
}

/// Returns a length, and whether it needs this form. A length below `floor` fits into a shorter form.
const fn at_least(floor: usize, len: usize) -> (usize, bool) {
    (len, len >= floor)
}

#[inline]
fn shortest<T>(is_shortest: bool, value: T) -> ReadResult<T> {
    if is_shortest {
        Ok(value)
    } else {
        Err(WireError::NotShortest)
    }
}
