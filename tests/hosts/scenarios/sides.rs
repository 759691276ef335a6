//! The available mode: a leader on every side, and one when all is healed.

use super::partitions::happened;
use crate::{Wrong, net::Hosts};

pub(super) fn sides(cluster: &mut Hosts) -> Result<(), Wrong> {
    cluster.split(&[0, 1], &[2, 3])?;
    let one = cluster.agree_among(&[0, 1])?;
    let other = cluster.agree_among(&[2, 3])?;
    happened(cluster)?;
    if (one, other) != (1, 3) {
        return Err(Wrong(format!(
            "{one} and {other} lead, not the highest of each side"
        )));
    }
    cluster.net.heal()?;
    match cluster.agree()? {
        3 => Ok(()),
        leader => Err(Wrong(format!("{leader} leads, not the highest"))),
    }
}
