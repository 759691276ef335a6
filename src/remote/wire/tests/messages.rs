//! Messages are written in place and read one by one.

use bytes::{BufMut, BytesMut};

use super::{body, bounds, written};
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

pub(super) fn numbers(to: RawReceivers<'_>) -> Option<Vec<u32>> {
    match to {
        RawReceivers::All => None,
        RawReceivers::One(one) => Some(vec![one]),
        RawReceivers::Several(several) => Some(several.collect()),
    }
}

/// The sizes lie on both sides of each change of form: number of messages in a frame, number of receivers, length of
/// a payload.
#[test]
fn messages_are_read_as_they_were_written() {
    let many: Vec<u32> = (0..1_024).map(|n| n * 500).collect();
    for (count, len) in [(1, 40_000), (2, 256), (15, 255), (16, 40), (1_024, 0)] {
        let (messages_due, payload) = (usize::try_from(count).unwrap(), vec![9; len]);
        for receivers in [0, 1, 2, 16, 1_024] {
            let to = (receivers > 0).then(|| &many[..receivers]);
            let bytes = written(|out| {
                let mut writer = MessagesWriter::begin(77, out);
                for from in 0..count {
                    let targets = to.map_or(Targets::All, Targets::Some);
                    push(&mut writer, from, targets, &payload);
                }
                assert_eq!(writer.count(), messages_due);
                assert!(writer.end());
            });
            let messages = messages(body(&bytes)).unwrap();
            assert_eq!(messages.seq, 77);
            let read: Vec<RawMessage<'_>> = messages.map(Result::unwrap).collect();
            assert_eq!(read.len(), messages_due);
            for (from, message) in (0..).zip(&read) {
                assert_eq!((message.group, message.from), (1, from));
                assert_eq!(message.incarnation, Incarnation(2));
                assert_eq!(numbers(message.to.clone()).as_deref(), to);
                assert_eq!(message.payload, payload);
            }
        }
    }
}

/// A sender splits messages that are too long for one frame in this way.
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
