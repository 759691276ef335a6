//! The roles of an agent in a quorum election, and the changes between them.
//!
//! Decided here: the data that a role hands over when it ends ([`Start`]). A role returns this data instead of making the
//! next role, so that only [`turn`](super::turn) changes the state. Not here: the changes themselves, and the behaviour
//! of each role.
//!
//! ```text
//!          slot came             Qv consent             Qv votes
//! Vacant ─────────────▶ Asking ─────────────▶ Claiming ───────────▶ Leading ──┐ Ql acknowledge:
//!  ▲  ▲                    │                      │                   ▲ │ │   │ the lease begins
//!  │  └── Ok, no quorum ───┘                      │                   └─┼─┼───┘
//!  │  └── refused, no quorum ─────────────────────┘                     │ │
//!  └── lease ended · resigned · superseded ─────────────────────────────┘ │
//!  │                                                                      │
//! Following ◀── Elected, Heartbeat of another agent, from any role ───────┘
//! ```

use std::time::Duration;

use super::{
    Out,
    candidate::{Asking, Claiming},
    claim::Reason,
    core::Core,
    follower::Following,
    leader::Leading,
    seal::{Sealing, Telling},
    vacant::{Posture, Vacant},
};
use crate::elections::timer::BullyTimer;
use crate::protocol::{AgentId, Decree, LeaderEnd, LostReason, Role, Term, Time};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum State {
    /// No leader is known.
    Vacant(Vacant),
    /// Another agent leads.
    Following(Following),
    /// The agent asks whether the voters would vote for it. Nothing durable changes at any agent.
    Asking(Asking),
    /// The agent has asked for votes.
    Claiming(Claiming),
    /// The agent was elected to end the epoch: it no longer leads, and asks the voters to seal.
    Sealing(Sealing),
    /// The next list is decided, and the agent is not in the list: it sends the list until it hears a leader of the new
    /// epoch.
    Telling(Telling),
    /// The agent is elected; it considers itself leader while it holds a lease.
    Leading(Leading),
}

/// The result of an input that a role has handled.
#[derive(Debug)]
#[must_use = "only the machine changes the role"]
pub(super) enum Next {
    Stay,
    /// The role has ended, and has cancelled its timers.
    Become(Start),
}

/// The start of the next role.
#[derive(Debug)]
pub(super) enum Start {
    /// No leader: the agent campaigns after `wait` and after the slots of the agents that rank higher.
    OwnSlot {
        wait: Duration,
        before: Option<Predecessor>,
    },
    /// No leader, and an attempt failed: the agent tries again after `retry` and a random part of a round.
    Again {
        retry: Duration,
        before: Option<Predecessor>,
    },
    /// No leader: the agent waits for another agent to lead.
    Defer {
        before: Option<Predecessor>,
    },
    Ask {
        before: Option<Predecessor>,
    },
    Claim {
        term: Term,
        reason: Reason,
        before: Option<Predecessor>,
    },
    Lead {
        term: Term,
    },
    /// The epoch ends, and this list of voters is to follow.
    Seal {
        term: Term,
        next: Box<Decree>,
    },
    /// This list was decided. `from` sent it; `None` if this agent collected the seals that decided it.
    Enter {
        decree: Box<Decree>,
        from: Option<AgentId>,
    },
    /// The list is decided already, and this agent is not in the list: it sends the list to the other agents.
    Tell,
}

impl Next {
    pub(super) const fn own_slot(before: Option<Predecessor>) -> Self {
        let wait = Duration::ZERO;
        Self::Become(Start::OwnSlot { wait, before })
    }

    pub(super) const fn again(retry: Duration, before: Option<Predecessor>) -> Self {
        Self::Become(Start::Again { retry, before })
    }
}

/// The former leader, and the certainty of its end. An agent's slot does not wait for this leader, even if the leader
/// ranks higher.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Predecessor {
    pub(super) id: AgentId,
    pub(super) certainty: Certainty,
    /// Whether this agent has already repeated its questions early after a refusal. After the next refusal it waits for
    /// longer.
    is_asked_soon: bool,
}

impl Predecessor {
    pub(super) const fn new(id: AgentId, certainty: Certainty) -> Self {
        Self {
            id,
            certainty,
            is_asked_soon: false,
        }
    }

    /// Returns whether this agent may ask again soon. A voter that refuses after a confirmed end has probably not
    /// learned of the end yet (rule `soon-after-end`).
    pub(super) fn may_ask_soon(&self) -> bool {
        self.certainty == Certainty::Confirmed && !self.is_asked_soon
    }

    pub(super) fn asked_soon(self) -> Self {
        Self {
            is_asked_soon: true,
            ..self
        }
    }
}

/// The certainty of a leader's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Certainty {
    /// The leader became silent, or resigned.
    Suspected,
    /// The incarnation has ended. All agents learn of a confirmed end at about the same time, so the wait before an
    /// agent's own slot counts delays only, and no time of detection.
    Confirmed,
}

impl State {
    pub(super) const fn role(&self) -> Role {
        match self {
            Self::Vacant(vacant) => match vacant.posture {
                Posture::OwnSlot => Role::Follower,
                Posture::Defers => Role::Waiting,
            },
            Self::Following(_) | Self::Telling(_) => Role::Follower,
            Self::Leading(leading) if leading.has_lease() => Role::Leader,
            Self::Asking(_) | Self::Claiming(_) | Self::Sealing(_) | Self::Leading(_) => {
                Role::Candidate
            }
        }
    }

    /// Time until which this agent considers itself leader, if it does at `now`.
    pub(super) fn lease(&self, now: Time) -> Option<Time> {
        let Self::Leading(leading) = self else {
            return None;
        };
        leading.lease_at(now)
    }

    /// Returns the epoch of the next list, if this agent ends its work for the next list, asks for seals, or has
    /// sealed.
    pub(super) fn next_epoch(&self, core: &Core) -> Option<u64> {
        let sealed = || core.voter.record.seal().map(|seal| seal.next.epoch);
        let Self::Leading(leading) = self else {
            return sealed();
        };
        let ends = leading.leaving.as_ref();
        let next = ends.and_then(|ends| ends.next.as_ref());
        next.map(|next| next.epoch).or_else(sealed)
    }

    pub(super) const fn following_mut(&mut self) -> Option<&mut Following> {
        let Self::Following(following) = self else {
            return None;
        };
        Some(following)
    }

    pub(super) const fn following(&self) -> Option<&Following> {
        let Self::Following(following) = self else {
            return None;
        };
        Some(following)
    }

    /// Ignores an input, and traces the reason.
    pub(super) fn ignore(&self, core: &Core, reason: &'static str) -> Next {
        core.ignore(self.role(), reason);
        Next::Stay
    }

    /// Notes that the followed leader has ended its work, because the voters change, if `from` is that leader.
    pub(super) fn note_change(&self, core: &mut Core, from: &AgentId) {
        if let Self::Following(following) = self
            && following.leader.id == *from
        {
            core.me.note_end(&following.leader, LeaderEnd::Resigned);
        }
    }

    /// Ends the role after an event that ends any role: reports the loss of the followed leader or of this agent's
    /// leadership, and cancels the timers of the role.
    pub(super) fn leave(&self, core: &mut Core, out: &mut Out) {
        match self {
            Self::Vacant(_) => {}
            Self::Following(following) => following.leave(core, out),
            Self::Asking(_) | Self::Claiming(_) | Self::Sealing(_) | Self::Telling(_) => {
                out.cancel_timer(BullyTimer::Round);
            }
            Self::Leading(leading) => leading.lose(LostReason::Superseded, out),
        }
    }
}
