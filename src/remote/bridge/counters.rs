//! Counters of closed links, dropped messages, notices and ignored packets. They explain why a message was lost.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::{Serialize, Serializer};

use crate::remote::{Closed, DropReason, bridge::shared::BridgeState};

/// One counter for each reason. All links of a bridge share them, and they can be read at any time.
#[derive(Debug)]
pub(crate) struct BridgeCounters(Vec<AtomicU64>);

/// The names of all counters: of closed links, of dropped messages, and of notices.
const NAMES: [&[&str]; 3] = [Closed::NAMES, DropReason::NAMES, NOTICES];

/// Names of the results for datagrams to the port for notices of sentinels (feature `sentinel`): the notice is
/// believed, or the reason why it is not.
const NOTICES: &[&str] = &[
    "notice_believed",
    "notice_malformed",
    "notice_unknown_node",
    "notice_other_incarnation",
    "notice_wrong_bytes",
    "notice_replayed",
];

impl BridgeCounters {
    /// Returns counters that are all zero.
    pub(crate) fn new() -> Self {
        let names = NAMES.into_iter().flatten();
        Self(names.map(|_| AtomicU64::new(0)).collect())
    }

    /// Adds one to the count of this name.
    pub(crate) fn count(&self, name: &str) {
        self.add(name, 1);
    }

    /// Adds `times` to the count of this name.
    pub(crate) fn add(&self, name: &str, times: u64) {
        let mut all = NAMES.into_iter().flatten().zip(&self.0);
        let found = all.find(|(of, _)| **of == name);
        debug_assert!(found.is_some(), "no counter has the name {name}");
        if let Some((_, counter)) = found {
            counter.fetch_add(times, Relaxed);
        }
    }

    /// Returns the present counts of the bridge, together with `packets`, the counts of the network.
    fn read(&self, packets: Vec<(&'static str, u64)>) -> BridgeCounts {
        let mut numbers = self.0.iter().map(|counter| counter.load(Relaxed));
        let [closed, dropped, notices] =
            NAMES.map(|names| Named(names.iter().copied().zip(numbers.by_ref()).collect()));
        BridgeCounts {
            closed,
            dropped,
            notices,
            packets: Named(packets),
        }
    }
}

/// The counts so far, each with its name.
///
/// | closed links | because |
/// |---|---|
/// | `handshake_timeout`, `frame_timeout` | the first exchange, or a frame, was not complete in time |
/// | `frame_too_large`, `malformed`, `protocol`, `sequence` | the peer sent a frame that is too long, is not of this protocol, comes at the wrong point, or is missing or repeated |
/// | `version`, `cluster` | the two sides have no common version, or belong to two clusters |
/// | `self`, `stale`, `name_held`, `wrong_link` | the peer has this node's name; a later process with the peer's name is known; an earlier process with the peer's name is still linked; the peer confirmed another connection |
/// | `auth_failed`, `tls`, `secret` | a name or the peer's certificate is not accepted; TLS failed, only one side speaks it, or the peer does not accept this node's certificate; the secrets differ |
/// | `from_not_allowed`, `role`, `term`, `unknown_targets` | the peer spoke for an agent that is not its own, exceeded its rights, sent an impossible term, or wrote too often to agents that are not here |
/// | `too_many_agents`, `openings`, `rate`, `too_many_connections`, `peer_limit` | the peer exceeded a limit of this node; `peer_limit`: this node would exceed a limit of the peer |
/// | `slow_peer`, `silent`, `lost` | the peer does not read; the peer sends nothing; the connection ended |
/// | `replaced`, `goodbye`, `leaving` | another link to the peer took over; the peer said goodbye; this node stops, or has removed the peer |
///
/// | dropped messages | because |
/// |---|---|
/// | `unknown_group`, `unknown_agent` | the group is not carried here; the receiver is not in this process |
/// | `mismatch`, `former_incarnation`, `refused_name` | the two sides follow different rules in the group; the sender has restarted since; the sender is not a member under the name of its node |
/// | `mailbox_full` | the receiver is too slow: one for each receiver |
/// | `unvouched_term` | one voter alone sent a term that is far above all known terms |
/// | `too_much_for_peer` | the message has more items, longer texts or a longer frame than the peer accepts, and was not sent |
///
/// | notices of sentinels | meaning |
/// |---|---|
/// | `notice_believed` | the end of a process is known by it |
/// | `notice_malformed`, `notice_unknown_node`, `notice_other_incarnation`, `notice_wrong_bytes`, `notice_replayed` | the reason why it is not believed |
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BridgeCounts {
    pub(super) closed: Named,
    dropped: Named,
    notices: Named,
    packets: Named,
}

/// Counts with their names; as JSON an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named(pub(super) Vec<(&'static str, u64)>);

impl BridgeCounts {
    /// Returns the count of this name; `None` if nothing is counted under it.
    pub fn get(&self, name: &str) -> Option<u64> {
        self.iter().find(|(of, _)| *of == name).map(|(_, n)| n)
    }

