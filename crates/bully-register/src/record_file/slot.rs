//! The bytes of the file; pure functions.
//!
//! Two slots of one size. Record 1 is in the first slot, record 2 in the second, record 3 in the first again. All
//! numbers are little-endian:
//!
//! | bytes of a slot | what |
//! |---|---|
//! | 0..8 | `bullyrec` |
//! | 8..12 | the format: 1 |
//! | 12..16 | the size of a slot; the file has twice that length |
//! | 16..24 | the number of the record, from 1 |
//! | 24..28 | the length of the record |
//! | 28..32 | CRC-32 (IEEE) of bytes 0..28 and of the record |
//! | 32.. | the record; the bytes after it are left over from an earlier record |
//! | the last 12 | the number of a record of the other slot that is durable, and its CRC-32 |
//!
//! The note at the end of a slot belongs to the record in the other slot. So the write of a note after a record changes
//! only one page on the disk.
//!
//! The first 32 bytes have this form in every later format, so that damage is never mistaken for another format.

use super::{FileDamage, RecordFileError};

/// One record and its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) number: u64,
    pub(super) record: Vec<u8>,
}

impl Slot {
    /// The bytes that void a slot: they replace its header, so that its record is not read any more.
    pub(super) const VOID: [u8; HEADER] = [0; HEADER];

    /// Makes the first record of a new file.
    pub(super) fn first(record: &[u8]) -> Self {
        Self {
            number: 1,
            record: record.to_vec(),
        }
    }

    /// Makes the record that follows this record.
    pub(super) fn next(&self, record: &[u8]) -> Result<Self, RecordFileError> {
        Ok(Self {
            number: self.number.checked_add(1).ok_or(FileDamage::LastNumber)?,
            record: record.to_vec(),
        })
    }

    /// Returns the offset of this record's slot in the file.
    pub(super) fn offset(&self, size: SlotSize) -> u64 {
        if is_in_first(self.number) {
            0
        } else {
            u64::from(size.0)
        }
    }

    pub(super) fn encode(&self, size: SlotSize) -> Vec<u8> {
        let mut bytes = self.header(size).to_vec();
        bytes.extend(&self.record);
        bytes
    }

    /// Returns the bytes before the record.
    pub(super) fn header(&self, size: SlotSize) -> [u8; HEADER] {
        let beginning = self.beginning(size);
        let sum = checksum(&beginning, &self.record).to_le_bytes();
        let mut header = Self::VOID;
        for (byte, value) in header.iter_mut().zip(beginning.into_iter().chain(sum)) {
            *byte = value;
        }
        header
    }

    /// Returns the note that this record is durable.
    pub(super) fn note(&self, size: SlotSize) -> [u8; NOTE] {
        let mut note = [0; NOTE];
        let sum = self.checksum(size).to_le_bytes();
        let all = self.number.to_le_bytes().into_iter().chain(sum);
        for (byte, value) in note.iter_mut().zip(all) {
            *byte = value;
        }
        note
    }

    /// Returns the offset of this record's note in the file, at the end of the other slot.
    pub(super) fn note_offset(&self, size: SlotSize) -> u64 {
        let slots = if is_in_first(self.number) { 2 } else { 1 };
        u64::from(size.0)
            .saturating_mul(slots)
            .saturating_sub(NOTE_LEN)
    }

    pub(super) fn checksum(&self, size: SlotSize) -> u32 {
        checksum(&self.beginning(size), &self.record)
    }

    fn beginning(&self, size: SlotSize) -> Vec<u8> {
        let len = u32::try_from(self.record.len()).unwrap_or(u32::MAX);
        let mut bytes = Vec::with_capacity(HEADER.saturating_add(self.record.len()));
        bytes.extend(MAGIC);
        bytes.extend(FORMAT.to_le_bytes());
        bytes.extend(size.0.to_le_bytes());
        bytes.extend(self.number.to_le_bytes());
        bytes.extend(len.to_le_bytes());
        bytes
    }

