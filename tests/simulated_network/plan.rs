//! What a history is made of, drawn by its seed: how many hosts, which mode, which network.
//!
//! Decided here: the ranges, and from them how long agreement may take after everything is
//! repaired. Not here: which fault comes when; that is drawn as the history goes.

use std::time::Duration;

use actix_bully::{
    elections::quorum::QuorumConfig,
    protocol::{AgentId, Timings},
    remote::Limits,
};
use bully_core::elections::quorum::Diskless;
use fastrand::Rng;

use crate::{
    kinds::{Fault, Kinds},
    setting::agent_of,
    voters::LONGEST_ASK,
};

/// The settings of one history.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is drawn for itself, and any may come with any"
)]
pub struct Plan {
    /// Two, three or five; one for all agents, which then need no bridge.
    pub hosts: usize,
    /// One for each host, or three on a single one.
    pub agents: usize,
    /// Votes, leases and disks; otherwise the available mode.
    pub is_quorum: bool,
    /// The voters have no disks: the others' memory and the clocks take their place.
    pub is_diskless: bool,
    /// All clocks run alike and none is set, so that the terms of voters without disks increase whatever is forgotten.
    pub is_steady: bool,
    /// How many of the agents are voters at first; the others are learners where voters change.
    pub voters: usize,
    /// Agents may be lost for good; then no list may become so short that it cannot bear that.
    pub is_lossy: bool,
    /// Lost packets of a dial are silent; otherwise they refuse it at once.
    pub is_silent: bool,
    /// Of two hosts one dials only; otherwise both do.
    pub is_one_sided: bool,
    /// The longest way of a packet, in milliseconds.
    pub latency: u64,
    /// The longest way to the disk, in milliseconds.
    pub disk: u64,
    /// How fast each host's clock runs, in percent of the simulated time, by which its timers go.
    pub clocks: [u64; 5],
    /// Whether disks forget what was written; never drawn, because it breaks promises.
    pub is_forgetful: bool,
    /// Whether sentinels take a process that stands still for one that has ended; never drawn either.
    pub is_pause_told: bool,
    /// Whether agents have schedules and proxies; never drawn, because it changes what is sent.
    pub has_application: bool,
    /// The timings that each agent starts with.
    pub speeds: [Speed; 5],
    /// The timings of agents are changed, one after the other.
    pub is_rolling: bool,
    pub kinds: Kinds,
    pub faults: u32,
    /// The longest time between two of them, in milliseconds.
    pub pause: u64,
}

/// A bridge asks a quiet link after so many times `ping_after`, and that for each peer.
const QUIET: u32 = 16;

impl Plan {
    /// Draws one, with these kinds of faults.
    pub fn draw(rng: &mut Rng, kinds: &Kinds) -> Self {
        let hosts = [1, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 5, 5, 5][rng.usize(..16)];
        let mixed = rng.u8(..6);
        let is_rolling = mixed > 3 && kinds.contains(&Fault::Retime);
        let speeds = [(); 5].map(|()| match mixed {
            3 => [Speed::Usual, Speed::Brisk][rng.usize(..2)],
            4 if is_rolling => [Speed::Usual, Speed::Brisk][rng.usize(..2)],
            5 if is_rolling => [Speed::Usual, Speed::Lan][rng.usize(..2)],
            _ => Speed::Usual,
        });
        let mut plan = Self {
            hosts,
            agents: if hosts == 1 { 3 } else { hosts },
            is_quorum: rng.u8(..3) > 0,
            is_diskless: false,
            is_steady: false,
            voters: usize::MAX,
            is_lossy: false,
            is_silent: rng.u8(..4) > 0,
            is_one_sided: rng.u8(..4) == 0,
            latency: rng.u64(3..=25),
            disk: rng.u64(0..=5),
            clocks: [(); 5].map(|()| rng.u64(90..=110)), // leases allow for 11 %
            is_forgetful: false,
            is_pause_told: false,
            has_application: false,
            speeds,
            is_rolling,
            kinds: kinds.clone(),
            faults: rng.u32(4..=12),
            pause: [150, 600, 1_500][rng.usize(..3)],
        };
        if !plan.is_quorum {
            // By default its clock is that of its timers. One that is faster finds every long wait
            // late, as after a stall, and begins it anew.
            plan.clocks = [100; 5];
        }
        if plan.changes_voters() {
            plan.draw_voters(rng);
        }
        if kinds.contains(&Fault::Outage) {
            plan.draw_diskless(rng);
        }
        plan
    }

    /// Of most groups some agents are learners at first.
    fn draw_voters(&mut self, rng: &mut Rng) {
        self.is_quorum = true;
        (self.hosts, self.agents, self.voters) = [
            (1, 5, 3),
            (3, 3, 2),
            (3, 3, 3),
            (4, 4, 3),
            (5, 5, 3),
            (5, 5, 4),
        ][rng.usize(..6)];
        self.is_lossy = !self.is_one_process() && self.voters > 2 && rng.bool();
    }

    /// Without disks all agree on the longest promise, and no clock may be far ahead of another one.
    fn draw_diskless(&mut self, rng: &mut Rng) {
        (self.is_quorum, self.is_diskless) = (true, true);
        self.is_steady = rng.bool();
        self.speeds = [Speed::Usual; 5];
        self.is_rolling = false;
        // A start takes longer than with disks, and something has to happen after it as well.
        self.pause = [600, 3_000, 5_000][rng.usize(..3)];
        self.clocks = [(); 5].map(|()| {
            if self.is_steady {
                100
            } else {
                rng.u64(95..=105)
            }
        });
    }

