//! Says a frame again: what was decoded is encoded, and must be the same bytes.

use actix_bully::remote::wire::{
    Frame, Letters, LettersWriter, Receivers, Roster, Targets, encode_goodbye, encode_ping,
    encode_pong, encode_proof,
};
use bytes::{BufMut, BytesMut};

/// Panics if a frame that is read to its end would be written in other bytes.
pub(crate) fn compare(body: &[u8], frame: Frame<'_>) {
    let mut out = BytesMut::new();
    match frame {
        Frame::Hello(hello) => hello.encode(&mut out),
        Frame::Ready { link, proofs } => encode_proof(link, &proofs, &mut out),
        Frame::Conditions(conditions) => conditions.encode(&mut out),
        Frame::Roster(roster) => match roster.content() {
            Ok(content) => {
                Roster::encode(roster.seq, roster.group, roster.opening, &content, &mut out);
            }
            Err(_) => return,
        },
        Frame::Letters(letters) => {
            if letters_again(letters, &mut out).is_none() {
                return;
            }
        }
        Frame::Ping { seq, token } => encode_ping(seq, token, &mut out),
        Frame::Pong { seq, token } => encode_pong(seq, token, &mut out),
        Frame::Goodbye { why } => encode_goodbye(why, &mut out),
        _ => panic!("a kind of frame that nobody says again"),
    }
    assert_eq!(&out[4..], body);
}

fn letters_again(letters: Letters<'_>, out: &mut BytesMut) -> Option<()> {
    let mut again = LettersWriter::begin(letters.seq, out);
    for letter in letters {
        let letter = letter.ok()?;
        let several: Vec<u32>;
        let to = match letter.to {
            Receivers::All => Targets::All,
            Receivers::One(one) => {
                several = vec![one];
                Targets::Some(&several)
            }
            Receivers::Several(numbers) => {
                several = numbers.into_iter().collect();
                Targets::Some(&several)
            }
        };
        again
            .push(letter.group, letter.from, letter.incarnation, to, |out| {
                out.put_slice(letter.payload);
                Ok::<(), std::convert::Infallible>(())
            })
            .ok()?;
    }
    again.end().then_some(())
}
