//! The meaning of bytes: frames, and MessagePack in one spelling only.
//!
//! ```text
//!   0        4                                 4 + length
//!  ┌────────┬──────────────────────────────────┐
//!  │ length │ body: one MessagePack array      │   length: 4 bytes, big endian, of the body;
//!  └────────┴──────────────────────────────────┘   1 to 1,024, once ready to 65,536
//!
//!  99 00 ………  HELLO    0, "bully", min, max, cluster, node, incarnation, nonce: 8 bytes,
//!                      longest frame                                      the same for ever
//!  9a 07 ………  CONDITIONS  7, challenge?: 32 bytes, rate, burst,
//!                         depth, items, text, groups, agents, end?: 32 bytes
//!  93 01 ………  READY    1, link: 16 bytes, [proof: 32 bytes ..]               two at most
//!  97 02 ………  ROSTER   2, seq, group, opening?, [left ..], [member ..], leader?
//!                         opening: [name, rules, epoch, voters?, pace?]
//!                         voters:  [how many, to elect, for a lease, digest ..], and without disks two more entries:
//!                                  the promise P and the round E (see `Timings`), in µs; digest: of the names, and
//!                                  without disks of P and E too
//!                         pace:    [delay, detection], in µs
//!                         member:  [agent, name, kind, score?, presence, incarnation?, [ended ..], store?, about?]
//!                         leader:  [agent, incarnation, term]
//!  93 03 ………  MESSAGES  3, seq, [message ..]
//!                         message: [group, from, incarnation, to, payload: bytes]
//!                         to:      nil: all │ agent │ [agent, agent ..], ascending
//!  93 04 ………  PING     4, seq, token
//!  93 05 ………  PONG     5, seq, token
//!  92 08 ………  TWIN     8, seq
//!  92 06 ………  GOODBYE  6, why                                            the same for ever
//!
//!  x? is x or nil. All numbers are unsigned but for a score's four. kind: 0 voter, 1 observer.
//!  about: what the agent says of itself, 1 to 256 bytes of text in one line.
//!  presence: 0 unseen, 1 up, 2 suspect, 3 down. why: the numbers of `Farewell`.
//! ```
//! A link begins with HELLO, CONDITIONS and READY in both directions, in this order. All other frames come after
//! them; GOODBYE may come at any time.
//!
//! The side on which groups and agents run gives them their numbers, in its rosters: `from` and `group` are the
//! sender's numbers, `to` the receiver's.
//!
//! One message, byte by byte: agent 3 in its incarnation 9 informs agent 5 that it still leads term 7 of group 0 with
//! score 30.
//! ```text
//!  00 00 00 1e                          30 bytes follow
//!  93 03 01                             MESSAGES, frame 1
//!  91                                   one message
//!  95 00 03 09 05                       group 0, from 3, incarnation 9, to 5
//!  c4 13                                19 bytes of payload:
//!  81 a9 68 65 61 72 74 62 65 61 74       {"heartbeat":
//!  93 07                                    [term 7,
//!  94 1e 00 00 00                            score [30, 0, 0, 0],
//!  c0                                        sent_at nil]}
//! ```
//!
//! # One spelling
//! Every value has one form: the shortest. So decoded content would be encoded to the same bytes, and a difference
//! cannot hide anything. An enum in a payload is a map of one entry, from the variant's name to its content, or the
//! name alone; its structs are arrays without names. Nesting is limited, no bytes are skipped, and no bytes may remain.
//!
//! # Versions
//! | version | since | what changed |
//! |---|---|---|
//! | 1 | 0.1.0 | the first |
//!
//! Both sides send their range of versions; the newest common version is used. HELLO and GOODBYE keep their form in all
//! versions, so that any two versions can at least exchange the reason for a refusal.
//!
//! # Where to read on
//! [`Frames`] cuts the stream, and [`Frame`] is one frame. [`Messages`] and [`RosterFrame`] are the two frames with
//! content; [`encode_payload`] and [`decode_payload`] write and read a message's content.
//! [`Handshake`](super::Handshake) and [`Inbound`](super::Inbound) decide which agent may send a message, and in
//! which order.

mod conditions;
mod crossing;
mod error;
mod frame;
mod frames;
mod hello;
mod messages;
mod payload;
mod read;
mod roster;
mod strict;
mod write;

#[cfg(test)]
mod tests;

pub use error::WireError;

for_tests! {
    use {
        conditions::{Allowance, LinkConditions},
        error::Bounds,
        frame::{Frame, encode_goodbye, encode_ping, encode_pong, encode_proof, encode_twin},
        frames::Frames,
        hello::{Hello, Versions},
        messages::{
            Messages, MessagesWriter, Position, RawMessage, RawReceivers, Several, Targets,
        },
        payload::{Unencodable, decode_payload, encode_payload},
        roster::{LeaderHint, Opening, RosterFrame, RosterContent},
    };
}
