//! The state of a bridge that can be read at any time: its peers, and its traffic.

use std::time::Duration;

use serde::Serialize;

use crate::{
    remote::{LinkId, NodeId, NodeIncarnation},
    shown,
};

/// The state of the link with one peer.
///
/// The fields have the same names in JSON; incarnations and links are text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PeerStatus {
    /// Name of the peer.
    pub node: NodeId,
    /// The address to dial; `None` if the peer has to dial.
    pub address: Option<String>,
    /// The state of the link.
    pub link: LinkStatus,
    /// The latest incarnation of the peer's process that was ever linked; `None` before the first link.
    pub incarnation: Option<NodeIncarnation>,
    /// Number of the peer's agents that are members of groups here, in all groups.
    pub agents: usize,
    /// Number of messages to the peer that were lost on this side: they became too old without a link, exceeded the
    /// limit of the queue, were longer than a frame, or were for an agent that the peer does not have.
    pub lost: u64,
    /// Time without a link: since the last link or, without any link so far, since the node became a peer; `None` while
    /// there is a link. As JSON: `unlinked_ms`.
    #[serde(rename = "unlinked_ms", serialize_with = "shown::optional_millis")]
    pub unlinked_for: Option<Duration>,
    /// The reason why the last link ended or the last attempt failed; `None` while there is a link. For people: the
    /// words may change.
    pub last_error: Option<String>,
    /// Round-trip time of the last PING to the peer and its PONG, if there was one. As JSON: `echo_ms`.
    #[serde(rename = "echo_ms", serialize_with = "shown::optional_millis")]
    pub echo: Option<Duration>,
}

/// The state of a peer's link.
///
/// As JSON: `{"state":"linked","id":".."}`, `{"state":"dialing"}`, `{"state":"waiting"}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
#[non_exhaustive]
pub enum LinkStatus {
    /// The peer is linked.
    Linked {
        /// The link, by the name that both sides use for it.
        id: LinkId,
    },
    /// An attempt to dial is in progress.
    Dialing,
    /// The bridge waits for the peer to dial, or for the next attempt.
    Waiting,
}

/// The traffic so far, of all links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Traffic {
    /// Number of frames written.
    pub frames_out: u64,
    /// Number of messages in the written frames.
    pub messages_out: u64,
    /// Number of bytes written.
    pub bytes_out: u64,
    /// Number of writes to a stream.
    pub writes: u64,
    /// Number of frames read.
    pub frames_in: u64,
    /// Number of messages in the frames that were read.
    pub messages_in: u64,
    /// Number of bytes read.
    pub bytes_in: u64,
    /// Number of links that became ready.
    pub links: u64,
    /// Number of attempts to dial.
    pub dials: u64,
    /// The longest time from a PING to its PONG. As JSON: `longest_echo_ms`.
    #[serde(rename = "longest_echo_ms", serialize_with = "shown::millis")]
    pub longest_echo: Duration,
}

impl Traffic {
    pub(crate) fn add(count: &mut u64, more: usize) {
        let more = u64::try_from(more).unwrap_or(u64::MAX);
        *count = count.saturating_add(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(value: &impl Serialize) -> String {
        serde_json::to_string(value).unwrap()
    }

    #[test]
    fn a_peer_as_json() {
        let mut peer = PeerStatus {
            node: NodeId::new("host-b").unwrap(),
            address: Some("127.0.0.1:7401".to_owned()),
            link: LinkStatus::Linked {
                id: LinkId([255; 16]),
            },
            incarnation: Some(NodeIncarnation(u64::MAX)),
            agents: 2,
            lost: 3,
            unlinked_for: None,
            last_error: None,
            echo: Some(Duration::from_micros(1_250)),
        };
        assert_eq!(
            json(&peer),
            concat!(
                r#"{"node":"host-b","address":"127.0.0.1:7401","#,
                r#""link":{"state":"linked","id":"ffffffffffffffffffffffffffffffff"},"#,
                r#""incarnation":"18446744073709551615","agents":2,"lost":3,"#,
                r#""unlinked_ms":null,"last_error":null,"echo_ms":1.25}"#
            )
        );
        peer.link = LinkStatus::Dialing;
        (peer.address, peer.incarnation, peer.echo) = (None, None, None);
        peer.unlinked_for = Some(Duration::from_secs(2));
        peer.last_error = Some("connection refused".to_owned());
        assert_eq!(
            json(&peer),
            concat!(
                r#"{"node":"host-b","address":null,"link":{"state":"dialing"},"incarnation":null,"#,
                r#""agents":2,"lost":3,"unlinked_ms":2000.0,"#,
                r#""last_error":"connection refused","echo_ms":null}"#
            )
        );
        assert_eq!(json(&LinkStatus::Waiting), r#"{"state":"waiting"}"#);
    }

    #[test]
    fn traffic_as_json() {
        let traffic = Traffic {
            frames_out: 7,
            longest_echo: Duration::from_nanos(1_234_567),
            ..Traffic::default()
        };
        assert_eq!(
            json(&traffic),
            concat!(
                r#"{"frames_out":7,"messages_out":0,"bytes_out":0,"writes":0,"frames_in":0,"#,
                r#""messages_in":0,"bytes_in":0,"links":0,"dials":0,"longest_echo_ms":1.235}"#
            )
        );
    }
}
