//! The one match over role and input, and the only place that changes the role.
//!
//! A role returns a consequence ([`Next`]). Roles are entered and left in this file, so that no timer of a former
//! role continues.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    Astra, BullyMessage, BullyTimer, Elect, Elected, Heartbeat, Ok, Resign, Step,
    announced::Announced,
    change::{Change, Next},
    deferring::Deferring,
    follower::{Following, Idle},
    holding::HoldingElection,
    leader::Tenure,
};
use crate::elections::message::Announcement;
use crate::protocol::{
    AgentId, Birth, Incarnation, Input, InputOf, LeaderEnd, Members, Role, Score,
};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum State {
    Idle(Idle),
    Following(Following),
    HoldingElection(HoldingElection),
    Deferring(Deferring),
    Announced(Announced),
    Leading(Tenure),
}

/// Handles an input. Before its start an agent has no state and only keeps its score.
pub(super) fn handle(state: &mut Option<State>, input: InputOf<Astra>, step: &mut Step<'_>) {
    let next = match (state.as_mut(), input) {
        (Some(state), input) => state.on_input(input, step),
        (None, Input::Start(members)) => on_start(&members, step),
        (None, Input::SetScore(score)) => {
            step.core.me.score = score;
            Next::Stay
        }
        (None, _) => Next::ignore(step, "it has not started"),
    };
    if let Next::Become(change) = next {
        // The former role is left first, because it would otherwise cancel a timer that the next role has set under
        // the same name.
        if let Some(former) = state {
            former.leave(step);
        }
        *state = Some(enter(change, step));
    }
}

/// Handles a start. At its first start an agent waits until an agent campaigns (ASTRA's goal `!bully_election()`). An
/// agent that restarts holds an election, because it may rank highest, and then no other agent would ask it.
fn on_start(members: &Arc<Members>, step: &mut Step<'_>) -> Next {
    step.core.note_members(members);
    match step.core.me.birth {
        Birth::Restarted => Next::hold_election(),
        Birth::Started => Next::Become(Change::Idle { slot: None }),
    }
}

/// Enters the role and returns it. One change may cause another change: an agent that has no other agent to ask leads
/// at once.
fn enter(mut change: Change, step: &mut Step<'_>) -> State {
    loop {
        let entered = match change {
            Change::Vacant { gone } => Err(match step.slot(gone.as_ref()) {
                Some(0) => Change::HoldElection {
                    failed_election: BTreeSet::new(),
                },
                slot => Change::Idle { slot },
            }),
            Change::Idle { slot } => Ok(State::Idle(Idle::enter(slot, step))),
            Change::HoldElection { failed_election } => {
                HoldingElection::enter(failed_election, step).map(State::HoldingElection)
            }
            Change::Defer {
                to,
                failed_election,
            } => Ok(State::Deferring(Deferring::enter(
                to,
                failed_election,
                step,
            ))),
            Change::Follow(leader, score) => {
                Ok(State::Following(Following::enter(leader, score, step)))
            }
            Change::Lead => Tenure::enter(step).map(State::Leading),
            Change::Announce { former } => Announced::enter(former, step).map(State::Announced),
            Change::Acquire(term, score) => Ok(State::Leading(Tenure::begin(term, score, step))),
        };
        match entered {
            Ok(state) => return state,
            Err(other) => change = other,
        }
    }
}

impl State {
    pub(super) const fn role(&self) -> Role {
        match self {
            Self::Idle(_) | Self::Following(_) => Role::Follower,
            Self::HoldingElection(_) | Self::Announced(_) => Role::Candidate,
            Self::Deferring(_) => Role::Waiting,
            Self::Leading(_) => Role::Leader,
        }
    }

    fn leave(&self, step: &mut Step<'_>) {
        match self {
            Self::Idle(idle) => idle.leave(step),
            Self::Following(_) => {}
            Self::HoldingElection(_) => HoldingElection::leave(step),
            Self::Deferring(_) => Deferring::leave(step),
            Self::Announced(_) => Announced::leave(step),
            Self::Leading(tenure) => tenure.leave(step),
        }
    }

    const fn tenure(&mut self) -> Option<&mut Tenure> {
        match self {
            Self::Leading(tenure) => Some(tenure),
            Self::Idle(_)
            | Self::Following(_)
            | Self::HoldingElection(_)
            | Self::Deferring(_)
            | Self::Announced(_) => None,
        }
    }

