//! Bad connections that are not cut.

use std::time::Duration;

use super::{incarnations::differ, partitions::happened};
use crate::{Wrong, net::Hosts};

pub(super) fn loss(cluster: &mut Hosts) -> Result<(), Wrong> {
    for one in cluster.all() {
        for other in cluster.others(one) {
            cluster.net.lose(one, other, 33)?;
        }
    }
    cluster.log.wait(Duration::from_secs(4), |_| None::<()>);
    happened(cluster)
}

pub(super) fn reset(cluster: &mut Hosts) -> Result<(), Wrong> {
    let leader = cluster.agree()?;
    for other in cluster.others(leader) {
        cluster.net.reset(leader, other)?;
    }
    let next = cluster.agree_among(&cluster.others(leader))?;
    differ(leader, next)
}

pub(super) fn slow_line(cluster: &mut Hosts) -> Result<(), Wrong> {
    let leader = cluster.highest_leads()?;
    cluster.net.limit(leader, 64)?;
    cluster.log.wait(Duration::from_secs(3), |_| None::<()>);
    if cluster.agree()? == leader {
        Ok(())
    } else {
        Err(Wrong(String::from("heartbeats do not fit into 64 kbit/s")))
    }
}

pub(super) fn unplugged(cluster: &mut Hosts) -> Result<(), Wrong> {
    let leader = cluster.agree()?;
    cluster.net.plug(leader, false)?;
    let next = cluster.agree_among(&cluster.others(leader))?;
    differ(leader, next)
}

pub(super) fn flapping(cluster: &mut Hosts) -> Result<(), Wrong> {
    let leader = cluster.agree()?;
    let before = cluster.beliefs().len();
    for _ in 0..8 {
        cluster.net.plug(leader, false)?;
        cluster.log.wait(Duration::from_millis(300), |_| None::<()>);
        cluster.net.plug(leader, true)?;
        cluster.log.wait(Duration::from_millis(300), |_| None::<()>);
    }
    // A node that comes and goes must not move the leadership each time.
    match cluster.beliefs().len() - before {
        0..=4 => Ok(()),
        many => Err(Wrong(format!("{many} leaderships in eight cuts"))),
    }
}