    /// The longest until a voter without a disk takes part, after a start of all.
    pub fn begun(&self, timings: &Timings) -> Duration {
        let config = QuorumConfig {
            timings: timings.clone(),
            diskless: Some(Diskless::default()),
            ..QuorumConfig::new(self.first_voters())
        };
        config.worst_case_start(0)
    }

    pub fn changes_voters(&self) -> bool {
        self.kinds.contains(&Fault::ChangeVoters)
    }

    pub fn has_sentinels(&self) -> bool {
        self.kinds.contains(&Fault::KillSentinel) && !self.is_one_process()
    }

    /// The list that is configured at every agent.
    pub fn first_voters(&self) -> Vec<AgentId> {
        let first = 0..self.agents.min(self.voters);
        first.map(agent_of).collect()
    }

    pub const fn is_one_process(&self) -> bool {
        self.hosts == 1
    }

    /// The default ones, but that no wait takes minutes.
    pub fn limits() -> Limits {
        let limits = Limits::builder()
            .handshake(Duration::from_secs(1))
            .dial_max(Duration::from_secs(2));
        limits.build().expect("within their ranges")
    }

    /// The longest until every host is linked to every other one after all is repaired: the old
    /// link falls silent, a dial that is under way is given up, its back-off, one more handshake. A host that lost its power
    /// and is back cannot dial the half of its peers if one of two hosts dials only: these find the old link broken when
    /// they ask next, which on a quiet link is seldom.
    pub fn reconnected(&self) -> Duration {
        let limits = Self::limits();
        let linked =
            limits.silence() + limits.ping_after() + 2 * limits.handshake() + limits.dial_max();
        let peers = u32::try_from(self.hosts.saturating_sub(1)).unwrap_or(u32::MAX);
        let seldom = QUIET * limits.ping_after() * peers;
        linked
            + if self.is_one_sided {
                seldom
            } else {
                Duration::ZERO
            }
    }

    /// The longest until all follow one leader after all is repaired: the links, and then the
    /// formula of the mode's election, as [`Timings`] says it.
    pub fn agreed(&self) -> Duration {
        let of = |speed: &Speed| self.elected(&speed.timings());
        let elected = Speed::IN_THE_END.iter().map(of).max();
        let elected = elected.unwrap_or_default();
        let changed = if self.changes_voters() {
            // A change that was asked for before the repair may still come, and begins one more election.
            LONGEST_ASK + 2 * elected
        } else {
            Duration::ZERO
        };
        self.reconnected() + elected + changed
    }

    /// How long agreement has to last before no change that was asked for can come any more: a leader leads on while
    /// its work ends.
    pub fn settled(&self) -> Duration {
        let lease = |speed: &Speed| speed.timings().lease();
        let longest = Speed::IN_THE_END.iter().map(lease).max();
        let changed = longest.filter(|_| self.changes_voters());
        // A sentinel that was killed is missed within a second, the second one of a process two seconds later; then its
        // node is linked anew.
        let relinked = self.has_sentinels().then_some(Duration::from_secs(5));
        changed.max(relinked).unwrap_or_default()
    }

    /// The longest interval between the heartbeats of a leader.
    pub fn heartbeat(&self) -> Duration {
        let of = |speed: &Speed| Some(speed.timings().detector()?.heartbeat);
        let longest = Speed::IN_THE_END.iter().filter_map(of).max();
        longest.unwrap_or_default()
    }

    /// The longest election after all are linked, with these timings.
    fn elected(&self, timings: &Timings) -> Duration {
        let above = u32::try_from(self.agents).unwrap_or(u32::MAX) - 1;
        let heard = timings.detector().map_or(Duration::ZERO, |d| d.heartbeat);
        let elected = if self.is_diskless {
            self.begun(timings) + timings.worst_case_quorum_failover(above)
        } else if self.is_quorum {
            timings.worst_case_quorum_failover(above)
        } else {
            timings.worst_case_failover(above).unwrap_or_default() + timings.deadline()
        };
        elected + heard + timings.delay_bound() * 2
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speed {
    /// The default ones; at most 40 ms for a message and its handling.
    Usual,
    /// With the same bound on a message, and about half the promise.
    Brisk,
    /// [`Timings::lan`], which this network is too slow for: safe, and no more. A history ends
    /// with others.
    Lan,
}

impl Speed {
    /// Those that a history may end with.
    const IN_THE_END: [Self; 2] = [Self::Usual, Self::Brisk];

    /// What agents change to and from, where timings are changed.
    pub(crate) fn other(plan: &Plan) -> Self {
        let other = plan.speeds.iter().find(|speed| **speed != Self::Usual);
        other.copied().unwrap_or(Self::Brisk)
    }

    pub fn timings(self) -> Timings {
        let ms = Duration::from_millis;
        match self {
            Self::Usual => Timings::default(),
            Self::Brisk => {
                let brisk = Timings::default().to_builder();
                let brisk = brisk.detector(ms(100), ms(500)).lease(ms(400), ms(500));
                brisk.build().expect("within their ranges")
            }
            Self::Lan => Timings::lan(),
        }
    }
}
