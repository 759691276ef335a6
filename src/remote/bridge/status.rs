//! What can be read of a bridge at any time: its peers, and what crossed.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use crate::remote::{LinkId, NodeId, NodeIncarnation};

/// The state of the link with one peer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerStatus {
    /// Its name.
    pub node: NodeId,
    /// What is dialled; `None` if it has to dial.
    pub address: Option<String>,
    /// The link.
    pub link: LinkStatus,
    /// The latest incarnation of its process that was ever linked.
    pub incarnation: Option<NodeIncarnation>,
    /// How many of its agents are members here, in all groups.
    pub agents: usize,
    /// Messages to it that were lost on this side: too old without a link, over the queue's
    /// limit, longer than a frame, or to an agent that it has not.
    pub lost: u64,
}

/// Whether a peer is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkStatus {
    /// By this link.
    Linked {
        /// The link, by the name that both sides give it.
        id: LinkId,
    },
    /// An attempt is under way.
    Dialing,
    /// It is waited for, or the next attempt is.
    Waiting,
}

/// What crossed so far, over all links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    /// Frames written.
    pub frames_out: u64,
    /// Messages in them.
    pub messages_out: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Writes to a stream.
    pub writes: u64,
    /// Frames read.
    pub frames_in: u64,
    /// Messages in them.
    pub messages_in: u64,
    /// Bytes read.
    pub bytes_in: u64,
    /// Links that became ready.
    pub links: u64,
    /// Attempts to dial.
    pub dials: u64,
    /// The longest time from a PING to its PONG.
    pub longest_echo: Duration,
}

#[derive(Debug, Default)]
pub(crate) struct Meter {
    pub(crate) frames_out: AtomicU64,
    pub(crate) messages_out: AtomicU64,
    pub(crate) bytes_out: AtomicU64,
    pub(crate) writes: AtomicU64,
    pub(crate) frames_in: AtomicU64,
    pub(crate) messages_in: AtomicU64,
    pub(crate) bytes_in: AtomicU64,
    pub(crate) links: AtomicU64,
    pub(crate) dials: AtomicU64,
    pub(crate) echo_nanos: AtomicU64,
}

impl Meter {
    pub(crate) fn add(counter: &AtomicU64, more: usize) {
        counter.fetch_add(u64::try_from(more).unwrap_or(u64::MAX), Relaxed);
    }

    pub(crate) fn read(&self) -> Traffic {
        Traffic {
            frames_out: self.frames_out.load(Relaxed),
            messages_out: self.messages_out.load(Relaxed),
            bytes_out: self.bytes_out.load(Relaxed),
            writes: self.writes.load(Relaxed),
            frames_in: self.frames_in.load(Relaxed),
            messages_in: self.messages_in.load(Relaxed),
            bytes_in: self.bytes_in.load(Relaxed),
            links: self.links.load(Relaxed),
            dials: self.dials.load(Relaxed),
            longest_echo: Duration::from_nanos(self.echo_nanos.load(Relaxed)),
        }
    }
}
