//! Processes that end, come back, or freeze.

use std::time::Duration;

use crate::{
    Wrong,
    cluster::{Cluster, Place, name},
};

pub(crate) fn killed<P: Place>(cluster: &mut Cluster<P>) -> Result<(), Wrong> {
    let leader = cluster.agree()?;
    cluster.kill(leader)?;
    let next = cluster.agree()?;
    differ(leader, next)?;
    cluster.restart(leader)
}

pub(crate) fn follower_killed<P: Place>(cluster: &mut Cluster<P>) -> Result<(), Wrong> {
    let leader = cluster.highest_leads()?;
    let before = cluster.mark();
    let follower = cluster.others(leader)[0];
    cluster.kill(follower)?;
    cluster
        .log
        .wait(Duration::from_millis(1_500), |_| None::<()>);
    cluster.restart(follower)?;
    cluster.agree()?;
    let since = cluster.since(before);
    match since.iter().find(|line| line.event == "leads") {
        Some(line) => Err(Wrong(format!("a healthy leader was disturbed: {line:?}"))),
        None => Ok(()),
    }
}

pub(crate) fn all_killed<P: Place>(cluster: &mut Cluster<P>) -> Result<(), Wrong> {
    for host in cluster.all() {
        cluster.kill(host)?;
    }
    for host in cluster.all() {
        cluster.restart(host)?;
    }
    cluster.agree().map(drop)
}

pub(crate) fn frozen<P: Place>(cluster: &mut Cluster<P>) -> Result<(), Wrong> {
    let leader = cluster.agree()?;
    cluster.freeze(leader)?;
    let next = cluster.agree()?;
    differ(leader, next)?;
    cluster.thaw(leader)
}

pub(crate) fn hand_over<P: Place>(cluster: &mut Cluster<P>) -> Result<(), Wrong> {
    let leader = cluster.agree()?;
    let before = cluster.mark();
    cluster.stop(leader)?;
    let next = cluster.agree()?;
    differ(leader, next)?;
    let since = cluster.since(before);
    if !since
        .iter()
        .any(|line| line.event == "left" && line.rest["politely"] == true)
    {
        return Err(Wrong(String::from("no clean hand-over")));
    }
    let released = since.iter().find(|line| line.event == "released");
    let leads = since.iter().find(|line| line.event == "leads");
    match (released, leads) {
        (Some(end), Some(begin)) if end.t < begin.t => cluster.restart(leader),
        (end, begin) => Err(Wrong(format!("no hand-over: {end:?}, {begin:?}"))),
    }
}

pub(crate) fn store_lost<P: Place>(cluster: &mut Cluster<P>) -> Result<(), Wrong> {
    let leader = cluster.agree()?;
    let follower = cluster.others(leader)[0];
    cluster.kill(follower)?;
    let said = cluster.restart_without_store(follower)?;
    if said.contains("is missing") {
        Ok(())
    } else {
        Err(Wrong(format!("{} says only: {said}", name(follower))))
    }
}

/// Checks that another node leads.
pub(crate) fn differ(leader: usize, next: usize) -> Result<(), Wrong> {
    if leader == next {
        Err(Wrong(String::from("the same node leads")))
    } else {
        Ok(())
    }
}
