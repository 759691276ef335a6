//! The settings of a history, drawn by its seed: number of hosts, mode, network.
//!
//! Decided here: the ranges of these settings, and the longest time to agreement after the repair. Not here: the
//! order of the faults, which is drawn during the history.

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
    /// Number of hosts: two, three or five. One host has all agents and needs no bridge.
    pub hosts: usize,
    /// Number of agents: one on each host, or three on a single host.
    pub agents: usize,
    /// Whether agents use the quorum mode, with votes, leases and disks; otherwise the available mode.
    pub is_quorum: bool,
    /// Whether the voters have no disks. The memory of the other voters and the clocks replace the disks.
    pub is_diskless: bool,
    /// Whether all clocks run at the same rate and none is set. Then the terms of voters without disks increase, even
    /// if all voters forget them.
    pub is_steady: bool,
    /// Number of agents that are voters at first. The other agents are learners if the voters can change.
    pub voters: usize,
    /// Whether agents may be lost for good. Then no list may become too short to bear a loss.
    pub is_lossy: bool,
    /// Whether a dial whose packets are lost gets no answer; otherwise the dial is refused at once.
    pub is_silent: bool,
    /// Whether only one host of each pair dials; otherwise both hosts dial.
    pub is_one_sided: bool,
    /// Longest way of a packet, in milliseconds.
    pub latency: u64,
    /// Longest way to the disk, in milliseconds.
    pub disk: u64,
    /// Rate of each host's clock, in percent of the simulated time. The timers of the host use the simulated time.
    pub clocks: [u64; 5],
    /// Whether disks forget their records. The flag is never drawn, because it breaks promises.
    pub is_forgetful: bool,
    /// Whether sentinels report the end of a process that only stands still. The flag is never drawn, because it
    /// breaks promises.
    pub is_pause_told: bool,
    /// Whether agents have schedules and proxies. The flag is never drawn, because it changes the messages.
    pub has_application: bool,
    /// The timings of each agent's first start.
    pub speeds: [Speed; 5],
    /// Whether the timings of the agents are changed, one agent after the other.
    pub is_rolling: bool,
    pub kinds: Kinds,
    pub faults: u32,
    /// Longest time between two faults, in milliseconds.
    pub pause: u64,
}

/// Number of `ping_after` intervals for each peer of a bridge, after which the bridge asks a quiet link.
const QUIET: u32 = 16;

impl Plan {
    /// Draws the plan of a history with these kinds of faults.
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
            // By default the clock of an agent in available mode is the clock of its timers. A faster clock would
            // find that every long wait is late, as after a stall, and would begin the wait again.
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

    /// Draws the voters of a group that change. In most groups some agents are learners at first.
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

    /// Draws the settings of voters without disks. All voters have the same longest promise, and no clock may be far
    /// ahead of another.
    fn draw_diskless(&mut self, rng: &mut Rng) {
        (self.is_quorum, self.is_diskless) = (true, true);
        self.is_steady = rng.bool();
        self.speeds = [Speed::Usual; 5];
        self.is_rolling = false;
        // A start takes longer than with disks, and a fault has to come after the start as well.
        self.pause = [600, 3_000, 5_000][rng.usize(..3)];
        self.clocks = [(); 5].map(|()| {
            if self.is_steady {
                100
            } else {
                rng.u64(95..=105)
            }
        });
    }

    /// Returns the longest time from a start of all hosts until a voter without a disk takes part.
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

    /// Returns the list of voters that every agent has in its configuration.
    pub fn first_voters(&self) -> Vec<AgentId> {
        let first = 0..self.agents.min(self.voters);
        first.map(agent_of).collect()
    }

    pub const fn is_one_process(&self) -> bool {
        self.hosts == 1
    }

    /// Returns the default limits, but no wait takes minutes.
    pub fn limits() -> Limits {
        let limits = Limits::builder()
            .handshake(Duration::from_secs(1))
            .dial_max(Duration::from_secs(2));
        limits.build().expect("within their ranges")
    }

    /// Returns the longest time from the repair until every host is linked to every other host: the old link falls
    /// silent, a dial under way is given up, then the back-off and one more handshake. If only one host of each pair
    /// dials, a host that was without power cannot dial half of its peers. These peers only find the old link broken
    /// when they next ask it, and they seldom ask a quiet link.
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

    /// Returns the longest time from the repair until all agents follow one leader: the time until all hosts are
    /// linked, and the formula of [`Timings`] for the mode's election.
    pub fn agreed(&self) -> Duration {
        let of = |speed: &Speed| self.elected(&speed.timings());
        let elected = Speed::IN_THE_END.iter().map(of).max();
        let elected = elected.unwrap_or_default();
        let changed = if self.changes_voters() {
            // A change that was requested before the repair may still come, and it begins one more election.
            LONGEST_ASK + 2 * elected
        } else {
            Duration::ZERO
        };
        self.reconnected() + elected + changed
    }

    /// Returns the time for which agreement must last before it counts. A leader still leads while its work ends, and
    /// after that time no requested change can come any more.
    pub fn settled(&self) -> Duration {
        let lease = |speed: &Speed| speed.timings().lease();
        let longest = Speed::IN_THE_END.iter().map(lease).max();
        let changed = longest.filter(|_| self.changes_voters());
        // The bridge notices a killed sentinel within a second. It notices the second killed sentinel of a process
        // two seconds later. Then the node is linked anew.
        let relinked = self.has_sentinels().then_some(Duration::from_secs(5));
        changed.max(relinked).unwrap_or_default()
    }

    /// Returns the longest interval between two heartbeats of a leader.
    pub fn heartbeat(&self) -> Duration {
        let of = |speed: &Speed| Some(speed.timings().detector()?.heartbeat);
        let longest = Speed::IN_THE_END.iter().filter_map(of).max();
        longest.unwrap_or_default()
    }

    /// Returns the longest time of an election with these timings, after all hosts are linked.
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
    /// The default timings, which allow 40 ms for a message and its handling.
    Usual,
    /// Timings with the same bound on a message and about half the promise.
    Brisk,
    /// [`Timings::lan`], which are too short for this network: agents are safe, but may have no leader. A history
    /// ends with other timings.
    Lan,
}

impl Speed {
    /// The timings with which a history may end.
    const IN_THE_END: [Self; 2] = [Self::Usual, Self::Brisk];

    /// Returns the timings that agents change to and from, if the plan changes timings.
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
