//! The machines of a proxy, without a runtime.
//!
//! `history.rs` runs them in `world.rs`, a world in which any agent may lead at any time. `tests/cluster/messages.rs`
//! tests a proxy with real elections, and `tests/simulated_network` between hosts.

mod history;
mod receiver;
mod said;
mod sender;
mod world;

use super::exchange::Life;
use crate::{group::NodeDigest, protocol::Incarnation};

fn life(node: u64, incarnation: u64) -> Life {
    Life {
        node: NodeDigest(node),
        incarnation: Incarnation(incarnation),
    }
}
