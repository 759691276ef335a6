//! Faults that a seed draws, for a given time. After them all is healed and checked.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use crate::{
    Wrong,
    cluster::Setting,
    net::{Hosts, Net},
};

/// Draws faults on five hosts in the quorum mode for `seconds`. Returns a summary.
///
/// # Errors
/// The promise that was broken, or a step that failed.
pub(crate) fn run(node: &Path, seconds: u64, seed: u64) -> Result<String, Wrong> {
    let setting = Setting {
        hosts: 5,
        quorum: true,
        diskless: false,
        timings: "default",
        preempt: 1_000,
    };
    let mut cluster = Hosts::start(node, Net::up(setting.hosts)?, setting)?;
    let mut random = Random(seed);
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut faults = 0_u64;
    while Instant::now() < until {
        faults += 1;
        strike(&mut cluster, &mut random)?;
        let pause = Duration::from_millis(random.below(1_500));
        cluster.log.wait(pause, |_| None::<()>);
        if faults.is_multiple_of(8) {
            mend(&mut cluster)?;
            cluster.agree()?;
            cluster.verdict()?;
        }
    }
    mend(&mut cluster)?;
    cluster.agree()?;
    cluster.verdict()?;
    let leaders = cluster.beliefs().len();
    Ok(format!(
        "{faults} faults, {leaders} leaderships, never two at once"
    ))
}

fn strike(cluster: &mut Hosts, random: &mut Random) -> Result<(), Wrong> {
    let host = random.host();
    let other = cluster.others(host)[random.host() % 4];
    let runs = cluster.running().contains(&host);
    match random.below(10) {
        0 => cluster.isolate(host),
        1 => cluster.net.cut_one_way(host, other),
        2 => cluster.split(&[host], &[other]),
        3 => cluster.split(&[host, other], &{
            let mut rest = cluster.others(host);
            rest.retain(|one| *one != other);
            rest
        }),
        4 => cluster.net.lose(host, other, 40),
        5 => cluster.net.plug(host, false),
        6 if runs => cluster.freeze(host),
        7 if runs => cluster.kill(host),
        8 if runs => cluster.stop(host),
        _ => mend(cluster),
    }
}

/// Heals the network, and brings every host back.
fn mend(cluster: &mut Hosts) -> Result<(), Wrong> {
    cluster.net.heal()?;
    for host in cluster.all() {
        cluster.revive(host)?;
    }
    Ok(())
}

/// `SplitMix64`: the same seed draws the same faults.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }

    /// Returns a random index into a list of length `len`; 0 if the list is empty.
    pub(crate) fn up_to(&mut self, len: usize) -> usize {
        let limit = u64::try_from(len).unwrap_or(1).max(1);
        usize::try_from(self.below(limit)).unwrap_or(0)
    }

    fn host(&mut self) -> usize {
        self.up_to(5)
    }
}
