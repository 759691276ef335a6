//! Messages that no agent sent, to agents `agent-1`, `agent-2` and so on.

use actix_bully::testkit::cluster::Cluster;
use bully_core::protocol::{Election, To};

pub(crate) use crate::strangers::{are_dropped, beliefs, id};

/// A message that the agent never sent, in its present incarnation.
pub(crate) fn forge<E: Election>(
    cluster: &Cluster<E>,
    from: u32,
    to: u32,
    message: impl Into<E::Message>,
) {
    let (from, to) = (id(from), To::One(id(to)));
    let members = cluster.group().members();
    let incarnation = members.get(&from).and_then(|member| member.incarnation);
    cluster
        .group()
        .deliver(&from, incarnation.unwrap(), &to, message.into());
}

/// How many messages of a kind were handled.
pub(crate) fn heard<E: Election>(cluster: &Cluster<E>, kind: &str) -> u64 {
    cluster.trace().count_of(kind).delivered
}
