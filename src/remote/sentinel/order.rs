//! The orders of a node to its sentinel, as frames on a pipe.
//!
//! ```text
//!   length, 2 bytes · incarnation, 8 · secret, 32 · length of the name, 1 · name · peers: 4 or 6, address, port
//! ```
//! An order replaces the whole order before it. If the end of the node cuts an order short, the order has no effect. An
//! order is never longer than a pipe takes in one piece, so two orders never mix.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::{EndNotice, NoticeSecret, OrderError};
use crate::remote::{NodeId, NodeIncarnation};

/// The notice for the node's end, and its receivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// The notice.
    pub notice: EndNotice,
    /// Addresses at which the bridges of the peers receive the notice.
    pub peers: Vec<SocketAddr>,
}

impl Watched {
    /// Largest number of peers that a sentinel informs; a bridge suits a few dozen hosts.
    pub const MOST_PEERS: usize = 128;
    /// Longest order in bytes: every pipe takes this many in one piece (`PIPE_BUF`).
    const MAX_LEN: usize = 4096;

    /// Writes the frame.
    ///
    /// # Errors
    /// [`OrderError::TooManyPeers`] if there are more than [`MOST_PEERS`](Self::MOST_PEERS).
    pub fn encode(&self) -> Result<Vec<u8>, OrderError> {
        let Self { notice, peers } = self;
        if peers.len() > Self::MOST_PEERS {
            return Err(OrderError::TooManyPeers {
                len: peers.len(),
                max: Self::MOST_PEERS,
            });
        }
        let name = notice.node.as_str().as_bytes();
        let mut body = Vec::new();
        body.extend(notice.incarnation.0.to_be_bytes());
        body.extend(notice.secret.0);
        body.push(u8::try_from(name.len()).map_err(|_| OrderError::Length)?);
        body.extend(name);
        for peer in peers {
            match peer.ip() {
                IpAddr::V4(ip) => {
                    body.push(4);
                    body.extend(ip.octets());
                }
                IpAddr::V6(ip) => {
                    body.push(6);
                    body.extend(ip.octets());
                }
            }
            body.extend(peer.port().to_be_bytes());
        }
        let len = u16::try_from(body.len()).map_err(|_| OrderError::Length)?;
        Ok([&len.to_be_bytes()[..], &body].concat())
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (incarnation, rest) = bytes.split_first_chunk()?;
        let (secret, rest) = rest.split_first_chunk()?;
        let (len, rest) = rest.split_first()?;
        let (name, mut rest) = rest.split_at_checked(usize::from(*len))?;
        let mut peers = Vec::new();
        while let Some((family, address)) = rest.split_first() {
            let (ip, after) = match family {
                4 => {
                    let (ip, after) = address.split_first_chunk::<4>()?;
                    (IpAddr::from(Ipv4Addr::from(*ip)), after)
                }
                6 => {
                    let (ip, after) = address.split_first_chunk::<16>()?;
                    (IpAddr::from(Ipv6Addr::from(*ip)), after)
                }
                _ => return None,
            };
            let (port, after) = after.split_first_chunk()?;
            peers.push(SocketAddr::new(ip, u16::from_be_bytes(*port)));
            rest = after;
        }
        let notice = EndNotice {
            node: NodeId::new(std::str::from_utf8(name).ok()?).ok()?,
            incarnation: NodeIncarnation(u64::from_be_bytes(*incarnation)),
            secret: NoticeSecret(*secret),
        };
        (peers.len() <= Self::MOST_PEERS).then_some(Self { notice, peers })
    }
}

/// Cuts orders out of the bytes of a pipe, which arrive piece by piece.
#[derive(Debug, Default)]
pub struct Orders {
    buffer: Vec<u8>,
}

impl Orders {
    /// Appends bytes that were read.
    pub fn take(&mut self, bytes: &[u8]) {
        self.buffer.extend(bytes);
    }

    /// Returns the next whole order; `None` if more bytes are needed.
    ///
    /// # Errors
    /// [`OrderError`] if the bytes are not an order. Then the bytes after them cannot be read either.
    pub fn next_order(&mut self) -> Result<Option<Watched>, OrderError> {
        let Some(head) = self.buffer.first_chunk::<2>() else {
            return Ok(None);
        };
        let len = usize::from(u16::from_be_bytes(*head));
        if len == 0 || len > Watched::MAX_LEN {
            return Err(OrderError::Length);
        }
        let end = len.saturating_add(2);
        let Some(body) = self.buffer.get(2..end) else {
            return Ok(None);
        };
        let order = Watched::decode(body).ok_or(OrderError::Malformed)?;
        self.buffer.drain(..end);
        Ok(Some(order))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(peers: usize) -> Watched {
        let peer = |at: usize| {
            let port = u16::try_from(at).unwrap();
            if at.is_multiple_of(2) {
                SocketAddr::from(([127, 0, 0, 1], port))
            } else {
                SocketAddr::from(([1, 2, 3, 4, 5, 6, 7, 8], port))
            }
        };
        Watched {
            notice: EndNotice {
                node: NodeId::new("host-a").unwrap(),
                incarnation: NodeIncarnation(7),
                secret: NoticeSecret::of(3),
            },
            peers: (0..peers).map(peer).collect(),
        }
    }

    #[test]
    fn orders_come_out_whole_however_they_arrive() {
        let all = [watch(0), watch(5), watch(1)];
        let bytes = all.each_ref().map(|order| order.encode().unwrap()).concat();
        for size in [1, 7, bytes.len()] {
            let (mut orders, mut found) = (Orders::default(), Vec::new());
            for piece in bytes.chunks(size) {
                orders.take(piece);
                while let Some(order) = orders.next_order().unwrap() {
                    found.push(order);
                }
            }
            assert_eq!(found, all, "{size}");
        }
    }

    #[test]
    fn the_longest_order_fits_into_one_write_to_a_pipe() {
        let mut watched = watch(Watched::MOST_PEERS);
        let label = "a".repeat(63);
        let name = [&*label, &label, &label, &label[..61]].join(".");
        watched.notice.node = NodeId::new(&name).unwrap();
        let six = SocketAddr::from(([1; 8], 1));
        watched.peers.fill(six);
        let bytes = watched.encode().unwrap();
        assert!(bytes.len() <= Watched::MAX_LEN, "{}", bytes.len());
        let mut orders = Orders::default();
        orders.take(&bytes);
        assert_eq!(orders.next_order(), Ok(Some(watched)));
    }

    #[test]
    fn one_peer_too_many_is_refused() {
        let refused = OrderError::TooManyPeers { len: 129, max: 128 };
        assert_eq!(watch(129).encode(), Err(refused));
    }

    #[test]
    fn bytes_that_are_no_order_are_refused_and_an_order_that_was_cut_short_is_none() {
        let cases: [(&[u8], _); 6] = [
            (&[0, 0], Err(OrderError::Length)),
            (&[255, 255], Err(OrderError::Length)),
            (&[0, 1, 9], Err(OrderError::Malformed)),
            (&[0, 2, 1, 1], Err(OrderError::Malformed)),
            (&[0, 2, 2, 0], Err(OrderError::Malformed)),
            (&[0, 9, 1], Ok(None)),
        ];
        for (bytes, expected) in cases {
            let mut orders = Orders::default();
            orders.take(bytes);
            assert_eq!(orders.next_order(), expected, "{bytes:?}");
        }
    }
}
