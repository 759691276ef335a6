//! The machines of a proxy, without a runtime.
//!
//! `history.rs` plays them in `world.rs`, a world in which any agent may lead at any time. The same beside real elections:
//! `tests/cluster/messages.rs`, and between hosts `tests/simulated_network`.

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
