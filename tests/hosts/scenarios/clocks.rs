//! Hosts whose clocks have nothing in common.

use crate::{
    Wrong,
    cluster::{Cluster, Place},
    scenarios::incarnations::differ,
};

const YEAR: u64 = 365 * 24 * 3_600;

/// A clock that a lease is measured by counts from the boot of its host, so those of two hosts are years
/// apart, and that of a host which is booted again begins anew. Nothing may be read of one by the other,
/// and nothing of a clock may be in what a store keeps.
pub(crate) fn booted_years_apart<P: Place>(cluster: &mut Cluster<P>) -> Result<(), Wrong> {
    for (host, years) in [(0, 3), (1, 10), (2, 1)] {
        cluster.kill(host)?;
        cluster.restart_up_before(host, years * YEAR)?;
        cluster.agree()?;
    }
    // Its clock goes back by years, and the record that it wrote before is still there.
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
