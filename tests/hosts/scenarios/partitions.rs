//! Partitions: which host reaches which other.

use std::time::Duration;

use super::incarnations::differ;
use crate::{Wrong, net::Hosts};

/// A time longer than a lease and a promise of the default timings.
const LONG: Duration = Duration::from_millis(1_500);

pub(super) fn leader_isolated(cluster: &mut Hosts) -> Result<(), Wrong> {
    let leader = cluster.agree()?;
    cluster.isolate(leader)?;
    let next = cluster.agree_among(&cluster.others(leader))?;
    cluster.none_leads(&[leader], LONG)?;
    happened(cluster)?;
    differ(leader, next)
}

pub(super) fn minority(cluster: &mut Hosts) -> Result<(), Wrong> {
    let leader = cluster.agree()?;
    let others = cluster.others(leader);
    let (with, majority) = others.split_at(1);
    let minority = [leader, with[0]];
    cluster.split(&minority, majority)?;
    let next = cluster.agree_among(majority)?;
    cluster.none_leads(&minority, LONG)?;
    happened(cluster)?;
    differ(leader, next)
}

pub(super) fn non_transitive(cluster: &mut Hosts) -> Result<(), Wrong> {
    let leader = cluster.highest_leads()?;
    let others = cluster.others(leader);
    cluster.split(&others[..1], &others[1..])?;
    stays(cluster, leader, &cluster.all())
}

pub(super) fn deaf(cluster: &mut Hosts) -> Result<(), Wrong> {
    let leader = cluster.agree()?;
    for other in cluster.others(leader) {
        cluster.net.cut_one_way(other, leader)?;
    }
    let next = cluster.agree_among(&cluster.others(leader))?;
    happened(cluster)?;
    differ(leader, next)
}

/// Checks that for a long time only `leader` leads, and that `followers` follow it.
fn stays(cluster: &mut Hosts, leader: usize, followers: &[usize]) -> Result<(), Wrong> {
    let before = cluster.mark();
    cluster.log.wait(LONG, |_| None::<()>);
    happened(cluster)?;
    let others = cluster.since(before);
    if let Some(line) = others.iter().find(|line| line.event == "leads") {
        return Err(Wrong(format!("a healthy leader was disturbed: {line:?}")));
    }
    if cluster.agree_among(followers)? == leader {
        Ok(())
    } else {
        Err(Wrong(String::from("the followers follow another leader")))
    }
}

/// Checks that the fault happened: packets were dropped.
pub(super) fn happened(cluster: &Hosts) -> Result<(), Wrong> {
    match cluster.net.dropped()? {
        0 => Err(Wrong(String::from("not a packet was dropped"))),
        _ => Ok(()),
    }
}
