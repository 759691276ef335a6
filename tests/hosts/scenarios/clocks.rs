//! Hosts whose clocks differ by years.

use crate::{
    Wrong,
    cluster::{Cluster, Place},
    scenarios::incarnations::differ,
};

const YEAR: u64 = 365 * 24 * 3_600;

/// The clock that measures a lease counts from the boot of its host. So the clocks of two hosts are years apart, and a
/// host that is booted again has a new clock. No host may compare another host's readings with its own, and a store may
/// keep no reading.
pub(crate) fn booted_years_apart<P: Place>(cluster: &mut Cluster<P>) -> Result<(), Wrong> {
    for (host, years) in [(0, 3), (1, 10), (2, 1)] {
        cluster.kill(host)?;
        cluster.restart_up_before(host, years * YEAR)?;
        cluster.agree()?;
    }
    // After the reboot the clock is years behind, and the record from before the reboot is still there.
    let leader = cluster.agree()?;
    cluster.kill(leader)?;
    let next = cluster.agree()?;
    differ(leader, next)?;
    cluster.restart_up_before(leader, 0)?;
    let leader = cluster.agree()?;
    cluster.freeze(leader)?;
    let next = cluster.agree()?;
    differ(leader, next)?;
    cluster.thaw(leader)
}
