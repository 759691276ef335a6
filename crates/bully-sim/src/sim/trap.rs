//! Traps: a fault happens to an agent exactly when the agent sends a certain message.
//!
//! Elections fail at such moments: a leader crashes in the middle of its announcement, or right after its message that
//! made all other agents defer. Random faults seldom happen at these moments.

use std::collections::BTreeMap;

use super::{
    node::NodeIndex,
    situation::{Situation, Situations},
};
use bully_core::protocol::AgentId;

/// A fault of an agent that sends a certain message; see [`World::arm`](super::World::arm).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// The agent for which the trap is set; `None`: the first agent that sends such a message.
    pub by: Option<AgentId>,
    /// The name of the message, such as `"elected"`.
    pub kind: &'static str,
    /// Number of such messages that may leave before the trap springs. A message to all counts once for each receiver.
    pub spared: u32,
    /// The fault, which happens after the message itself has left.
    pub then: Reaction,
}

/// The fault of an agent that springs a trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reaction {
    /// The agent crashes; the rest of its step is not executed.
    Crash,
    /// The agent hangs after its step.
    Pause,
    /// The agent is cut off; its further messages are lost.
    Isolate,
}

#[derive(Debug, Default)]
pub(super) struct Traps {
    /// The traps, each with the agent for which it is set.
    armed: Vec<(Option<NodeIndex>, Trap)>,
    sprung: BTreeMap<Reaction, Situations>,
}

impl Traps {
    pub(super) fn arm(&mut self, by: Option<NodeIndex>, trap: &Trap) {
        self.armed.push((by, trap.clone()));
    }

    pub(super) fn disarm(&mut self) {
        self.armed.clear();
    }

    /// Returns the situations of the agents that sprang a trap with this reaction.
    pub(super) fn sprung(&self, reaction: Reaction) -> Situations {
        self.sprung.get(&reaction).copied().unwrap_or_default()
    }

    /// Called when a message leaves. Returns the reaction if the message springs a trap.
    pub(super) fn springs(
        &mut self,
        from: NodeIndex,
        kind: &str,
        situation: Situation,
    ) -> Option<Reaction> {
        let mut sprung = None;
        for (at, (by, trap)) in self.armed.iter_mut().enumerate() {
            if trap.kind != kind || by.is_some_and(|by| by != from) {
                continue;
            }
            if trap.spared == 0 {
                sprung = Some(at);
                break;
            }
            trap.spared -= 1;
        }
        let (_, trap) = self.armed.swap_remove(sprung?);
        self.sprung.entry(trap.then).or_default().add(situation);
        Some(trap.then)
    }
}
