//! Finds the outcome of a command, from the states of its agent before and after the command.
//!
//! ```text
//!   Judge::new(command, before) ── refused ──▶ nothing is given to the agent
//!        │ given to the agent
//!        ├─ see(moment) ─▶ None: wait on         (moment by moment)
//!        │            └──▶ Some(outcome)
//!        └─ overdue(moment) ─▶ what is known when the time is over
//! ```
//!
//! Decided here, without a clock or a runtime: which commands are refused, and which state shows which outcome. Not
//! here: when an agent is checked (`carry_out.rs`).

use crate::{
    agent::{Lifecycle, Status, StoreContenders},
    protocol::{AgentId, Leader, Member, Members, Score, Term},
};

use super::{Command, CommandRefusal, Outcome};

/// The state of an agent at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) status: Status,
    /// The agent's score, as the members of its group know it.
    pub(super) score: Option<Score>,
    /// Whether another voter is up and has a score, or the store of the lease lists an agent that could lead.
    pub(super) has_other: bool,
    /// The agents that could lead according to the store of the lease, if the group has a lease.
    pub(super) contenders: Option<StoreContenders>,
}

impl Moment {
    pub(super) fn of(
        id: &AgentId,
        status: Status,
        members: &Members,
        contenders: Option<StoreContenders>,
    ) -> Self {
        let is_other = |other: &Member| other.id != *id && other.is_up() && other.rank().is_some();
        let named = contenders.as_ref().and_then(|all| all.has_other(id));
        Self {
            status,
            score: members.get(id).and_then(|member| member.score),
            has_other: members.iter().any(is_other) || named == Some(true),
            contenders,
        }
    }

    /// Returns whether another agent may be able to lead. If the store of the lease cannot list agents, this is
    /// unknown, and the answer is `true`.
    fn may_have_other(&self) -> bool {
        self.has_other || self.contenders == Some(StoreContenders::Unknown)
    }

    /// Returns the leader, if it is another agent.
    fn successor(&self, id: &AgentId) -> Option<&Leader> {
        self.status
            .leader
            .as_ref()
            .filter(|leader| leader.id != *id)
    }
}

/// Follows one command until a state of its agent shows the outcome.
#[derive(Debug)]
pub(super) struct Judge {
    id: AgentId,
    command: Command,
    /// The term in which the agent led at the time of the command; `None` if it did not lead.
    led: Option<Term>,
    /// Whether a later state has shown that the agent gave up the leadership of `led`.
    is_given_up: bool,
}

impl Judge {
    /// Checks whether the command is possible now.
    ///
    /// # Errors
    /// [`CommandRefusal`] if the command is not possible.
    pub(super) fn new(
        id: &AgentId,
        command: &Command,
        before: &Moment,
        members: &Members,
    ) -> Result<Self, CommandRefusal> {
        if before.status.lifecycle == Lifecycle::Ended {
            return Err(CommandRefusal::AgentEnded);
        }
        if let Command::StepDown { to } = command {
            if before.status.leading.is_none() {
                let (leader, about) = (&before.status.leader, &before.status.leader_about);
                return Err(CommandRefusal::NotLeading {
                    leader: leader.clone(),
                    about: about.clone(),
                });
            }
            match to {
                Some(to) => may_succeed(id, to, members, before.contenders.as_ref())?,
                None if before.may_have_other() => {}
                None => return Err(CommandRefusal::NoOther),
            }
        }
        Ok(Self {
            id: id.clone(),
            command: command.clone(),
            led: before.status.leading,
            is_given_up: false,
        })
    }

    /// Handles the next state of the agent. Returns the outcome if this state shows the outcome.
    pub(super) fn see(&mut self, now: &Moment) -> Option<Outcome> {
        if now.status.lifecycle == Lifecycle::Ended {
            return Some(Outcome::Ended);
        }
        match &self.command {
            Command::SetScore { score } if now.status.tie_broken => {
                Some(Outcome::ScoreWaits { score: *score })
            }
            Command::SetScore { score } => (now.score == Some(*score)).then(|| Outcome::ScoreSet {
                score: *score,
                leader: now.status.leader.clone(),
            }),
            Command::StepDown { to } => {
                let asked = to.clone();
                let leader = match self.follow(now)? {
                    Succession::Again { term } => return Some(Outcome::LedAgain { term }),
                    Succession::To(leader) => leader?,
                };
                Some(match asked.filter(|asked| leader.id != *asked) {
                    Some(asked) => Outcome::LedByAnother { asked, leader },
                    None => Outcome::HandedOver { leader },
                })
            }
            // The agent's state does not show the outcome of these commands: `carry_out.rs` finds it.
            Command::ChangeVoters(_) | Command::ResetSchedule { .. } | Command::Drain => None,
            Command::WithdrawScore => {
                if now.score.is_some() {
                    return None; // the agent has not handled the command yet
                }
                match self.follow(now)? {
                    Succession::Again { term } => Some(Outcome::LedAgain { term }),
                    Succession::To(leader) => {
                        (leader.is_some() || self.led.is_none() || !now.has_other)
                            .then_some(Outcome::ScoreWithdrawn { leader })
                    }
                }
            }
        }
    }

    /// Returns the outcome for the end of the operator's wait, by the last state.
    pub(super) fn overdue(&self, now: &Moment) -> Outcome {
        match (self.led, now.status.leading) {
            (Some(_), Some(term)) if now.status.draining => Outcome::StillDraining { term },
            (Some(before), Some(term)) if term > before => Outcome::LedAgain { term },
            (Some(term), None) => Outcome::Vacant { term },
            (_, Some(_)) | (None, None) => Outcome::Unheard,
        }
    }

    /// Returns the next leadership, if the agent has given up the leadership that it held at the time of the command.
    fn follow(&mut self, now: &Moment) -> Option<Succession> {
        match now.status.leading {
            None => {
                self.is_given_up = true;
                Some(Succession::To(now.successor(&self.id).cloned()))
            }
            Some(term) if self.is_given_up => Some(Succession::Again { term }),
            Some(_) => None,
        }
    }
}

/// The next leadership, after the agent has given its leadership up.
enum Succession {
    /// Another agent leads; `None` if its leadership is not known yet.
    To(Option<Leader>),
    /// The same agent leads again.
    Again { term: Term },
}

/// Checks that the member `to` can take over from `id`.
fn may_succeed(
    id: &AgentId,
    to: &AgentId,
    members: &Members,
    contenders: Option<&StoreContenders>,
) -> Result<(), CommandRefusal> {
    if to == id {
        return Err(CommandRefusal::LeadsAlready { to: to.clone() });
    }
    let Some(member) = members.get(to) else {
        return match contenders {
            Some(all) if all.can_lead(to) != Some(false) => Ok(()),
            Some(all) if all.knows(to) == Some(true) => {
                Err(CommandRefusal::NoSuccessor { to: to.clone() })
            }
            Some(_) | None => Err(CommandRefusal::NoMember { to: to.clone() }),
        };
    };
    if !member.is_up() || member.rank().is_none() {
        return Err(CommandRefusal::NoSuccessor { to: to.clone() });
    }
    Ok(())
}
