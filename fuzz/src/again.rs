//! Encodes a decoded frame again: the bytes must be the same.

use actix_bully::remote::internals::wire::{
    Frame, Messages, MessagesWriter, RawMessage, RawReceivers, RosterFrame, Targets,
    encode_goodbye, encode_ping, encode_pong, encode_proof, encode_twin,
};
use bytes::BytesMut;

/// Encodes the frame `frame` again. Panics if the result differs from `body`.
pub(crate) fn compare(body: &[u8], frame: Frame<'_>) {
    let mut out = BytesMut::new();
    match frame {
        Frame::Hello(hello) => hello.encode(&mut out),
        Frame::Ready { link, proofs } => encode_proof(link, &proofs, &mut out),
        Frame::Conditions(conditions) => conditions.encode(&mut out),
        Frame::Roster(roster) => {
            let (seq, group, opening) = (roster.seq, roster.group, roster.opening);
            RosterFrame::encode(seq, group, opening, &roster.content, &mut out);
        }
        Frame::Messages(messages) => {
            if messages_again(messages, &mut out).is_none() {
                return;
            }
        }
        Frame::Ping { seq, token } => encode_ping(seq, token, &mut out),
        Frame::Pong { seq, token } => encode_pong(seq, token, &mut out),
        Frame::Twin { seq } => encode_twin(seq, &mut out),
        Frame::Goodbye { why } => encode_goodbye(why, &mut out),
        _ => panic!("this kind of frame has no encoder here"),
    }
    assert_eq!(&out[4..], body);
}

fn messages_again(messages: Messages<'_>, out: &mut BytesMut) -> Option<()> {
    let mut again = MessagesWriter::begin(messages.seq, out);
    for message in messages {
        let message = message.ok()?;
        let several: Vec<u32>;
        let to = match message.to {
            RawReceivers::All => Targets::All,
            RawReceivers::One(one) => {
                several = vec![one];
                Targets::Some(&several)
            }
            RawReceivers::Several(numbers) => {
                several = numbers.collect();
                Targets::Some(&several)
            }
        };
        let RawMessage {
            group,
            from,
            incarnation,
            payload,
            ..
        } = message;
        again.push(group, from, incarnation, to, payload);
    }
    again.end().then_some(())
}
