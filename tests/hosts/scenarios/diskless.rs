//! Voters without a disk: all voters may forget their state.
//!
//! Decided here: how many voters restart at once, and how soon a node has to lead again. Each node prints at its start
//! the longest time that this takes, counted from the start of a majority. The scenarios check that bound.

use std::time::Duration;

use crate::{
    Wrong,
    cluster::{Cluster, Place},
    log::Line,
};

/// Additional time on a busy machine: processes that share two cores start and connect.
const BUSY: Duration = Duration::from_millis(500);
/// Time after which a process has started. It is shorter than any wait.
const MOMENT: Duration = Duration::from_millis(700);

pub(crate) fn all_killed<P: Place>(cluster: &mut Cluster<P>) -> Result<(), Wrong> {
    let mark = cluster.mark();
    for host in cluster.all() {
        cluster.kill(host)?;
    }
    for host in cluster.all() {
        cluster.restart(host)?;
    }
    cluster.agree()?;
    in_time(&cluster.since(mark), cluster.all().len())
}

/// The remaining voter is no majority, and knows more than the two that come back.
pub(crate) fn two_killed<P: Place>(cluster: &mut Cluster<P>) -> Result<(), Wrong> {
    let leader = cluster.agree()?;
    let other = cluster.others(leader)[0];
    let mark = cluster.mark();
    cluster.kill(leader)?;
    cluster.kill(other)?;
    cluster.log.wait(MOMENT, |_| None::<()>);
    cluster.restart(leader)?;
    cluster.restart(other)?;
    cluster.agree()?;
    // With the first of the two that come back, a majority runs.
    in_time(&cluster.since(mark), 1)
}

/// Checks that a node leads soon enough after a majority of `begun` restarted nodes was ready.
fn in_time(since: &[Line], begun: usize) -> Result<(), Wrong> {
    let mut ready = since.iter().filter(|line| line.event == "ready");
    let ready = ready.nth(begun / 2).map(|line| line.t);
    let leads = since.iter().rfind(|line| line.event == "leads");
    let (Some(ready), Some(leads)) = (ready, leads) else {
        return Err(Wrong(String::from("no node leads after the restarts")));
    };
    let took = Duration::from_micros(leads.t.saturating_sub(ready));
    let most = bound(since)? + BUSY;
    if took <= most {
        return Ok(());
    }
    Err(Wrong(format!(
        "a node leads {took:?} after the start of a majority, not within {most:?}"
    )))
}

/// Returns the longest time of a start, as a node printed it.
fn bound(since: &[Line]) -> Result<Duration, Wrong> {
    let number = |line: &Line| line.rest.get("worst_case_start_ms")?.as_f64();
    let millis = since.iter().find_map(number);
    let millis =
        millis.ok_or_else(|| Wrong(String::from("no node said how long a start takes")))?;
    Ok(Duration::from_secs_f64(millis / 1e3))
}
