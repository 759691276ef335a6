//! The consequence of an input: nothing, or another role.

use std::{collections::BTreeSet, time::Duration};

use super::{
    Step,
    rules::{Attempt, Followed, Grace},
};
use crate::protocol::{AgentId, Leader, Round, Score};
use crate::{elections::message::Announcement, parts::slot};

/// A role's answer to an input.
#[derive(Debug)]
pub(super) enum Next {
    /// The role stays.
    Stay,
    /// The machine enters another role, or the same anew.
    Become(Change),
    /// The machine enters another role, which takes the same input.
    Again(Change),
}

/// The next role of an agent, with its data.
#[derive(Debug)]
pub(super) enum Change {
    /// The leadership is vacant: the agent acts in its slot, at once if that is the first. `gone` is a
    /// member that looks up in the snapshot and is known not to be.
    TakeSlot {
        attempt: Attempt,
        gone: Option<AgentId>,
    },
    /// The leadership is vacant: the agent acts in that slot; without one it waits to be asked.
    Vacant(Option<SlotPlan>),
    /// It asks the leader that it knows, and no other agent.
    AskLeader {
        id: AgentId,
        following: Option<Followed>,
    },
    /// It asks every voter that may be there and is not known to rank below it.
    AskVoters {
        outranked: BTreeSet<AgentId>,
        grace: Grace,
    },
    /// It lets another agent go first.
    WaitFor(Deference),
    Follow(Leader, Score),
    /// It follows a leader, and asks it for the leadership.
    FollowAndAsk(Leader, Score),
    /// It announces itself.
    Lead,
}

/// A slot, and the agent's action in it.
#[derive(Debug)]
pub(super) struct SlotPlan {
    pub slot: usize,
    pub attempt: Attempt,
    /// The first slot begins after this time.
    pub head_start: Duration,
}

/// The agent for which another one waits, the time, and the action at its end.
#[derive(Debug)]
pub(super) struct Deference {
    pub to: AgentId,
    pub wait: Duration,
    /// The agent's action if the other one does not announce itself.
    pub attempt: Attempt,
    /// The round that it gave up for that: a leader's release may still arrive.
    pub round: Option<Round>,
}

impl Next {
    /// Traces that an input changes nothing, and why.
    pub(super) fn ignore(step: &Step<'_>, reason: &'static str) -> Self {
        step.ignore(reason);
        Self::Stay
    }
}

impl Change {
    /// Asks every voter, knowing of none that it ranks below this agent.
    pub(super) const fn ask_voters() -> Self {
        Self::AskVoters {
            outranked: BTreeSet::new(),
            grace: Grace::Unused,
        }
    }

    /// Waits as long as an election may take.
    pub(super) fn wait_for(to: &AgentId, step: &Step<'_>) -> Self {
        Self::WaitFor(Deference {
            to: to.clone(),
            wait: step.core.config.timings.victory_wait(),
            // After this time another agent may lead: this agent must not announce itself unasked.
            attempt: Attempt::Ask,
            round: None,
        })
    }

    pub(super) fn follow(said: &Announcement<'_>) -> Self {
        Self::Follow(said.leader(), said.score)
    }

    /// Returns whether the agent has no leader after it, and is none.
    pub(super) const fn ends_following(&self) -> bool {
        match self {
            Self::TakeSlot { .. }
            | Self::Vacant(_)
            | Self::AskVoters { .. }
            | Self::WaitFor(_)
            | Self::AskLeader {
                following: None, ..
            } => true,
            Self::AskLeader {
                following: Some(_), ..
            }
            | Self::Follow(..)
            | Self::FollowAndAsk(..)
            | Self::Lead => false,
        }
    }
}

impl Attempt {
    /// Returns the change of an agent with that slot while the leadership is vacant; without a slot it waits.
    pub(super) fn in_slot(self, slot: Option<usize>) -> Change {
        match (slot, self) {
            (Some(0), Self::Announce) => Change::Lead,
            (Some(0), Self::Ask) => Change::ask_voters(),
            (slot, attempt) => Change::Vacant(slot.map(|slot| SlotPlan {
                slot,
                // In such a late slot, another agent may have announced itself to others.
                attempt: if slot < slot::LAST {
                    attempt
                } else {
                    Self::Ask
                },
                head_start: Duration::ZERO,
            })),
        }
    }
}
