//! The bytes of a proxy: frames of a sender to a leader, and the answers.
//!
//! ```text
//!   kind 1, to the leader    from:16 to:16 run:8 term:8 first:8, then for each message  ask:8 len:4 bytes
//!   kind 2, to the sender    an answer about a run, as MessagePack
//!   kind 3, to the sender    to:16 ask:8 tag:1 bytes
//! ```
//!
//! Numbers are little-endian. `from` is the endpoint that sends the frame, `to` the endpoint that shall receive the
//! frame; each is the digest of a node, then an incarnation. Other endpoints ignore the frame. The origin of the frame
//! does not identify the sending endpoint, because its agent may have moved since. A frame of kind 1 without messages
//! asks for the outcome of the run. `ask` is 0 for a message that needs no answer.
//!
//! Decided here: the meaning of each byte of the kinds 1 and 3; bytes without a meaning decode to `None`. Lengths are
//! checked against the received bytes, without a copy of the bytes.

use bytes::BytesMut;
use serde::{Deserialize, Serialize};

use crate::{
    group::NodeDigest,
    leader::messages::{Messages, decode, encode},
    protocol::{AgentId, Incarnation, Term},
};

use super::exchange::{Life, Refusal};

/// Kind of a frame with messages of a run.
pub(crate) const RUN: u8 = 1;
/// Kind of a frame with the number of messages of a run that were delivered.
pub(super) const ANSWER: u8 = 2;
/// Kind of a frame with the answer of an actor.
pub(super) const REPLY: u8 = 3;

/// The head of a frame of messages. The messages follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunHead {
    pub(crate) from: Life,
    pub(crate) to: Life,
    pub(crate) run: u64,
    pub(crate) term: Term,
    pub(crate) first: u64,
}

impl RunHead {
    pub(super) fn write(self, out: &mut Vec<u8>) {
        write_life(self.from, out);
        write_life(self.to, out);
        for number in [self.run, self.term.0, self.first] {
            out.extend_from_slice(&number.to_le_bytes());
        }
    }

    pub(crate) fn read(bytes: &[u8]) -> Option<(Self, RunMessages<'_>)> {
        let mut rest = bytes;
        let head = Self {
            from: life(&mut rest)?,
            to: life(&mut rest)?,
            run: number(&mut rest)?,
            term: Term(number(&mut rest)?),
            first: number(&mut rest)?,
        };
        // All messages are counted before any is delivered, so a malformed frame delivers nothing.
        let count = RunMessages { rest, left: 0 }.count_all()?;
        Some((head, RunMessages { rest, left: count }))
    }
}

pub(super) fn write_message(ask: u64, bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&ask.to_le_bytes());
    let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(bytes);
}

/// Number of bytes of an encoded message before its content.
pub(super) const MESSAGE_HEAD: usize = 12;

/// An iterator over the messages of a frame. Each item is the number under which the sender awaits the answer, and the
/// message's bytes.
#[derive(Clone, Debug)]
pub(crate) struct RunMessages<'a> {
    rest: &'a [u8],
    left: u64,
}

impl<'a> RunMessages<'a> {
    pub(super) fn len(&self) -> u64 {
        self.left
    }

    fn count_all(mut self) -> Option<u64> {
        let mut count = 0_u64;
        while !self.rest.is_empty() {
            self.cut()?;
            count = count.saturating_add(1);
        }
        Some(count)
    }

    fn cut(&mut self) -> Option<(u64, &'a [u8])> {
        let ask = number(&mut self.rest)?;
        let (len, rest) = self.rest.split_first_chunk::<4>()?;
        let len = usize::try_from(u32::from_le_bytes(*len)).ok()?;
        let (bytes, rest) = rest.split_at_checked(len)?;
        self.rest = rest;
        Some((ask, bytes))
    }
}

impl<'a> Iterator for RunMessages<'a> {
    type Item = (u64, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        self.cut()
    }
}

/// A leader's answer about a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RunAnswer {
    pub(super) from: Life,
    pub(super) to: Life,
    pub(super) run: u64,
    /// The reason why the run has ended. `None` if the run continues, and all messages before `next` were delivered.
    pub(super) refusal: Option<Refusal>,
    pub(super) next: Option<u64>,
    /// The leader, as the refusing agent knows it.
    pub(super) leader: Option<(AgentId, Term)>,
}

impl RunAnswer {
    /// Returns the answer to a frame of the run.
    pub(super) fn about(head: &RunHead, refusal: Option<Refusal>, next: Option<u64>) -> Self {
        Self {
            from: head.to,
            to: head.from,
            run: head.run,
            refusal,
            next,
            leader: None,
        }
    }

