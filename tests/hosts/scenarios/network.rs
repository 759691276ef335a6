//! Networks that are cut, lossy or slow, and cables that are pulled.

use std::time::Duration;

use super::incarnations::differ;
use crate::{Wrong, net::Hosts};

/// A time longer than a lease and a promise of the default timings.
const LONG: Duration = Duration::from_millis(1_500);

/// Lets a fault hit the leader. Checks that the others elect one of them, and returns the former leader.
fn falls(
    cluster: &mut Hosts,
    fault: impl Fn(&Hosts, usize) -> Result<(), Wrong>,
) -> Result<usize, Wrong> {
    let leader = cluster.agree()?;
    fault(cluster, leader)?;
    let next = cluster.agree_among(&cluster.others(leader))?;
    differ(leader, next)?;
    Ok(leader)
}

pub(super) fn leader_isolated(cluster: &mut Hosts) -> Result<(), Wrong> {
    let leader = falls(cluster, Hosts::isolate)?;
    cluster.none_leads(&[leader], LONG)?;
    happened(cluster)
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

pub(super) fn deaf(cluster: &mut Hosts) -> Result<(), Wrong> {
    falls(cluster, |cluster, leader| {
        let mut others = cluster.others(leader).into_iter();
        others.try_for_each(|other| cluster.net.cut_one_way(other, leader))
    })?;
    happened(cluster)
}

pub(super) fn reset(cluster: &mut Hosts) -> Result<(), Wrong> {
    let reset = |cluster: &Hosts, leader| {
        let mut others = cluster.others(leader).into_iter();
        others.try_for_each(|other| cluster.net.reset(leader, other))
    };
    falls(cluster, reset).map(drop)
}

pub(super) fn unplugged(cluster: &mut Hosts) -> Result<(), Wrong> {
    falls(cluster, |cluster, leader| cluster.net.plug(leader, false)).map(drop)
}

/// Two followers do not reach each other. A leader that both reach is not disturbed for a long time.
pub(super) fn non_transitive(cluster: &mut Hosts) -> Result<(), Wrong> {
    let leader = cluster.highest_leads()?;
    let others = cluster.others(leader);
    cluster.split(&others[..1], &others[1..])?;
    let before = cluster.mark();
    cluster.log.wait(LONG, |_| None::<()>);
    happened(cluster)?;
    let since = cluster.since(before);
    if let Some(line) = since.iter().find(|line| line.event == "leads") {
        return Err(Wrong(format!("a healthy leader was disturbed: {line:?}")));
    }
    stays(cluster, leader)
}

pub(super) fn loss(cluster: &mut Hosts) -> Result<(), Wrong> {
    for one in cluster.all() {
        for other in cluster.others(one) {
            cluster.net.lose(one, other, 33)?;
        }
    }
    cluster.log.wait(Duration::from_secs(4), |_| None::<()>);
    happened(cluster)
}

/// Heartbeats fit into 64 kbit/s.
pub(super) fn slow_line(cluster: &mut Hosts) -> Result<(), Wrong> {
    let leader = cluster.highest_leads()?;
    cluster.net.limit(leader, 64)?;
    cluster.log.wait(Duration::from_secs(3), |_| None::<()>);
    stays(cluster, leader)
}

/// Checks that all nodes still follow `leader`.
fn stays(cluster: &mut Hosts, leader: usize) -> Result<(), Wrong> {
    match cluster.agree()? {
        next if next == leader => Ok(()),
        next => Err(Wrong(format!("{next} leads, and not {leader}"))),
    }
}

/// Checks that the fault happened: packets were dropped.
pub(super) fn happened(cluster: &Hosts) -> Result<(), Wrong> {
    match cluster.net.dropped()? {
        0 => Err(Wrong(String::from("not a packet was dropped"))),
        _ => Ok(()),
    }
}
