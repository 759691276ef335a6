//! The times at which the leaders of the groups were last heard, on any link of this side.
//!
//! Nothing is decided here. Read next how these times are used ([`quiet`](crate::remote::link)).

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::{protocol::Time, remote::bridge::shared::BridgeState};

/// The times at which leaders were heard, by the bridge's clock; 0 before the first heartbeat.
#[derive(Debug)]
pub(crate) struct LeadersHeard {
    /// One time for each carried group, in their order.
    beats: Vec<AtomicU64>,
    alarm: AtomicU64,
}

impl LeadersHeard {
    pub(crate) fn new(groups: usize) -> Self {
        Self {
            beats: (0..groups).map(|_| AtomicU64::new(0)).collect(),
            alarm: AtomicU64::new(0),
        }
    }

    /// Notes a heartbeat of a group's leader.
    pub(crate) fn beat(&self, group: usize, now: Time) {
        if let Some(beat) = self.beats.get(group) {
            beat.store(now.as_nanos().max(1), Relaxed);
        }
    }

    pub(crate) fn last_beat(&self, group: usize) -> Option<Time> {
        read(self.beats.get(group)?)
    }

    /// Returns the time at which a leader last fell silent, if ever.
    pub(crate) fn last_alarm(&self) -> Option<Time> {
        read(&self.alarm)
    }
}

fn read(nanos: &AtomicU64) -> Option<Time> {
    let nanos = nanos.load(Relaxed);
    (nanos > 0).then(|| Time::ZERO.after(std::time::Duration::from_nanos(nanos)))
}

impl BridgeState {
    /// Notes that a leader has fallen silent: every link sends a ping to its peer.
    pub(crate) fn rouse_links(&self) {
        let nanos = self.now().as_nanos().max(1);
        self.leaders.alarm.store(nanos, Relaxed);
        for peer in self.peers() {
            peer.agents().outbox.wake();
        }
    }
}
