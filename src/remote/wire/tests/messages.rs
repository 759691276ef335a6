//! Messages, written in place and read one by one.

use bytes::{BufMut, BytesMut};

use super::{body, bounds, hex, written};
use crate::{
    protocol::Incarnation,
    remote::wire::{Frame, Messages, MessagesWriter, RawMessage, RawReceivers, Targets, WireError},
};

fn messages(body: &[u8]) -> Result<Messages<'_>, WireError> {
    let Frame::Messages(messages) = Frame::decode(body, bounds())? else {
        return Err(WireError::Kind);
    };
    Ok(messages)
}

fn push(messages: &mut MessagesWriter<'_>, from: u32, to: Targets<'_>, payload: &[u8]) {
    messages.push(1, from, Incarnation(2), to, payload);
}

fn numbers(to: RawReceivers<'_>) -> Option<Vec<u32>> {
    match to {
        RawReceivers::All => None,
        RawReceivers::One(one) => Some(vec![one]),
        RawReceivers::Several(several) => Some(several.collect()),
    }
}

/// Both sides of each change of form: messages in a frame, receivers of a message, payload's length.
#[test]
fn messages_are_read_as_they_were_written() {
    let many: Vec<u32> = (0..300).map(|n| n * 500).collect();
    for count in [1, 15, 16, 1_024] {
        for payload in [vec![], vec![9; 40], vec![9; 255]] {
            for to in [None, Some(&many[..1]), Some(&many[..2]), Some(&many[..16])] {
                let targets = to.map_or(Targets::All, Targets::Some);
                let bytes = written(|out| {
                    let mut writer = MessagesWriter::begin(77, out);
                    for from in 0..count {
                        push(&mut writer, from, targets, &payload);
                    }
                    assert_eq!(writer.count(), usize::try_from(count).unwrap());
                    assert!(writer.end());
                });
                let messages = messages(body(&bytes)).unwrap();
                assert_eq!(messages.seq, 77);
                let read: Vec<RawMessage<'_>> = messages.map(Result::unwrap).collect();
                assert_eq!(read.len(), usize::try_from(count).unwrap());
                for (from, message) in (0..).zip(&read) {
                    assert_eq!((message.group, message.from), (1, from));
                    assert_eq!(message.incarnation, Incarnation(2));
                    assert_eq!(numbers(message.to.clone()).as_deref(), to);
                    assert_eq!(message.payload, payload);
                }
            }
        }
    }
}

#[test]
fn a_long_payload_and_many_receivers_fit() {
    let many: Vec<u32> = (0..1_024).collect();
    for len in [256, 40_000] {
        let payload = vec![9; len];
        let bytes = written(|out| {
            let mut writer = MessagesWriter::begin(1, out);
            push(&mut writer, 4, Targets::Some(&many), &payload);
            push(&mut writer, 5, Targets::All, &payload[..3]);
            assert!(writer.end());
        });
        let read: Vec<_> = messages(body(&bytes))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(numbers(read[0].to.clone()), Some(many.clone()));
        assert_eq!(
            (read[0].payload, read[1].payload),
            (&payload[..], &payload[..3])
        );
    }
}

/// How a sender splits what is too long for one frame.
#[test]
fn a_message_that_does_not_fit_is_taken_back_and_sent_in_the_next_frame() {
    let max = 4_096;
    let mut out = BytesMut::new();
    let (mut seq, mut from) = (1, 0);
    while from < 500 {
        let mut writer = MessagesWriter::begin(seq, &mut out);
        while from < 500 {
            let before = writer.position();
            push(&mut writer, from, Targets::All, &[5; 40]);
            if writer.len() > max {
                writer.take_back(before);
                break;
            }
            from += 1;
        }
        assert!(writer.len() <= max && (from == 500 || writer.len() > max - 60));
        seq += u64::from(writer.end());
    }
    let (mut rest, mut found) = (&out[..], Vec::new());
    while let Some((head, bytes)) = rest.split_first_chunk::<4>() {
        let len = usize::try_from(u32::from_be_bytes(*head)).unwrap();
        assert!(len <= max);
        let (body, next) = bytes.split_at(len);
        found.extend(messages(body).unwrap().map(|message| message.unwrap().from));
        rest = next;
    }
    assert_eq!(found, (0..500).collect::<Vec<_>>());
}

#[test]
fn a_frame_without_messages_is_not_written() {
    let bytes = written(|out| {
        out.put_slice(b"before");
        assert!(!MessagesWriter::begin(1, out).end());
    });
    assert_eq!(bytes, b"before");
}

#[test]
fn a_message_has_one_form() {
    for (bad, why) in [
        ("93 03 01 90", WireError::Value),
        ("93 03 01 91 95 00 03 09 05 c400 00", WireError::Trailing),
        ("93 03 01 92 95 00 03 09 05 c400", WireError::Truncated),
        ("93 03 01 91 94 00 03 09 05", WireError::Type),
        ("93 03 01 91 95 00 03 09 90 c400", WireError::Value),
        ("93 03 01 91 95 00 03 09 91 05 c400", WireError::Value),
        ("93 03 01 91 95 00 03 09 92 05 05 c400", WireError::Value),
        ("93 03 01 91 95 00 03 09 92 05 04 c400", WireError::Value),
        ("93 03 01 91 95 00 03 09 a0 c400", WireError::Type),
        ("93 03 01 91 95 00 03 09 ff c400", WireError::Type),
        (
            "93 03 01 91 95 00 03 09 cf0000000100000000 c400",
            WireError::Value,
        ),
        ("93 03 01 91 95 00 03 09 c0 a0", WireError::Type),
        ("93 03 ff 90", WireError::Value),
        ("94 03 01 90 00", WireError::Type),
        ("93 09 01 90", WireError::Kind),
        ("83 03 01 90", WireError::Type),
    ] {
        let bytes = hex(bad);
        let found = messages(&bytes).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        assert_eq!(found, Err(why), "{bad}");
    }
}

#[test]
fn reading_ends_after_the_first_error() {
    let bytes = hex("93 03 01 92 95 00 03 09 05 c400 c0");
    let mut messages = messages(&bytes).unwrap();
    assert!(messages.next().unwrap().is_ok());
    assert_eq!(messages.next(), Some(Err(WireError::Type)));
    assert_eq!(messages.next(), None);
}
