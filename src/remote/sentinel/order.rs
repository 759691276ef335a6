//! The orders of a node to its sentinel, as frames on a pipe.
//!
//! ```text
//!   length, 2 bytes · number of peers, 1 · peers: 4 or 6, address, port · notice
//! ```
//! Decided here: an order replaces the whole order before it, and the sentinel sends the notice of the newest order. If
//! the end of the node cuts an order short, the order has no effect. An order is never longer than a pipe takes in one
//! piece, so two orders never mix.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::EndNotice;

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

    /// Writes the frame, without the peers after the first [`MOST_PEERS`](Self::MOST_PEERS): they get no notice, and wait
    /// until the lease ends.
    pub fn encode(&self) -> Vec<u8> {
        let peers = self.peers.iter().take(Self::MOST_PEERS);
        let mut body = vec![u8::try_from(peers.len()).unwrap_or(u8::MAX)];
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
        body.extend(self.notice.encode());
        let len = u16::try_from(body.len()).unwrap_or(u16::MAX);
        [&len.to_be_bytes()[..], &body].concat()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (count, mut rest) = bytes.split_first()?;
        let mut peers = Vec::new();
        for _ in 0..*count {
            let (family, address) = rest.split_first()?;
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
        let notice = EndNotice::decode(rest)?;
        (peers.len() <= Self::MOST_PEERS).then_some(Self { notice, peers })
    }

    /// Returns whether two orders have the same secret bytes for two incarnations.
    fn contradicts(&self, next: &Self) -> bool {
        let (now, next) = (&self.notice, &next.notice);
        now.secret == next.secret && (&now.node, now.incarnation) != (&next.node, next.incarnation)
    }
}

/// The orders to a sentinel, cut out of the bytes of a pipe, which arrive piece by piece.
#[derive(Debug, Default)]
pub struct Orders {
    buffer: Vec<u8>,
    newest: Option<Watched>,
}

impl Orders {
    /// Takes bytes that were read. `None` means that the sentinel has to end without a notice: the bytes are not an
    /// order, so the bytes after them cannot be read either, or an order uses the secret bytes of one incarnation for
    /// another incarnation, and the sentinel cannot know which of the two incarnations is right.
    pub fn take(&mut self, bytes: &[u8]) -> Option<()> {
        self.buffer.extend(bytes);
        while let Some(head) = self.buffer.first_chunk::<2>() {
            let len = usize::from(u16::from_be_bytes(*head));
            if len > Watched::MAX_LEN {
                return None;
            }
            let end = len.saturating_add(2);
            let Some(body) = self.buffer.get(2..end) else {
                break;
            };
            let next = Watched::decode(body)?;
            if self
                .newest
                .as_ref()
                .is_some_and(|now| now.contradicts(&next))
            {
                return None;
            }
            self.newest = Some(next);
            self.buffer.drain(..end);
        }
        Some(())
    }

    /// Returns the newest whole order. The sentinel sends its notice when the node has ended.
    pub fn newest(self) -> Option<Watched> {
        self.newest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::{NodeId, NodeIncarnation, sentinel::NoticeSecret};

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

    /// Another port shows which of two orders is the newest.
    fn ordered(incarnation: u64, secret: u8, port: u16) -> Watched {
        let mut watched = watch(0);
        watched.notice.incarnation = NodeIncarnation(incarnation);
        watched.notice.secret = NoticeSecret::of(secret);
        watched.peers = vec![([127, 0, 0, 1], port).into()];
        watched
    }

    #[test]
    fn the_newest_whole_order_counts_however_the_bytes_arrive() {
        let all = [watch(0), watch(5), watch(1)];
        for last in 1..=all.len() {
            let bytes: Vec<u8> = all[..last].iter().flat_map(Watched::encode).collect();
            let cut_short = [&bytes[..], &watch(3).encode()[..9]].concat();
            for size in [1, 7, cut_short.len()] {
                let mut orders = Orders::default();
                assert!(
                    cut_short
                        .chunks(size)
                        .all(|piece| orders.take(piece).is_some())
                );
                assert_eq!(orders.newest().as_ref(), all[..last].last(), "{size}");
            }
        }
    }

    #[test]
    fn the_longest_order_fits_into_one_write_to_a_pipe_and_leaves_other_peers_out() {
        let mut watched = watch(Watched::MOST_PEERS + 1);
        let label = "a".repeat(63);
        let name = [&*label, &label, &label, &label[..61]].join(".");
        watched.notice.node = NodeId::new(&name).unwrap();
        let six = SocketAddr::from(([1; 8], 1));
        watched.peers.fill(six);
        let bytes = watched.encode();
        assert!(bytes.len() <= Watched::MAX_LEN, "{}", bytes.len());
        let mut orders = Orders::default();
        assert!(orders.take(&bytes).is_some());
        watched.peers.truncate(Watched::MOST_PEERS);
        assert_eq!(orders.newest(), Some(watched));
    }

    #[test]
    fn bytes_that_are_no_order_are_refused_and_an_order_that_was_cut_short_is_none() {
        let cases: [(&[u8], _); 6] = [
            (&[0, 0], false),
            (&[255, 255], false),
            (&[0, 1, 9], false),
            (&[0, 2, 1, 1], false),
            (&[0, 2, 0, 0], false),
            (&[0, 9, 1], true),
        ];
        for (bytes, is_taken) in cases {
            let mut orders = Orders::default();
            assert_eq!(orders.take(bytes).is_some(), is_taken, "{bytes:?}");
            assert_eq!(orders.newest(), None);
        }
    }

    #[test]
    fn the_bytes_of_one_incarnation_are_not_taken_for_another_one() {
        let mut orders = Orders::default();
        for (order, is_taken) in [
            (ordered(1, 1, 10), true),
            (ordered(1, 1, 11), true),
            (ordered(2, 2, 10), true),
            (ordered(3, 2, 10), false),
        ] {
            assert_eq!(orders.take(&order.encode()).is_some(), is_taken);
        }
    }
}
