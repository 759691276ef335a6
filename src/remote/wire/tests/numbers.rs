//! Each number, text and length has one form on the wire.

use super::{bounds, hex, payload::encode, written};
use crate::remote::wire::{
    Bounds, WireError, decode_payload,
    read::{Cursor, Integer},
    write,
};

fn read<'a, T>(
    bytes: &'a [u8],
    read: impl FnOnce(&mut Cursor<'a>) -> Result<T, WireError>,
) -> Result<T, WireError> {
    let mut cursor = Cursor::new(bytes, bounds());
    let value = read(&mut cursor)?;
    cursor.end()?;
    Ok(value)
}

/// Returns the values around each change of form.
fn edges() -> impl Iterator<Item = u64> {
    [
        0,
        0x20,
        0x80,
        0x100,
        0x8000,
        0x1_0000,
        0x8000_0000,
        0x1_0000_0000,
        1 << 63,
        u64::MAX,
    ]
    .into_iter()
    .flat_map(|edge| [edge.wrapping_sub(1), edge, edge.wrapping_add(1)])
}

#[test]
fn numbers_are_written_as_they_are_read() {
    for value in edges() {
        let bytes = written(|out| write::unsigned(out, value));
        assert_eq!(read(&bytes, Cursor::integer), Ok(Integer::Unsigned(value)));
        assert_eq!(bytes, rmp_serde::to_vec(&value).unwrap());
        for signed in [value.cast_signed(), value.cast_signed().wrapping_neg()] {
            let bytes = written(|out| write::signed(out, signed));
            assert_eq!(bytes, rmp_serde::to_vec(&signed).unwrap());
            let expected =
                u64::try_from(signed).map_or(Integer::Negative(signed), Integer::Unsigned);
            assert_eq!(read(&bytes, Cursor::integer), Ok(expected), "{signed}");
        }
    }
}

/// Every form of a number but the shortest is refused.
#[test]
fn a_number_has_one_spelling() {
    for longer in [
        "cc 7f",
        "cd 00ff",
        "ce 0000ffff",
        "cf 00000000ffffffff",
        "d0 05",
        "d0 e0",
        "d1 ff80",
        "d1 0005",
        "d2 ffff8000",
        "d3 ffffffff80000000",
        "d3 0000000000000001",
    ] {
        let bytes = hex(longer);
        assert_eq!(
            read(&bytes, Cursor::integer),
            Err(WireError::NotShortest),
            "{longer}"
        );
    }
    for (no_number, why) in [
        ("", WireError::Truncated),
        ("cd 01", WireError::Truncated),
        ("c0", WireError::Type),
        ("ca 00000000", WireError::Type),
        ("90", WireError::Type),
    ] {
        assert_eq!(
            read(&hex(no_number), Cursor::integer),
            Err(why),
            "{no_number}"
        );
    }
}

#[test]
fn a_text_has_one_spelling_and_a_limit() {
    for len in [0, 1, 31, 32, 255, 256] {
        let text = "x".repeat(len);
        let bytes = written(|out| write::text(out, &text));
        assert_eq!(bytes, rmp_serde::to_vec(&text).unwrap());
        assert_eq!(read(&bytes, Cursor::text), Ok(text.as_str()));
    }
    let long = written(|out| write::text(out, &"x".repeat(257)));
    assert_eq!(read(&long, Cursor::text), Err(WireError::TextTooLong));
    for (bad, why) in [
        ("d9 01 61", WireError::NotShortest),
        ("da 0001 61", WireError::NotShortest),
        ("db 00000001 61", WireError::NotShortest),
        ("a2 61", WireError::Truncated),
        ("db ffffffff 61", WireError::TextTooLong),
        ("a2 c328", WireError::Utf8),
        ("c4 01 61", WireError::Type),
    ] {
        assert_eq!(read(&hex(bad), Cursor::text), Err(why), "{bad}");
    }
}

#[test]
fn bytes_have_one_spelling() {
    for len in [0, 1, 255, 256, 65_535, 65_536] {
        let content = vec![7; len];
        let bytes = written(|out| {
            write::bytes(out, &content);
        });
        assert_eq!(read(&bytes, Cursor::bytes), Ok(&content[..]));
    }
    for (bad, why) in [
        ("c5 0001 61", WireError::NotShortest),
        ("c6 00000001 61", WireError::NotShortest),
        ("c6 ffffffff 61", WireError::Truncated),
        ("c4 02 61", WireError::Truncated),
        ("a1 61", WireError::Type),
    ] {
        assert_eq!(read(&hex(bad), Cursor::bytes), Err(why), "{bad}");
    }
    let short = written(|out| write::bytes(out, &[1, 2]));
    assert_eq!(read(&short, Cursor::exactly::<2>), Ok([1, 2]));
    assert_eq!(read(&short, Cursor::exactly::<3>), Err(WireError::Value));
}

#[test]
fn an_array_has_one_spelling_and_no_more_items_than_bytes() {
    for items in [0, 1, 15, 16, 1_024] {
        let mut bytes = written(|out| write::array(out, items));
        assert_eq!(bytes, written(|out| close(out, items)));
        bytes.resize(bytes.len() + items, 0);
        let len = Cursor::new(&bytes, bounds()).array();
        assert_eq!(len, Ok(items));
    }
    for (bad, why) in [
        ("dc 0001 00", WireError::NotShortest),
        ("dd 00000001 00", WireError::NotShortest),
        ("92 00", WireError::Truncated),
        ("dc 0401", WireError::Items),
        ("dd ffffffff", WireError::Items),
        ("80", WireError::Type),
    ] {
        assert_eq!(read(&hex(bad), Cursor::array), Err(why), "{bad}");
    }
}

/// Writes the head of an array in two steps, as a writer does that only knows the length of the array at its end.
fn close(out: &mut bytes::BytesMut, items: usize) {
    out.extend_from_slice(&[0x90]);
    write::close_array(out, 0, items);
}

/// Limit: items of one message, in all its arrays together.
#[test]
fn a_message_has_no_more_items_than_the_limit() {
    let limits = |items| Bounds { items, ..bounds() };
    let lists = vec![vec![0u8; 10]; 5];
    let bytes = encode(&lists);
    assert_eq!(decode_payload(&bytes, limits(55)), Ok(lists));
    let refused = decode_payload::<Vec<Vec<u8>>>(&bytes, limits(54));
    assert_eq!(refused, Err(WireError::Items));
}