    fn on_input(&mut self, input: InputOf<Astra>, step: &mut Step<'_>) -> Next {
        match input {
            Input::Received {
                from,
                incarnation,
                message,
            } => self.on_message(&from, incarnation, message, step),
            Input::TimedOut(timer) => self.on_timer(timer, step),
            Input::Members(members) | Input::Start(members) => {
                let has_its_name = step.core.note_members(&members);
                let next = self.on_members(step);
                if has_its_name && matches!(next, Next::Stay) {
                    return self.competes_again(step);
                }
                next
            }
            Input::Campaign => self.on_campaign(step),
            Input::SetScore(score) => self.on_set_score(score, step),
            Input::StepDown { to } => match self.tenure() {
                Some(tenure) => tenure.drain(to, step),
                None => Next::ignore(step, "it does not lead"),
            },
            Input::ChangeVoters(_) => Next::ignore(step, "its voters do not change"),
            Input::Drained => match self.tenure() {
                Some(tenure) => tenure.on_drained(step),
                None => Next::ignore(step, "it does not lead"),
            },
        }
    }

    fn on_message(
        &mut self,
        from: &AgentId,
        incarnation: Incarnation,
        message: BullyMessage,
        step: &mut Step<'_>,
    ) -> Next {
        let announcement = |term, score| Announcement {
            from,
            incarnation,
            term,
            score,
        };
        match message {
            BullyMessage::Elect(elect) => self.on_elect(from, &elect, step),
            BullyMessage::Ok(ok) => self.on_ok(from, &ok, step),
            // The group may also contain agents with the default rules, and they send heartbeats.
            BullyMessage::Elected(Elected {
                term,
                score,
                answer,
                ..
            }) => self.on_elected(&announcement(term, score), answer.is_some(), step),
            BullyMessage::Heartbeat(Heartbeat { term, score, .. }) => {
                self.on_elected(&announcement(term, score), false, step)
            }
            BullyMessage::Resign(resign) => self.on_resign(from, &resign, step),
            BullyMessage::Yield(yielded) => {
                step.core.note_term(yielded.seen);
                Next::ignore(step, "no agent yields by these rules")
            }
            BullyMessage::Behind(behind) => {
                step.core.note_term(behind.seen);
                Next::ignore(step, "its leader counts no terms by these rules")
            }
        }
    }

    fn on_elect(&mut self, from: &AgentId, elect: &Elect, step: &mut Step<'_>) -> Next {
        if !step.core.me.is_voter() || !step.core.me.is_voter_named(from) {
            return Next::ignore(step, "only voters ask voters");
        }
        step.core.note_term(elect.seen);
        match self {
            Self::Idle(_) => Idle::on_elect(from, elect, step),
            Self::Following(following) => following.on_elect(from, elect, step),
            Self::HoldingElection(holding) => holding.on_elect(from, elect, step),
            Self::Deferring(deferring) => deferring.on_elect(from, elect, step),
            Self::Announced(announced) => announced.on_elect(from, elect, step),
            Self::Leading(tenure) => tenure.on_elect(from, elect, step),
        }
    }

    fn on_ok(&mut self, from: &AgentId, ok: &Ok, step: &mut Step<'_>) -> Next {
        step.core.note_term(ok.seen);
        match self {
            Self::HoldingElection(holding) => holding.on_ok(from, ok, step),
            Self::Deferring(deferring) => deferring.on_ok(from, step),
            Self::Idle(_) | Self::Following(_) | Self::Announced(_) | Self::Leading(_) => {
                Next::ignore(step, "it holds no election")
            }
        }
    }

    fn on_elected(
        &mut self,
        said: &Announcement<'_>,
        is_answer: bool,
        step: &mut Step<'_>,
    ) -> Next {
        if !step.core.me.is_voter_named(said.from) {
            return Next::ignore(step, "an observer leads no agent");
        }
        step.core.note_term(said.term);
        // A leader that ranks below this agent answers its election. That answer counts only while this agent holds
        // an election.
        let asks = matches!(self, Self::HoldingElection(_));
        if is_answer && !asks && step.competes_above(said.score, said.from) {
            return Next::ignore(step, "an answer to an election that is over");
        }
        match self {
            Self::Idle(_) => Idle::on_elected(said, step),
            Self::Following(following) => following.on_elected(said, is_answer, step),
            Self::HoldingElection(holding) => holding.on_elected(said, is_answer, step),
            Self::Deferring(_) => Deferring::on_elected(said, step),
            Self::Announced(announced) => announced.on_elected(said, step),
            Self::Leading(tenure) => tenure.on_elected(said, step),
        }
    }