    /// Returns the newest valid record of a file.
    ///
    /// # Errors
    /// [`FileDamage::Empty`], [`FileDamage::Length`], and [`RecordFileError::Format`] if either slot has a later
    /// format: that slot may have the newest record.
    pub(super) fn newest(file: &[u8], size: SlotSize) -> Result<Self, RecordFileError> {
        if file.len() != size.file_len() {
            let len = u64::try_from(file.len()).unwrap_or(u64::MAX);
            return Err(FileDamage::Length { len }.into());
        }
        let (first, second) = file.split_at(size.len());
        let first = Self::decode(first, size)?.filter(|slot| is_in_first(slot.number));
        let second = Self::decode(second, size)?.filter(|slot| !is_in_first(slot.number));
        let newest = first.into_iter().chain(second).max_by_key(|it| it.number);
        newest.ok_or_else(|| FileDamage::Empty.into())
    }

    /// Returns the record of one slot; `None` if the slot has no record, or only a part of one.
    fn decode(bytes: &[u8], size: SlotSize) -> Result<Option<Self>, RecordFileError> {
        let Some((header, rest)) = bytes.split_first_chunk::<HEADER>() else {
            return Ok(None);
        };
        let (beginning, sum) = header.split_at(HEADER - 4);
        let Some(header) = Header::read(beginning) else {
            return Ok(None);
        };
        let Some(record) = rest.get(..header.len) else {
            return Ok(None);
        };
        if sum != checksum(beginning, record).to_le_bytes() || header.size != size.0 {
            return Ok(None);
        }
        if header.format != FORMAT {
            return Err(RecordFileError::Format {
                found: header.format,
            });
        }
        Ok(Some(Self {
            number: header.number,
            record: record.to_vec(),
        }))
    }
}

struct Header {
    format: u32,
    size: u32,
    number: u64,
    len: usize,
}

impl Header {
    fn read(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.strip_prefix(MAGIC)?;
        let (format, bytes) = bytes.split_first_chunk()?;
        let (size, bytes) = bytes.split_first_chunk()?;
        let (number, bytes) = bytes.split_first_chunk()?;
        let (len, _) = bytes.split_first_chunk()?;
        Some(Self {
            format: u32::from_le_bytes(*format),
            size: u32::from_le_bytes(*size),
            number: u64::from_le_bytes(*number),
            len: usize::try_from(u32::from_le_bytes(*len)).ok()?,
        })
    }
}

/// Returns the number of used bytes of a slot, by its header; 0 without a valid header.
pub(super) fn used(slot: &[u8]) -> usize {
    Header::read(slot).map_or(0, |header| header.len.saturating_add(HEADER))
}

/// The length of a slot in bytes: a power of two, so that no two slots share a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SlotSize(u32);

impl SlotSize {
    /// Returns the smallest size with room for a record of this length; `None` if it would exceed [`MAX_SLOT`].
    pub(super) fn for_limit(limit: usize) -> Option<Self> {
        let needed = u32::try_from(limit.checked_add(HEADER)?.checked_add(NOTE)?).ok()?;
        let size = needed.checked_next_power_of_two()?.max(MIN_SLOT);
        (size <= MAX_SLOT).then_some(Self(size))
    }

    pub(super) fn of_file(len: u64) -> Option<Self> {
        let size = u32::try_from(len / 2).ok()?;
        let is_one = size.is_power_of_two() && (MIN_SLOT..=MAX_SLOT).contains(&size);
        (is_one && len.is_multiple_of(2)).then_some(Self(size))
    }

    pub(super) fn len(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }

    pub(super) fn file_len(self) -> usize {
        self.len().saturating_mul(2)
    }

    /// Returns the length of the longest record.
    pub(super) fn limit(self) -> usize {
        self.len().saturating_sub(HEADER).saturating_sub(NOTE)
    }
}

fn is_in_first(number: u64) -> bool {
    number % 2 == 1
}

fn checksum(beginning: &[u8], record: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(beginning);
    sum.update(record);
    sum.finalize()
}

const MAGIC: &[u8] = b"bullyrec";
const FORMAT: u32 = 1;
const HEADER: usize = 32;
/// Length of a note.
pub(super) const NOTE: usize = 12;
const NOTE_LEN: u64 = 12;
/// Two pages of 4 KiB, so that the header and the note of a slot are on different pages.
const MIN_SLOT: u32 = 8 << 10;
/// Largest slot: twice the slot for the longest record, a vote. A reader allocates both slots, so the size has a limit.
const MAX_SLOT: u32 = 1 << 20;
