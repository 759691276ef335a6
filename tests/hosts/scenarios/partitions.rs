//! Which host reaches which.

use std::time::Duration;

use super::incarnations::differ;
use crate::{Wrong, net::Hosts};

/// Longer than a lease and a promise of the default timings.
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

pub(super) fn even_split(cluster: &mut Hosts) -> Result<(), Wrong> {
    cluster.split(&[0, 1], &[2, 3])?;
    cluster.none_leads(&cluster.all(), LONG)?;
    happened(cluster)
}

pub(super) fn follower(cluster: &mut Hosts) -> Result<(), Wrong> {
    let leader = cluster.highest_leads()?;
    let alone = cluster.others(leader)[0];
    cluster.isolate(alone)?;
    let rest: Vec<_> = cluster
        .all()
        .into_iter()
        .filter(|host| *host != alone)
        .collect();
    stays(cluster, leader, &rest)
}

pub(super) fn non_transitive(cluster: &mut Hosts) -> Result<(), Wrong> {
    let leader = cluster.highest_leads()?;
    let others = cluster.others(leader);
    cluster.split(&others[..1], &others[1..])?;
    stays(cluster, leader, &cluster.all())
}

pub(super) fn star(cluster: &mut Hosts) -> Result<(), Wrong> {
    // The lowest in rank is the only one that reaches a majority.
    for one in 1..5 {
        for other in (one + 1)..5 {
            cluster.split(&[one], &[other])?;
        }
    }
    cluster.agree_among(&[0])?;
    happened(cluster)
}

pub(super) fn chain(cluster: &mut Hosts) -> Result<(), Wrong> {
    cluster.split(&[0], &[2])?;
    // Both b and c reach a majority: either may lead, and never both.
    let before = cluster.mark();
    cluster.log.wait(LONG, |_| None::<()>);
    happened(cluster)?;
    let works = cluster.since(before);
    if works.iter().any(|line| line.event == "works") {
        Ok(())
    } else {
        Err(Wrong(String::from(
            "no node led, though a majority was connected",
        )))
    }
}

pub(super) fn moving(cluster: &mut Hosts) -> Result<(), Wrong> {
    for alone in [[4, 3], [0, 4], [2, 3], [1, 2]] {
        cluster.net.heal()?;
        let rest: Vec<_> = cluster
            .all()
            .into_iter()
            .filter(|host| !alone.contains(host))
            .collect();
        cluster.split(&alone, &rest)?;
        cluster.agree_among(&rest)?;
    }
    happened(cluster)
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

pub(super) fn mute(cluster: &mut Hosts) -> Result<(), Wrong> {
    let leader = cluster.agree()?;
    for other in cluster.others(leader) {
        cluster.net.cut_one_way(leader, other)?;
    }
    let next = cluster.agree_among(&cluster.others(leader))?;
    happened(cluster)?;
    differ(leader, next)
}

pub(super) fn follower_deaf(cluster: &mut Hosts) -> Result<(), Wrong> {
    let leader = cluster.highest_leads()?;
    let deaf = cluster.others(leader)[0];
    for other in cluster.others(deaf) {
        cluster.net.cut_one_way(other, deaf)?;
    }
    let rest: Vec<_> = cluster
        .all()
        .into_iter()
        .filter(|host| *host != deaf)
        .collect();
    stays(cluster, leader, &rest)
}

pub(super) fn while_cut(cluster: &mut Hosts) -> Result<(), Wrong> {
    cluster.split(&[0], &[1, 2, 3, 4])?;
    let leader = cluster.agree_among(&[1, 2, 3, 4])?;
    cluster.kill(leader)?;
    let rest: Vec<_> = (1..5).filter(|host| *host != leader).collect();
    let next = cluster.agree_among(&rest)?;
    differ(leader, next)?;
    happened(cluster)?;
    cluster.restart(leader)
}

/// That for a long time no other leads but this one, and that these follow it.
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
        Err(Wrong(String::from("they follow another one")))
    }
}

/// That the fault is one: packets were dropped.
pub(super) fn happened(cluster: &Hosts) -> Result<(), Wrong> {
    match cluster.net.dropped()? {
        0 => Err(Wrong(String::from("not a packet was dropped"))),
        _ => Ok(()),
    }
}
