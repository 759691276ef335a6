//! When leaders were last heard, on any link of this side.
//!
//! Decided here: nothing. What follows from it: [`quiet`](crate::remote::link).

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::{protocol::Time, remote::bridge::shared::BridgeState};

/// By the bridge's clock; 0 before the first.
#[derive(Debug)]
pub(crate) struct LeadersHeard {
    /// One for each group that is carried, in their order.
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

    /// A heartbeat of a group's leader came.
    pub(crate) fn beat(&self, group: usize, now: Time) {
        if let Some(beat) = self.beats.get(group) {
            beat.store(now.as_nanos().max(1), Relaxed);
        }
    }

    pub(crate) fn last_beat(&self, group: usize) -> Option<Time> {
        read(self.beats.get(group)?)
    }

    /// When a leader last fell silent.
    pub(crate) fn last_alarm(&self) -> Option<Time> {
        read(&self.alarm)
    }
}

fn read(nanos: &AtomicU64) -> Option<Time> {
    let nanos = nanos.load(Relaxed);
    (nanos > 0).then(|| Time::ZERO.after(std::time::Duration::from_nanos(nanos)))
}

impl BridgeState {
    /// A leader has fallen silent: every link is asked whether its peer is there.
    pub(crate) fn rouse_links(&self) {
        let nanos = self.now().as_nanos().max(1);
        self.leaders.alarm.store(nanos, Relaxed);
        for peer in self.peers() {
            peer.agents().outbox.wake();
        }
    }
}
