//! The quorum election without disks: the wall clocks of the hosts, and the time until all have recovered.
//!
//! The properties are those with disks, except for the terms: they increase while a majority remembers, and after that
//! only if no wall clock is ahead of another. Half of the histories have such clocks; in the others the clocks run at
//! rates as different as promises allow.

use std::{collections::BTreeMap, time::Duration};

use super::{QuorumScenario, Watched, draw, timings_of};
use bully_core::{
    elections::quorum::{Diskless, QuorumConfig},
    protocol::{AgentId, SettingError, Timings},
    random::SplitMix64,
};
use bully_sim::sim::{Participant, World, chaos::Scenario};

/// Reading of all wall clocks when a history begins: a day in 2026.
const DAY: u64 = 90_000_000_000;

/// The wall clock of each voter's host.
#[derive(Clone, Debug, Default)]
pub(super) struct Hosts {
    at_zero: BTreeMap<AgentId, u64>,
}

impl QuorumScenario {
    /// Returns a scenario with the first `n` agents as voters without disks. With an odd seed the clocks agree, and the
    /// history must run without skew.
    ///
    /// # Errors
    /// [`SettingError`] when `n` is zero.
    pub fn diskless(seed: u64, n: usize) -> Result<Self, SettingError> {
        // With the slowest timings a history would take so long that its clocks differ by more than 10 s.
        let drawn = timings_of(seed);
        let timings = if drawn == Timings::wan() {
            Timings::default()
        } else {
            drawn
        };
        let config = draw(seed, n, timings)?;
        let has_right_clocks = Self::diskless_skew(seed) == 0;
        Ok(Self::without_disks(&config, has_right_clocks))
    }

    /// Returns the skew of the clocks in the history of this seed, in parts per million.
    pub const fn diskless_skew(seed: u64) -> u32 {
        match seed % 4 {
            0 => 50_000,
            2 => 110_000,
            _ => 0,
        }
    }

    /// Returns the scenario with these voters, without disks. Terms must always increase if the voters' clocks agree.
    pub fn without_disks(config: &QuorumConfig, has_right_clocks: bool) -> Self {
        let scenario = Self::new(QuorumConfig {
            diskless: Some(Diskless::default()),
            ..config.clone()
        });
        scenario.watch.ledger().has_right_clocks = has_right_clocks;
        scenario
    }

    /// Returns a participant like one with a disk, with clocks of its own.
    pub(super) fn without_disk(
        &mut self,
        id: AgentId,
        random: &mut SplitMix64,
    ) -> Participant<Watched> {
        if !self.watch.sound.voters.contains(&id) {
            return Participant::observer(id, self.watch.clone());
        }
        let score = self.score(random);
        let skew = i32::try_from(random.between(0, 100_000)).unwrap_or(0) - 50_000;
        let offset = random.below(100_000);
        let is_right = self.watch.ledger().has_right_clocks;
        // A voter that comes back has the same clocks as before.
        let at_zero = self.hosts.at_zero.entry(id.clone());
        let at_zero = *at_zero.or_insert(DAY - offset);
        Participant {
            clock_offset: Duration::from_millis(DAY - at_zero),
            clock_ppm: if is_right { 0 } else { skew },
            ..Participant::voter(id, score, self.watch.on_host(at_zero))
        }
    }

    /// An incarnation abstains, and asks until it is answered. The voters that it asks may recover at the same time.
    pub(super) fn recovers_within(&self) -> Duration {
        let config = &self.watch.sound;
        let Some(_) = &config.diskless else {
            return Duration::ZERO;
        };
        let t = &config.timings;
        let again = t
            .detector()
            .map_or(t.round(), |d| d.heartbeat.max(t.round()));
        Timings::least_promise(t.promise() + t.round()) * 2 + again * 4
    }

    /// Restarts every voter. Of three voters, one that restarted and one that is gone leave no quorum.
    pub(super) fn all_return(&self, world: &mut World<Watched>) {
        for id in &self.watch.sound.voters {
            let score = world.score(id).or_else(|| Some(1.into()));
            world.restart(id);
            let at_zero = self.hosts.at_zero.get(id).copied().unwrap_or(DAY);
            let watch = self.watch.on_host(at_zero);
            world.join(Participant::voter(id.clone(), score, watch));
        }
    }
}
