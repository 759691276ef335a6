//! The available mode: a leader on every side, and one leader after healing.

use super::network::happened;
use crate::{Wrong, net::Hosts};

pub(super) fn sides(cluster: &mut Hosts) -> Result<(), Wrong> {
    cluster.split(&[0, 1], &[2, 3])?;
    for [lower, highest] in [[0, 1], [2, 3]] {
        cluster.agree_on(&[lower, highest], |leader| leader == highest)?;
    }
    happened(cluster)?;
    cluster.net.heal()?;
    match cluster.agree()? {
        3 => Ok(()),
        leader => Err(Wrong(format!("{leader} leads, not the highest"))),
    }
}
