//! What a history is made of, drawn by its seed: how many hosts, which mode, which network.
//!
//! Decided here: the ranges, and from them how long agreement may take after everything is
//! repaired. Not here: which fault comes when; that is drawn as the history goes.

use std::time::Duration;

use actix_bully::{protocol::Timings, remote::Limits};
use fastrand::Rng;

/// The settings of one history.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is drawn for itself, and any may come with any"
)]
pub struct Plan {
    /// Two, three or five.
    pub hosts: usize,
    /// Votes, leases and disks; otherwise the available mode.
    pub is_quorum: bool,
    /// Lost packets of a dial are silent; otherwise they refuse it at once.
    pub is_silent: bool,
    /// Of two hosts one dials only; otherwise both do.
    pub is_one_sided: bool,
    /// The longest way of a packet, in milliseconds.
    pub latency: u64,
    /// The longest way to the disk, in milliseconds.
    pub disk: u64,
    /// How fast each host's clock runs, in percent of the simulated time.
    pub clocks: [u64; 5],
    /// Whether disks forget what was written; never drawn, because it breaks promises.
    pub is_forgetful: bool,
    /// How many faults.
    pub faults: u32,
    /// The longest time between two of them, in milliseconds.
    pub pause: u64,
}

impl Plan {
    /// Draws one.
    pub fn draw(rng: &mut Rng) -> Self {
        Self {
            hosts: [2, 3, 3, 3, 3, 3, 3, 5][rng.usize(..8)],
            is_quorum: rng.bool(),
            is_silent: rng.u8(..4) > 0,
            is_one_sided: rng.u8(..4) == 0,
            latency: rng.u64(3..=25),
            disk: rng.u64(0..=5),
            clocks: [(); 5].map(|()| rng.u64(90..=110)), // leases allow for 11 %
            is_forgetful: false,
            faults: rng.u32(4..=12),
            pause: [150, 600, 1_500][rng.usize(..3)],
        }
    }

    /// The default ones; at most 40 ms for a message and its handling.
    #[must_use]
    pub fn timings() -> Timings {
        Timings::default()
    }

    /// The default ones, but that nobody waits for minutes.
    ///
    /// # Panics
    /// Never: they are within their ranges.
    #[must_use]
    pub fn limits() -> Limits {
        let limits = Limits::builder()
            .handshake(Duration::from_secs(1))
            .dial_max(Duration::from_secs(2));
        limits.build().expect("within their ranges")
    }

    /// The longest until every host is linked to every other one after all is repaired: the old
    /// link falls silent, a dial that is under way is given up, its back-off, one more handshake.
    #[must_use]
    pub fn reconnected(&self) -> Duration {
        let limits = Self::limits();
        limits.silence() + limits.ping_after() + 2 * limits.handshake() + limits.dial_max()
    }

    /// The longest until all follow one leader after all is repaired: the links, and then the
    /// formula of the mode's election, as [`Timings`] says it.
    #[must_use]
    pub fn agreed(&self) -> Duration {
        let timings = Self::timings();
        let above = u32::try_from(self.hosts).unwrap_or(u32::MAX) - 1;
        let heard = timings.detector().map_or(Duration::ZERO, |d| d.heartbeat);
        let elected = if self.is_quorum {
            timings.worst_case_quorum_failover(above)
        } else {
            timings.worst_case_failover(above).unwrap_or_default() + timings.deadline()
        };
        self.reconnected() + elected + heard + timings.delay_bound() * 2
    }
}