    pub(super) fn write(&self) -> BytesMut {
        // Never fails: the answer has no map, and is far shorter than a message may be.
        encode(self, Messages::MAX_LEN).unwrap_or_default()
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        decode(bytes).ok()
    }
}

/// The outcome, at the leader, of a message whose sender waits for an answer (an *ask*).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AskReply<'a> {
    Answer(&'a [u8]),
    /// The actor ended before it answered.
    Gone,
    /// The bytes are not a message of the type that is registered at the leader.
    Malformed,
    /// The answer is too long, or cannot be encoded.
    TooLong,
}

impl<'a> AskReply<'a> {
    pub(super) fn write(self, to: Life, ask: u64) -> Vec<u8> {
        let (tag, bytes): (u8, &[u8]) = match self {
            Self::Answer(bytes) => (0, bytes),
            Self::Gone => (1, &[]),
            Self::Malformed => (2, &[]),
            Self::TooLong => (3, &[]),
        };
        let mut out = Vec::with_capacity(bytes.len().saturating_add(25));
        write_life(to, &mut out);
        out.extend_from_slice(&ask.to_le_bytes());
        out.push(tag);
        out.extend_from_slice(bytes);
        out
    }

    /// Reads the addressed endpoint, the ask, and its outcome.
    pub(super) fn read(bytes: &'a [u8]) -> Option<(Life, u64, Self)> {
        let mut rest = bytes;
        let (to, ask) = (life(&mut rest)?, number(&mut rest)?);
        let reply = match byte(&mut rest)? {
            0 => Self::Answer(rest),
            1 => Self::Gone,
            2 => Self::Malformed,
            3 => Self::TooLong,
            _ => return None,
        };
        Some((to, ask, reply))
    }
}

fn write_life(life: Life, out: &mut Vec<u8>) {
    out.extend_from_slice(&life.node.0.to_le_bytes());
    out.extend_from_slice(&life.incarnation.0.to_le_bytes());
}

fn life(rest: &mut &[u8]) -> Option<Life> {
    Some(Life {
        node: NodeDigest(number(rest)?),
        incarnation: Incarnation(number(rest)?),
    })
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    let (number, after) = rest.split_first_chunk::<8>()?;
    *rest = after;
    Some(u64::from_le_bytes(*number))
}

fn byte(rest: &mut &[u8]) -> Option<u8> {
    let (byte, after) = rest.split_first()?;
    *rest = after;
    Some(*byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_were_written_and_nothing_else_is() {
        let [from, to] = [(1, 2), (3, 4)].map(|(node, incarnation)| Life {
            node: NodeDigest(node),
            incarnation: Incarnation(incarnation),
        });
        let head = RunHead {
            from,
            to,
            run: 4,
            term: Term(5),
            first: 6,
        };
        let mut out = Vec::new();
        head.write(&mut out);
        write_message(0, b"ab", &mut out);
        write_message(9, b"", &mut out);
        let (read, messages) = RunHead::read(&out).unwrap();
        assert_eq!((read, messages.len()), (head, 2));
        let messages: Vec<_> = messages.collect();
        assert_eq!(messages, [(0, b"ab".as_slice()), (9, b"")]);
        for len in (0..out.len()).filter(|len| ![56, 70].contains(len)) {
            assert!(RunHead::read(&out[..len]).is_none(), "{len}");
        }
        let leader = Some((AgentId::new("b").unwrap(), Term(7)));
        for (refusal, next, leader) in [
            (None, Some(1), None),
            (Some(Refusal::NotLeader), None, leader),
            (Some(Refusal::Unregistered), Some(0), None),
        ] {
            let answer = RunAnswer {
                from,
                to,
                run: 2,
                refusal,
                next,
                leader,
            };
            assert_eq!(RunAnswer::read(&answer.write()), Some(answer));
        }
        assert_eq!(RunAnswer::read(&[9; 50]), None);
        assert_eq!(RunAnswer::read(&[]), None);
        for reply in [AskReply::Answer(b"x"), AskReply::Gone, AskReply::TooLong] {
            let bytes = reply.write(to, 2);
            assert_eq!(AskReply::read(&bytes), Some((to, 2, reply)));
        }
        assert_eq!(AskReply::read(&[4; 25]), None);
    }

    #[test]
    fn no_bytes_make_a_reader_panic() {
        let mut rng = fastrand::Rng::with_seed(7);
        for _ in 0..20_000 {
            let bytes: Vec<u8> = (0..rng.usize(..110)).map(|_| rng.u8(..4)).collect();
            if let Some((_, messages)) = RunHead::read(&bytes) {
                assert!(messages.map(|(_, bytes)| bytes.len()).sum::<usize>() <= bytes.len());
            }
            RunAnswer::read(&bytes);
            AskReply::read(&bytes);
        }
    }
}
