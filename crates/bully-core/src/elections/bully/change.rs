//! The consequence of an input: nothing, or another role.

use std::{collections::BTreeSet, time::Duration};

use super::Step;
use crate::protocol::{AgentId, Detector, Leader, LeaderEnd, Members, Round, Score, Time};
use crate::{
    elections::message::Announcement,
    parts::{Grace, slot},
};

#[derive(Debug)]
pub(super) enum Next {
    /// The role stays.
    Stay,
    /// The machine enters another role, or starts the same role again.
    Become(Change),
    /// The machine enters another role, and then handles the same input in the new role.
    Again(Change),
}

/// The next role of an agent, with its data.
#[derive(Debug)]
pub(super) enum Change {
    /// The leadership is vacant. The agent acts in its slot, or at once if its slot is the first. `gone` is an agent
    /// whose end is known although the snapshot shows it as up.
    TakeSlot {
        attempt: Attempt,
        gone: Option<AgentId>,
    },
    /// The leadership is vacant. The agent acts in this slot; without a slot it waits until another agent asks.
    Vacant(Option<SlotPlan>),
    /// The agent asks only the leader that it knows.
    AskLeader {
        id: AgentId,
        following: Option<Followed>,
    },
    /// The agent asks every voter that may be up, except the voters that rank below it as far as it knows.
    AskVoters {
        outranked: BTreeSet<AgentId>,
        grace: Grace,
    },
    /// The agent waits for another agent to lead.
    WaitFor(Deference),
    Follow(Leader, Score),
    /// The agent follows a leader, and asks it for the leadership.
    FollowAndAsk(Leader, Score),
    /// The agent follows a leader that ranks below it, and asks it for the leadership at this time.
    FollowUntil(Leader, Score, Time),
    /// The agent announces itself.
    Lead,
}

/// A slot, and the agent's action in it.
#[derive(Debug)]
pub(super) struct SlotPlan {
    pub slot: usize,
    pub attempt: Attempt,
    /// Time before the first slot begins.
    pub head_start: Duration,
}

/// The agent that this agent waits for, the time of the wait, and the action at its end.
#[derive(Debug)]
pub(super) struct Deference {
    pub to: AgentId,
    pub wait: Duration,
    /// Action of this agent if the other agent does not announce itself.
    pub attempt: Attempt,
    /// The round that this agent gave up for the wait: a leader may still release the leadership in an answer to this
    /// round.
    pub round: Option<Round>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Followed {
    pub leader: Leader,
    pub score: Score,
    /// Time until which the leader must be heard. After that time a silent leader counts as gone.
    pub due: Time,
    pub grace: Grace,
}

/// The action of an agent in its slot while the leadership is vacant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Attempt {
    /// The agent announces itself without asking: it followed the leader whose end it knows (the fast path).
    Announce,
    /// The agent holds an election.
    Ask,
}

impl Next {
    pub(super) fn ignore(step: &Step<'_>, reason: &'static str) -> Self {
        step.ignore(reason);
        Self::Stay
    }
}

impl Followed {
    /// Notes, for the history, that this leader has announced its hand-over.
    pub(super) fn note_resigned(&self, step: &mut Step<'_>) {
        step.core.me.note_end(&self.leader, LeaderEnd::Resigned);
    }
}

impl Change {
    /// Asks every voter that may be up. No voter is known yet to rank below this agent.
    pub(super) const fn ask_voters() -> Self {
        Self::AskVoters {
            outranked: BTreeSet::new(),
            grace: Grace::Unused,
        }
    }

    /// Waits for another agent, for as long as an election may take.
    pub(super) fn wait_for(to: &AgentId, step: &Step<'_>) -> Self {
        Self::WaitFor(Deference {
            to: to.clone(),
            wait: step.core.config.timings.victory_wait(),
            // After this wait another agent may lead, so this agent asks before it announces itself.
            attempt: Attempt::Ask,
            round: None,
        })
    }

    pub(super) fn follow(said: &Announcement<'_>) -> Self {
        Self::Follow(said.leader(), said.score)
    }

    /// Notes how the leader that the agent has followed ends with this change, for the history and the metrics.
    pub(super) fn note_end(&self, followed: Option<&Followed>, step: &mut Step<'_>) {
        if let Some(followed) = followed
            && let Some(end) = self.how_ends(followed, step)
        {
            step.core.me.note_end(&followed.leader, end);
        }
    }

    /// Returns `None` if the agent still follows that leader.
    fn how_ends(&self, followed: &Followed, step: &Step<'_>) -> Option<LeaderEnd> {
        let next = match self {
            Self::Follow(next, _) | Self::FollowAndAsk(next, _) | Self::FollowUntil(next, ..) => {
                Some(next)
            }
            Self::TakeSlot { .. }
            | Self::Vacant(_)
            | Self::AskLeader { .. }
            | Self::AskVoters { .. }
            | Self::WaitFor(_)
            | Self::Lead => None,
        };
        let is_same = next.is_some_and(|next| next.id == followed.leader.id);
        if is_same || matches!(self, Self::AskLeader { following, .. } if following.is_some()) {
            return None;
        }
        let timings = &step.core.config.timings;
        let Some(Detector {
            heartbeat,
            detection,
        }) = timings.detector()
        else {
            return Some(LeaderEnd::Replaced);
        };
        // If this agent stood still itself, `due` counts from the time at which it ran again.
        let since = Time::ZERO.after(followed.due.since(Time::ZERO).saturating_sub(detection));
        // A leader that lives is heard after each interval and a delay. Another agent may miss it a little sooner.
        let alive = heartbeat
            .saturating_mul(2)
            .saturating_add(timings.delay_bound());
        Some(if step.core.me.has_ended(&followed.leader) {
            LeaderEnd::Ended
        } else if self.ends_following() || step.now.since(since) > alive {
            LeaderEnd::Silent { since }
        } else {
            LeaderEnd::Replaced
        })
    }

    /// Returns whether the agent neither follows a leader nor leads after this change.
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
            | Self::FollowUntil(..)
            | Self::Lead => false,
        }
    }
}

impl Attempt {
    /// Returns the action of an agent in its first slot. It announces itself without asking only in a closed group,
    /// because there it knows all members.
    pub(super) fn at_start(members: &Members) -> Self {
        if members.is_closed() {
            Self::Announce
        } else {
            Self::Ask
        }
    }

    /// Returns the action while no agent leads: in slot 0 the agent acts at once (rule `fast-path`), in a later slot it
    /// acts later, and without a slot it only waits.
    pub(super) fn in_slot(self, slot: Option<usize>) -> Change {
        match (slot, self) {
            (Some(0), Self::Announce) => Change::Lead,
            (Some(0), Self::Ask) => Change::ask_voters(),
            (slot, attempt) => Change::Vacant(slot.map(|slot| SlotPlan {
                slot,
                // In the last slot the agent asks first, because another agent may have announced itself to some agents
                // by then.
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
