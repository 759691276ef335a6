//! One packet: the content of one zenoh message between the two ends of a connection.
//!
//! ```text
//!  0      2   magic, 0xB7 0x5A
//!  2      1   version, 1
//!  3      1   kind
//!  4     16   the session that sends it
//!  20     8   the connection, a number that the side drew that opened it
//!  28     8   a position in the stream of bytes; what it means says the kind
//!  36         the rest: a name or bytes
//! ```
//! Numbers are big-endian. A zenoh network delivers packets of any process in it. A message of any other form is
//! counted and otherwise ignored.
//!
//! Decided here: the bytes. Not here: which packet is allowed in which state ([`flow`](super::flow)).

use actix_bully::remote::NodeId;

use super::keys::SessionId;

/// A packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Packet<'a> {
    pub(super) from: SessionId,
    pub(super) connection: u64,
    pub(super) body: PacketBody<'a>,
}

/// The content of a packet, by its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PacketBody<'a> {
    /// A host opens a connection. `host` is the name that it gives itself.
    Open { host: NodeId },
    /// The connection was accepted.
    Opened,
    /// Bytes that begin at this position.
    Data { at: u64, bytes: &'a [u8] },
    /// The reader has taken all bytes before the position `before`.
    Taken { before: u64 },
    /// No byte follows this position.
    End { at: u64 },
    /// The sender's end of the connection is gone.
    Gone,
}

impl<'a> Packet<'a> {
    pub(super) fn encode(&self) -> Vec<u8> {
        let (kind, position, rest) = match &self.body {
            PacketBody::Open { host } => (0, 0, host.as_str().as_bytes()),
            PacketBody::Opened => (1, 0, &[][..]),
            PacketBody::Data { at, bytes } => (2, *at, *bytes),
            PacketBody::Taken { before } => (3, *before, &[][..]),
            PacketBody::End { at } => (4, *at, &[][..]),
            PacketBody::Gone => (5, 0, &[][..]),
        };
        let mut out = Vec::with_capacity(HEADER.saturating_add(rest.len()));
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&[VERSION, kind]);
        out.extend_from_slice(&self.from.0.to_be_bytes());
        out.extend_from_slice(&self.connection.to_be_bytes());
        out.extend_from_slice(&position.to_be_bytes());
        out.extend_from_slice(rest);
        out
    }

    /// Reads a packet; `None` if the bytes do not have its form.
    pub(super) fn decode(bytes: &'a [u8]) -> Option<Self> {
        let (&[a, b, version, kind], rest) = bytes.split_first_chunk::<4>()?;
        if [a, b] != MAGIC || version != VERSION {
            return None;
        }
        let (from, rest) = rest.split_first_chunk()?;
        let (connection, rest) = rest.split_first_chunk()?;
        let (position, rest) = rest.split_first_chunk()?;
        let at = u64::from_be_bytes(*position);
        let body = match (kind, at) {
            (0, 0) => PacketBody::Open {
                host: NodeId::new(std::str::from_utf8(rest).ok()?).ok()?,
            },
            (2, at) if (1..=MOST_DATA).contains(&rest.len()) => {
                PacketBody::Data { at, bytes: rest }
            }
            _ if !rest.is_empty() => return None,
            (1, 0) => PacketBody::Opened,
            (3, before) => PacketBody::Taken { before },
            (4, at) => PacketBody::End { at },
            (5, 0) => PacketBody::Gone,
            _ => return None,
        };
        Some(Self {
            from: SessionId(u128::from_be_bytes(*from)),
            connection: u64::from_be_bytes(*connection),
            body,
        })
    }
}

const MAGIC: [u8; 2] = [0xB7, 0x5A];
const VERSION: u8 = 1;
const HEADER: usize = 36;

/// Maximum number of bytes of a stream in one packet: with its header it fits into one batch of zenoh, which is 64 KiB,
/// so that it is never cut into fragments.
pub(super) const MOST_DATA: usize = 32 * 1024;

/// Length of the longest packet, in bytes. A longer payload is refused before its parts are copied into one buffer.
pub(super) const LONGEST: usize = HEADER + MOST_DATA;

#[cfg(test)]
mod tests {
    use super::*;

    fn packets() -> Vec<Packet<'static>> {
        let bodies = [
            PacketBody::Open {
                host: NodeId::new("host-a.example").unwrap(),
            },
            PacketBody::Opened,
            PacketBody::Data {
                at: 7,
                bytes: b"abc",
            },
            PacketBody::Taken { before: u64::MAX },
            PacketBody::End { at: 9 },
            PacketBody::Gone,
        ];
        let packet = |body| Packet {
            from: SessionId(1 << 100),
            connection: 5,
            body,
        };
        bodies.into_iter().map(packet).collect()
    }

    #[test]
    fn a_packet_is_read_as_it_was_written() {
        for packet in packets() {
            assert_eq!(Packet::decode(&packet.encode()), Some(packet));
        }
    }

    #[test]
    fn no_other_bytes_are_a_packet() {
        for packet in packets() {
            let bytes = packet.encode();
            for len in 0..bytes.len().min(HEADER) {
                assert_eq!(Packet::decode(&bytes[..len]), None, "cut at {len}");
            }
            for (at, wrong) in [(0, 0), (1, 0), (2, 2), (3, 6), (3, 255)] {
                let mut bytes = bytes.clone();
                bytes[at] = wrong;
                assert_eq!(
                    Packet::decode(&bytes),
                    None,
                    "{packet:?} with {wrong} at {at}"
                );
            }
            let mut long = bytes.clone();
            long.resize(LONGEST + 1, b'a');
            assert_eq!(Packet::decode(&long), None, "{packet:?} is too long");
        }
        let mut named = packets()[0].encode();
        for host in ["", "Host_A", "10.0.0.1", "a/b"] {
            named.truncate(HEADER);
            named.extend_from_slice(host.as_bytes());
            assert_eq!(Packet::decode(&named), None, "{host} is no host");
        }
        let mut empty = packets()[2].encode();
        empty.truncate(HEADER);
        assert_eq!(Packet::decode(&empty), None, "no bytes at all");
        let mut told = packets()[5].encode();
        told[35] = 1;
        assert_eq!(Packet::decode(&told), None, "a second spelling");
    }
}
