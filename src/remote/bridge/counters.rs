//! Counters of closed links, dropped messages, notices and ignored packets. They explain why a message was lost.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::{Serialize, Serializer, ser::SerializeStruct};

use crate::remote::{Closed, DropReason, bridge::shared::BridgeState, transport::RefusedPackets};

/// One counter for each reason. All links of a bridge share them, and they can be read at any time.
#[derive(Debug, Default)]
pub struct BridgeCounters {
    closed: [AtomicU64; Closed::NAMES.len()],
    dropped: [AtomicU64; DropReason::NAMES.len()],
    notices: [AtomicU64; NOTICES.len()],
}

impl BridgeCounters {
    /// Returns counters that are all zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts a link that was closed.
    pub fn closed(&self, why: Closed) {
        count(self.closed.get(why.index()));
    }

    /// Counts a message that was dropped.
    pub fn dropped(&self, why: DropReason) {
        count(self.dropped.get(why.index()));
    }

    /// Counts a datagram that was sent to the port for notices of sentinels: either a believed notice, or the reason
    /// why it was not believed.
    #[cfg(feature = "sentinel")]
    pub(crate) fn notice(&self, refused: Option<crate::remote::sentinel::NoticeRefused>) {
        use crate::remote::sentinel::NoticeRefused as Why;
        let at = match refused {
            None => 0,
            Some(Why::Malformed) => 1,
            Some(Why::UnknownNode) => 2,
            Some(Why::OtherIncarnation) => 3,
            Some(Why::WrongBytes) => 4,
            Some(Why::Replayed) => 5,
        };
        count(self.notices.get(at));
    }

    /// Returns the present numbers.
    #[must_use]
    pub fn read(&self) -> BridgeCounts {
        BridgeCounts {
            closed: self.closed.each_ref().map(|n| n.load(Relaxed)),
            dropped: self.dropped.each_ref().map(|n| n.load(Relaxed)),
            notices: self.notices.each_ref().map(|n| n.load(Relaxed)),
            packets: Default::default(),
        }
    }
}

/// Names of the results for datagrams to the port for notices of sentinels (feature `sentinel`): the notice is
/// believed, or the reason why it is not.
const NOTICES: [&str; 6] = [
    "notice_believed",
    "notice_malformed",
    "notice_unknown_node",
    "notice_other_incarnation",
    "notice_wrong_bytes",
    "notice_replayed",
];

/// Names of the counts of ignored packets, on a network that carries messages and not streams of bytes;
/// [`RefusedPackets`] has the counts.
const PACKETS: [&str; 4] = [
    "packet_malformed",
    "packet_stray",
    "packet_refused",
    "token_refused",
];

fn count(counter: Option<&AtomicU64>) {
    if let Some(counter) = counter {
        counter.fetch_add(1, Relaxed);
    }
}

/// The counts so far, by the names of [`Closed`] and `DropReason`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BridgeCounts {
    closed: [u64; Closed::NAMES.len()],
    dropped: [u64; DropReason::NAMES.len()],
    notices: [u64; NOTICES.len()],
    packets: [u64; PACKETS.len()],
}

impl BridgeCounts {
    /// Returns the number of links that were closed for this reason, whatever the details of the reason.
    #[must_use]
    pub fn closed(&self, why: Closed) -> u64 {
        self.closed.get(why.index()).copied().unwrap_or_default()
    }

    /// Adds the packets that the network has refused.
    pub(crate) const fn with_refused(mut self, refused: RefusedPackets) -> Self {
        let RefusedPackets {
            malformed,
            stray,
            connections,
            tokens,
        } = refused;
        self.packets = [malformed, stray, connections, tokens];
        self
    }

    /// Returns the number of messages that were dropped for this reason.
    #[must_use]
    #[cfg(feature = "testkit")]
    pub fn dropped(&self, why: DropReason) -> u64 {
        self.dropped.get(why.index()).copied().unwrap_or_default()
    }

