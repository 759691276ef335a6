//! The metrics of one bridge, and of its links.

use std::time::Duration;

use ::metrics::{counter, gauge, histogram};

use super::{
    DIALS, ECHO, LINK_LOST, LINK_UP, LINKS, LINKS_CLOSED, REMOTE_BYTES, REMOTE_DROPPED,
    REMOTE_MESSAGES,
};

/// The instruments of one bridge. They stay the same through all its restarts.
#[derive(Debug)]
pub(crate) struct BridgeMeter {
    node: String,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Direction {
    In,
    Out,
}

impl BridgeMeter {
    pub(crate) fn new(node: &str) -> Self {
        let node = node.to_owned();
        Self { node }
    }

    fn node(&self) -> String {
        self.node.clone()
    }

    /// Shows whether there is a link to a peer, and the number of messages to the peer that were lost so far.
    pub(crate) fn link(&self, peer: &str, is_up: bool, lost: u64) {
        let labels = [("node", self.node()), ("peer", peer.to_owned())];
        gauge!(LINK_UP, &labels).set(if is_up { 1.0 } else { 0.0 });
        counter!(LINK_LOST, &labels).absolute(lost);
    }

    /// Records the time from a question to a peer until its answer.
    pub(crate) fn echo(&self, peer: &str, took: Duration) {
        let labels = [("node", self.node()), ("peer", peer.to_owned())];
        histogram!(ECHO, &labels).record(took.as_secs_f64());
    }

    /// Shows the number of links so far, and the number of attempts to dial a peer.
    pub(crate) fn links(&self, links: u64, dials: u64) {
        counter!(LINKS, "node" => self.node()).absolute(links);
        counter!(DIALS, "node" => self.node()).absolute(dials);
    }

    /// Shows the number of links that have ended for this reason so far.
    pub(crate) fn closed(&self, reason: &'static str, times: u64) {
        counter!(LINKS_CLOSED, "node" => self.node(), "reason" => reason).absolute(times);
    }

    /// Shows the number of messages that were dropped for this reason so far.
    pub(crate) fn dropped(&self, reason: &'static str, times: u64) {
        counter!(REMOTE_DROPPED, "node" => self.node(), "reason" => reason).absolute(times);
    }

    /// Shows the number of messages and bytes that have crossed the bridge so far.
    pub(crate) fn crossed(&self, direction: Direction, messages: u64, bytes: u64) {
        let direction = match direction {
            Direction::In => "in",
            Direction::Out => "out",
        };
        let labels = [("node", self.node()), ("direction", direction.to_owned())];
        counter!(REMOTE_MESSAGES, &labels).absolute(messages);
        counter!(REMOTE_BYTES, &labels).absolute(bytes);
    }
}
