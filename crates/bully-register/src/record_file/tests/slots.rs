//! The valid forms of a file. Every other content is refused.

use crate::record_file::{
    FileDamage, RecordFileError,
    slot::{Slot, SlotSize},
};

fn size() -> SlotSize {
    SlotSize::for_limit(0).expect("the smallest")
}

fn file(slots: &[&Slot]) -> Vec<u8> {
    let mut file = vec![0; size().file_len()];
    for slot in slots {
        place(&mut file, slot, usize::MAX);
    }
    file
}

/// Writes the first `len` bytes of a slot to its place in the file.
fn place(file: &mut [u8], slot: &Slot, len: usize) {
    let at = usize::try_from(slot.offset(size())).unwrap();
    for (byte, value) in file[at..].iter_mut().zip(slot.encode(size())).take(len) {
        *byte = value;
    }
}

fn slot(number: u64, record: &str) -> Slot {
    Slot {
        number,
        record: record.into(),
    }
}

fn newest(file: &[u8]) -> Slot {
    Slot::newest(file, size()).expect("one is valid")
}

#[test]
fn a_slot_has_these_bytes() {
    let bytes = slot(3, "a vote").encode(size());
    let golden = [
        b"bullyrec".as_slice(),
        &[1, 0, 0, 0],
        &[0, 0x20, 0, 0],
        &[3, 0, 0, 0, 0, 0, 0, 0],
        &[6, 0, 0, 0],
        &[0x82, 0x29, 0x1f, 0xb3],
        b"a vote",
    ];
    assert_eq!(bytes, golden.concat(), "{bytes:02x?}");
}

#[test]
fn the_newer_of_two_valid_records_is_taken() {
    for [one, other] in [[1, 2], [2, 3], [3, 2], [7, 4]] {
        let file = file(&[&slot(one, "one"), &slot(other, "other")]);
        assert_eq!(newest(&file).number, one.max(other));
    }
}

#[test]
fn a_write_that_was_cut_at_any_byte_leaves_the_record_before() {
    let records = ["", "x", "a record of some length", &"long ".repeat(100)];
    for (before, after) in [(0, 1), (1, 2), (2, 3), (3, 2), (1, 1), (0, 0), (3, 0)] {
        for number in [2, 3] {
            // The slot that is being written had an older record of the same kind.
            let older = slot(number - 1, records[after]);
            let now = slot(number, records[before]);
            let next = slot(number + 1, records[after]);
            let whole = next.encode(size());
            for len in 0..=whole.len() {
                let mut file = file(&[&older, &now]);
                place(&mut file, &next, len);
                let found = newest(&file);
                let is_whole = file == self::file(&[&older, &now, &next]);
                assert_eq!(
                    found,
                    if is_whole { next.clone() } else { now.clone() },
                    "{len}"
                );
            }
        }
    }
}

#[test]
fn every_changed_byte_of_a_slot_is_noticed() {
    let (one, two) = (slot(5, "the one"), slot(6, "the other"));
    let whole = file(&[&one, &two]);
    for (changed, other) in [(&one, &two), (&two, &one)] {
        let at = usize::try_from(changed.offset(size())).unwrap();
        for byte in 0..changed.encode(size()).len() {
            for change in 1..=255 {
                let mut file = whole.clone();
                file[at + byte] ^= change;
                assert_eq!(newest(&file), *other, "byte {byte} by {change:#04x}");
            }
        }
    }
}

#[test]
fn a_slot_of_another_size_or_in_the_other_place_is_not_believed() {
    let larger = SlotSize::for_limit(9000).expect("16 KiB");
    let mut file = file(&[]);
    let bytes = slot(1, "of another file").encode(larger);
    file[..bytes.len()].copy_from_slice(&bytes);
    assert!(Slot::newest(&file, size()).is_err());
    let bytes = slot(2, "of the second slot").encode(size());
    file[..bytes.len()].copy_from_slice(&bytes);
    assert!(Slot::newest(&file, size()).is_err());
    // A file that is cut is not believed, although a slot is whole.
    let whole = self::file(&[&slot(5, "one"), &slot(6, "other")]);
    for len in [0, 8192, whole.len() - 1] {
        assert!(Slot::newest(&whole[..len], size()).is_err(), "{len}");
    }
}

#[test]
fn a_slot_of_a_later_format_is_refused_although_the_other_one_is_known() {
    let mut file = file(&[&slot(5, "the one"), &slot(6, "the other")]);
    file[8192 + 8] = 2;
    assert_eq!(newest(&file).number, 5, "damage");
    let sum = crc32fast::hash(&[&file[8192..8192 + 28], b"the other".as_slice()].concat());
    file[8192 + 28..8192 + 32].copy_from_slice(&sum.to_le_bytes());
    let refused = Slot::newest(&file, size());
    let is_later = matches!(refused, Err(RecordFileError::Format { found: 2 }));
    assert!(is_later, "{refused:?}");
}

#[test]
fn a_slot_is_a_power_of_two_with_room_for_the_limit() {
    for (limit, slot) in [
        (0, 8192),
        (8148, 8192),
        (8149, 16_384),
        (1_048_532, 1 << 20),
    ] {
        let size = SlotSize::for_limit(limit).expect("it fits");
        assert_eq!(size.limit() + 32 + 12, slot, "{limit}");
        assert!(size.limit() >= limit);
        let len = u64::try_from(size.file_len()).unwrap();
        assert_eq!(SlotSize::of_file(len), Some(size));
        assert_eq!(SlotSize::of_file(len + 1), None);
    }
    assert_eq!(SlotSize::for_limit(1_048_533), None);
    assert_eq!(SlotSize::for_limit(usize::MAX), None);
    for len in [0, 8192, 24_576, 4 << 20, u64::MAX] {
        assert_eq!(SlotSize::of_file(len), None, "{len}");
    }
}

#[test]
fn a_record_after_the_last_number_is_refused_by_that_reason() {
    assert!(slot(u64::MAX - 1, "a").next(b"b").is_ok());
    let refused = slot(u64::MAX, "a").next(b"b");
    let is_last = matches!(
        refused,
        Err(RecordFileError::Damaged(FileDamage::LastNumber))
    );
    assert!(is_last, "{:?}", refused.err());
}