    /// Returns every name with its count: first the closed links, then the dropped messages, then the notices of
    /// sentinels, then the packets that a message network delivered although nothing accepts them.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let all = [&self.closed, &self.dropped, &self.notices, &self.packets];
        all.into_iter().flat_map(|named| named.0.iter().copied())
    }
}

impl BridgeState {
    /// Returns the counts so far, of this bridge and of its network.
    pub(crate) fn counts(&self) -> BridgeCounts {
        self.counters.read(self.transport.refused())
    }
}

impl Serialize for Named {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::wire::WireError;

    #[test]
    fn each_reason_is_counted_under_its_name() {
        let counters = BridgeCounters::new();
        for error in [WireError::Truncated, WireError::Trailing] {
            counters.count(Closed::Malformed(error).name());
        }
        counters.count(DropReason::FormerIncarnation.name());
        let counts = counters.read(vec![("packet_stray", 3)]);
        assert_eq!(counts.get("malformed"), Some(2));
        assert_eq!(counts.get("stale"), Some(0));
        assert_eq!(counts.get("packet_malformed"), None, "no such network");
        let counted: Vec<_> = counts.iter().filter(|(_, n)| *n > 0).collect();
        let expected = [
            ("malformed", 2),
            ("former_incarnation", 1),
            ("packet_stray", 3),
        ];
        assert_eq!(counted, expected);
    }

    #[test]
    fn the_page_explains_every_name() {
        let page: Vec<_> = include_str!("counters.rs").lines().collect();
        for name in NAMES.into_iter().flatten() {
            let quoted = format!("`{name}`");
            let is_there = |line: &&str| line.starts_with("/// |") && line.contains(&quoted);
            assert!(page.iter().any(is_there), "{name}");
        }
    }

    #[test]
    fn counts_as_json_have_every_name() {
        let counters = BridgeCounters::new();
        counters.count(Closed::Version.name());
        counters.count(DropReason::MailboxFull.name());
        let counts = counters.read(vec![("packet_stray", 2)]);
        assert_eq!(
            serde_json::to_string(&counts).unwrap(),
            concat!(
                r#"{"closed":{"handshake_timeout":0,"frame_too_large":0,"frame_timeout":0,"malformed":0,"#,
                r#""protocol":0,"version":1,"cluster":0,"self":0,"tls":0,"auth_failed":0,"#,
                r#""stale":0,"wrong_link":0,"sequence":0,"from_not_allowed":0,"unknown_targets":0,"#,
                r#""term":0,"too_many_agents":0,"rate":0,"slow_peer":0,"silent":0,"replaced":0,"#,
                r#""too_many_connections":0,"lost":0,"goodbye":0,"leaving":0,"secret":0,"role":0,"#,
                r#""openings":0,"peer_limit":0,"name_held":0},"dropped":{"unknown_group":0,"unknown_agent":0,"mismatch":0,"#,
                r#""former_incarnation":0,"refused_name":0,"mailbox_full":1,"unvouched_term":0,"too_much_for_peer":0},"#,
                r#""notices":{"notice_believed":0,"notice_malformed":0,"notice_unknown_node":0,"#,
                r#""notice_other_incarnation":0,"notice_wrong_bytes":0,"notice_replayed":0},"#,
                r#""packets":{"packet_stray":2}}"#
            )
        );
    }
}