    fn on_resign(&mut self, from: &AgentId, resign: &Resign, step: &mut Step<'_>) -> Next {
        step.core.note_term(resign.term);
        match self {
            Self::Leading(_) => return Next::ignore(step, "a leader is not a successor"),
            Self::Following(following) if !following.is_resigned(from, resign) => {
                return following.on_resign_of_former(resign, step);
            }
            Self::Idle(_)
            | Self::Following(_)
            | Self::HoldingElection(_)
            | Self::Deferring(_)
            | Self::Announced(_) => {}
        }
        if let Self::Following(following) = self {
            step.core
                .me
                .note_end(&following.leader, LeaderEnd::Resigned);
        }
        let is_named = resign.successor.as_ref() == Some(&step.core.me.id);
        // A second copy of the message makes no successor lead, because the first copy has raised `floor` above the
        // ended term.
        let is_called = is_named && resign.term >= step.core.floor && step.competes();
        step.core.note_resigned(resign.term);
        match self {
            Self::Following(following) => following.on_resign(from, resign, is_called, step),
            Self::Announced(announced) => announced.on_resign(from, resign, step),
            Self::Idle(_) | Self::HoldingElection(_) | Self::Deferring(_) | Self::Leading(_)
                if is_called =>
            {
                Next::Become(Change::Lead)
            }
            Self::HoldingElection(holding) => holding.on_resign(from, resign),
            Self::Idle(_) | Self::Deferring(_) | Self::Leading(_) => Next::Stay,
        }
    }

    fn on_members(&self, step: &mut Step<'_>) -> Next {
        match self {
            Self::Following(following) => following.on_members(step),
            Self::Deferring(deferring) => deferring.on_members(step),
            Self::Announced(announced) => announced.on_members(step),
            // The end of another member decides no election, because an election is won only at its deadline.
            Self::Idle(_) | Self::HoldingElection(_) | Self::Leading(_) => Next::Stay,
        }
    }

    fn on_timer(&mut self, timer: BullyTimer, step: &mut Step<'_>) -> Next {
        match (self, timer) {
            (Self::Idle(idle), BullyTimer::Campaign) => idle.on_slot_due(step),
            (Self::HoldingElection(holding), BullyTimer::Deadline) => holding.on_deadline(step),
            (Self::Announced(announced), BullyTimer::Deadline) => announced.on_deadline(step),
            (Self::Deferring(deferring), BullyTimer::Victory) => deferring.on_victory_due(step),
            (Self::Leading(tenure), BullyTimer::Drain) => tenure.on_drain_due(step),
            (state, BullyTimer::Cooldown) => {
                if step.is_cooldown_over() {
                    return state.competes_again(step);
                }
                Next::Stay
            }
            (_, _) => Next::ignore(step, "a timer of another role, or of other rules"),
        }
    }

    fn on_campaign(&self, step: &mut Step<'_>) -> Next {
        if step.core.me.eligible().is_none() {
            return Next::ignore(step, "it cannot be elected");
        }
        step.end_cooldown();
        match self {
            Self::Leading(tenure) => tenure.announce_again(step),
            Self::Announced(announced) => announced.announce_again(step),
            Self::HoldingElection(_) | Self::Deferring(_) => {
                Next::ignore(step, "an election is under way")
            }
            Self::Idle(_) | Self::Following(_) if !step.competes() => {
                Next::ignore(step, "the terms have come to their end")
            }
            Self::Idle(_) => Next::hold_election(),
            Self::Following(following) => following.on_end(step),
        }
    }

    /// Compares this agent at once with the other agents by the new score (rule `follow-score`).
    fn on_set_score(&mut self, score: Option<Score>, step: &mut Step<'_>) -> Next {
        let before = std::mem::replace(&mut step.core.me.score, score);
        // The application ends the cool-down by setting the score, even if the score stays the same.
        let has_cooled_down = score.is_some() && step.end_cooldown();
        if before == score && has_cooled_down {
            return self.competes_again(step);
        }
        if before == score || !step.core.me.is_voter() {
            return Next::Stay;
        }
        match self {
            // A score has no effect, because by these rules an idle agent starts only on a command.
            Self::Idle(_) => Next::Stay,
            Self::Following(following) => following.challenge(step),
            Self::Announced(announced) => announced.on_score(score, step),
            Self::HoldingElection(holding) if score.is_some() => holding.on_score(step),
            Self::Deferring(deferring) if score.is_some() => deferring.on_score(),
            Self::HoldingElection(_) | Self::Deferring(_) => {
                Next::Become(Change::Idle { slot: None })
            }
            Self::Leading(tenure) => tenure.on_score(score, step),
        }
    }

    /// Called when the cool-down has ended, or no later process has the agent's name any more.
    fn competes_again(&self, step: &mut Step<'_>) -> Next {
        match self {
            Self::Idle(_) => Next::Become(Change::Vacant { gone: None }),
            Self::Following(following) => following.challenge(step),
            Self::HoldingElection(_)
            | Self::Deferring(_)
            | Self::Announced(_)
            | Self::Leading(_) => Next::Stay,
        }
    }
}