    /// Returns every name with its count: first the closed links, then the dropped messages, then the notices of
    /// sentinels, then the packets that a message network delivered although nothing accepts them.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let closed = Closed::NAMES.iter().zip(&self.closed);
        let dropped = DropReason::NAMES.iter().zip(&self.dropped);
        let notices = NOTICES.iter().zip(&self.notices);
        let packets = PACKETS.iter().zip(&self.packets);
        closed
            .chain(dropped)
            .chain(notices)
            .chain(packets)
            .map(|(name, n)| (*name, *n))
    }
}

impl BridgeState {
    /// Returns the counts so far, of this bridge and of its network.
    pub(crate) fn counts(&self) -> BridgeCounts {
        let refused = self.transport.refused();
        self.counters.read().with_refused(refused)
    }
}

impl Serialize for BridgeCounts {
    /// Writes four objects, `closed`, `dropped`, `notices` and `packets`, with every name and its count.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut all = to.serialize_struct("BridgeCounts", 4)?;
        all.serialize_field("closed", &Named(Closed::NAMES, &self.closed))?;
        all.serialize_field("dropped", &Named(DropReason::NAMES, &self.dropped))?;
        all.serialize_field("notices", &Named(&NOTICES, &self.notices))?;
        all.serialize_field("packets", &Named(&PACKETS, &self.packets))?;
        all.end()
    }
}

struct Named<'a>(&'a [&'a str], &'a [u64]);

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(names, numbers) = self;
        to.collect_map(names.iter().zip(numbers.iter()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::wire::WireError;

    #[test]
    fn each_reason_is_counted_under_its_name() {
        let counters = BridgeCounters::new();
        counters.closed(Closed::Malformed(WireError::Truncated));
        counters.closed(Closed::Malformed(WireError::Trailing));
        counters.dropped(DropReason::FormerIncarnation);
        let counts = counters.read();
        assert_eq!(counts.closed(WireError::Depth.into()), 2);
        assert_eq!(counts.dropped(DropReason::FormerIncarnation), 1);
        let counted: Vec<_> = counts.iter().filter(|(_, n)| *n > 0).collect();
        assert_eq!(counted, [("malformed", 2), ("former_incarnation", 1)]);
    }

    #[test]
    fn counts_as_json_have_every_name() {
        let counters = BridgeCounters::new();
        counters.closed(Closed::Version);
        counters.dropped(DropReason::MailboxFull);
        assert_eq!(
            serde_json::to_string(&counters.read()).unwrap(),
            concat!(
                r#"{"closed":{"handshake_timeout":0,"frame_too_large":0,"frame_timeout":0,"malformed":0,"#,
                r#""protocol":0,"version":1,"cluster":0,"self":0,"feature":0,"auth_failed":0,"tls":0,"#,
                r#""stale":0,"wrong_link":0,"sequence":0,"from_not_allowed":0,"unknown_targets":0,"#,
                r#""term":0,"too_many_agents":0,"rate":0,"slow_peer":0,"silent":0,"replaced":0,"#,
                r#""too_many_connections":0,"lost":0,"goodbye":0,"leaving":0,"secret":0,"role":0,"#,
                r#""openings":0,"peer_limit":0,"name_held":0},"dropped":{"unknown_group":0,"unknown_agent":0,"mismatch":0,"#,
                r#""former_incarnation":0,"refused_name":0,"mailbox_full":1,"unvouched_term":0,"too_much_for_peer":0},"#,
                r#""notices":{"notice_believed":0,"notice_malformed":0,"notice_unknown_node":0,"#,
                r#""notice_other_incarnation":0,"notice_wrong_bytes":0,"notice_replayed":0},"#,
                r#""packets":{"packet_malformed":0,"packet_stray":0,"packet_refused":0,"token_refused":0}}"#
            )
        );
    }
}
