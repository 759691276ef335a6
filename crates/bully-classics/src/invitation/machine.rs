//! The one `match` over roles and inputs.
//!
//! A role (`candidate.rs`, `member.rs`, `leader.rs`) returns the consequence of an input ([`Next`]), and
//! `transition.rs` carries it out. No role calls another role.

use std::{mem, sync::Arc};

use super::{
    AgentId, Incarnation, InvitationConfig, LAST_COUNT, Out, Score,
    core::Core,
    invited,
    message::{
        Accept, AreYouCoordinator, CoordinatorReply, Decline, InvitationMessage as Message, There,
    },
    state::{Next, State},
    timer::InvitationTimer,
};
use crate::numbered::CountRecord;
use bully_core::parts::Due;
use bully_core::protocol::{Identity, Input, InputOf, LostReason, Member, Members, Time};

/// The state machine of one agent in an invitation election; see the [module's page](super).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InvitationElection {
    pub(super) core: Core,
    pub(super) state: State,
    /// Time of the last step; `None` before the incarnation has begun.
    pub(super) stepped: Option<Time>,
}

/// The consequence "form a group in order of rank".
const BY_RANK: Next = Next::FormByRank(LostReason::Reorganized, None);

impl InvitationElection {
    pub(super) fn of(
        identity: Identity,
        config: Arc<InvitationConfig>,
        durable: Option<CountRecord>,
    ) -> Self {
        Self {
            core: Core::new(identity, config, durable),
            state: State::Free { slot: None },
            stepped: None,
        }
    }

    pub(super) fn step(&mut self, now: Time, input: InputOf<Self>, out: &mut Out) {
        let core = &mut self.core;
        let has_begun = self.stepped.is_some();
        let next = match input {
            Input::Start(members) if !has_begun => {
                // The first start is handled like a restart.
                core.numbers.hear(members.term());
                core.me.members = members;
                BY_RANK
            }
            Input::SetScore(score) if !has_begun => {
                core.me.score = score;
                return;
            }
            _ if !has_begun => return self.ignore("its incarnation has not begun"),
            Input::Received {
                from,
                incarnation,
                message,
            } => self.on_message(now, (&from, incarnation), message, out),
            Input::TimedOut(timer) => self.on_timer(now, timer, out),
            Input::Members(members) | Input::Start(members) => self.on_members(now, members, out),
            Input::Campaign => self.on_campaign(now, out),
            Input::SetScore(score) => self.on_set_score(now, score, out),
            Input::StepDown { to } => {
                if let State::Leader(leading) = &mut self.state {
                    leading.on_step_down(core, now, to, out)
                } else {
                    Next::Ignore("it does not lead")
                }
            }
            Input::ChangeVoters(_) => Next::Ignore("its voters do not change"),
            Input::Drained => {
                if let State::Leader(leading) = &self.state {
                    leading.on_drained()
                } else {
                    Next::Ignore("it does not lead")
                }
            }
        };
        self.go(now, next, out);
        self.stepped = Some(now);
    }

    fn on_message(
        &mut self,
        now: Time,
        caller: (&AgentId, Incarnation),
        message: Message,
        out: &mut Out,
    ) -> Next {
        let core = &mut self.core;
        let from = caller.0;
        let is_voter = core.me.members.get(from).is_some_and(Member::is_voter);
        if !is_voter && !matches!(message, Message::Decline(_)) {
            return Next::Ignore("an observer may only report a higher count");
        }
        // If the agent adopted such a count, it could form no further group, because no higher count exists.
        if message.term() > LAST_COUNT {
            return Next::Ignore("an impossible count");
        }
        if message.is_of_coordinator() && message.group().id != *from {
            return Next::Ignore("in the name of another agent's group");
        }
        let is_observer = !core.me.is_voter();
        match (message, &mut self.state) {
            (Message::AreYouCoordinator(m), _) => self.on_are_you_coordinator(now, caller, m, out),
            (Message::CoordinatorReply(m), state) => {
                core.numbers.hear(m.seen);
                if let State::Leader(leading) = state {
                    leading.on_place(core, from, &m, out)
                } else {
                    Next::Ignore("it is not looking for agents")
                }
            }
            (Message::Invitation(_), _) if is_observer => {
                Next::Ignore("an observer does not take part")
            }
            (Message::Invitation(m), state) => {
                invited::on_invitation(core, state, now, from, m, out)
            }
            (Message::Accept(m), _) => self.on_accept(now, from, &m, out),
            (Message::Decline(m), _) => self.on_decline(now, from, &m, out),
            (Message::Ready(m), state) if is_observer => {
                invited::on_observed(core, state, now, caller, (&m.group, m.score), out)
            }
            (Message::Ready(m), State::Member(member)) => {
                member.on_ready(core, now, caller, &m, out)
            }
            (Message::AreYouThere(_), _) if is_observer => Next::Ignore("an observer is not asked"),
            (Message::AreYouThere(m), state) => {
                let (belongs, group) = (state.has_member(&m.group, from), m.group);
                out.send(from, There { group, belongs });
                Next::Stay
            }
            (Message::There(m), State::Member(member)) => member.on_there(core, now, from, &m, out),
            (Message::Resign(m), state) => {
                core.numbers.hear(m.group.count);
                if let State::Member(member) = state {
                    member.on_resign(core, now, from, &m)
                } else {
                    Next::Ignore("it is not in another agent's group")
                }
            }
            (Message::Ready(_) | Message::There(_), _) => {
                Next::Ignore("of an earlier group or question")
            }
        }
    }

    fn on_accept(&mut self, now: Time, from: &AgentId, accept: &Accept, out: &mut Out) -> Next {
        match &mut self.state {
            State::Candidate(merge) if merge.group == accept.group => {
                merge.on_accept(&self.core, now, from, out)
            }
            State::Leader(leading) if leading.group == accept.group => {
                leading.on_accept(&self.core, from, out);
                Next::Stay
            }
            State::Free { .. } | State::Candidate(_) | State::Member(_) | State::Leader(_) => {
                Next::Ignore("to an earlier invitation")
            }
        }
    }

    fn on_decline(&mut self, now: Time, from: &AgentId, decline: &Decline, out: &mut Out) -> Next {
        let core = &mut self.core;
        core.numbers.hear(decline.seen);
        let is_voter = core.me.members.get(from).is_some_and(Member::is_voter);
        match &mut self.state {
            State::Candidate(merge) if merge.group == decline.group => {
                merge.on_decline(core, now, from, out)
            }
            // A voter reports a later group in its answer to the check; an observer only by `Decline`.
            State::Leader(leading) if leading.group == decline.group && !is_voter => {
                leading.on_decline(decline);
                Next::Stay
            }
            State::Free { .. } | State::Candidate(_) | State::Member(_) | State::Leader(_) => {
                Next::Ignore("to an earlier invitation")
            }
        }
    }

    /// Handles a coordinator's question in which group this agent is. The answer is made after the question took
    /// effect, because the question may cause this agent to form a new group.
    fn on_are_you_coordinator(
        &mut self,
        now: Time,
        caller: (&AgentId, Incarnation),
        question: AreYouCoordinator,
        out: &mut Out,
    ) -> Next {
        let AreYouCoordinator { group, score } = question;
        let core = &mut self.core;
        core.numbers.hear(group.count);
        if !core.me.is_voter() {
            return invited::on_observed(core, &mut self.state, now, caller, (&group, score), out);
        }
        if let State::Member(member) = &mut self.state
            && member.group == group
        {
            let next = member.on_are_you_coordinator(core, now, score, out);
            self.go(now, next, out);
        }
        let reply = CoordinatorReply {
            group,
            score: self.core.candidate_score(now),
            standing: self.state.standing(&self.core),
            seen: self.core.numbers.seen,
        };
        out.send(caller.0, reply);
        Next::Stay
    }

    /// Handles a timer. The timer may be early or outdated, so each deadline is checked again.
    fn on_timer(&mut self, now: Time, timer: InvitationTimer, out: &mut Out) -> Next {
        let core = &mut self.core;
        match (timer, &mut self.state) {
            (InvitationTimer::Slot, State::Free { slot: Some(slot) }) if now < *slot => {
                out.set_timer(InvitationTimer::Slot, slot.since(now));
                Next::Stay
            }
            (InvitationTimer::Slot, State::Free { slot: Some(_) }) => {
                core.end_cooldown(out); // the slots of all others have passed
                Next::Form(LostReason::Reorganized)
            }
            (InvitationTimer::Check, State::Leader(leading)) => {
                leading.on_check_due(core, now, out)
            }
            (InvitationTimer::Accepts, State::Candidate(merge)) => merge.on_accepts_due(now, out),
            (InvitationTimer::Watch, State::Member(member)) => member.on_watch_due(core, now, out),
            (InvitationTimer::Drain, State::Leader(leading)) => leading.on_drain_due(now, out),
            (InvitationTimer::Cooldown, state) => {
                match core.cooldown.on_due(now, InvitationTimer::Cooldown, out) {
                    Some(Due::Now) if matches!(state, State::Free { .. }) => BY_RANK,
                    Some(Due::Now | Due::Later) => Next::Stay,
                    None => Next::Ignore("it does not cool down"),
                }
            }
            (
                InvitationTimer::Slot
                | InvitationTimer::Check
                | InvitationTimer::Accepts
                | InvitationTimer::Watch
                | InvitationTimer::Drain,
                _,
            ) => Next::Ignore("a timer of an earlier state"),
        }
    }

    /// Handles a new snapshot. A confirmed end takes effect at once; a suspected agent is asked first.
    fn on_members(&mut self, now: Time, members: Arc<Members>, out: &mut Out) -> Next {
        let core = &mut self.core;
        core.numbers.hear(members.term());
        core.me.members = members;
        match &mut self.state {
            State::Free { slot } => {
                // An agent that cools down waits for other agents, which may be gone now. The slot of any other agent
                // stays: otherwise each snapshot would delay it.
                let may_begin_earlier = slot.is_none() || core.cooldown.has_begun();
                if may_begin_earlier && core.candidate_score(now).is_some() {
                    return BY_RANK;
                }
                Next::Stay
            }
            State::Leader(_) => Next::Stay,
            State::Candidate(merge) => {
                merge.hurry(core, now, out);
                Next::Stay
            }
            State::Member(member) => member.on_members(core, now, out),
        }
    }

    fn on_campaign(&mut self, now: Time, out: &mut Out) -> Next {
        let core = &mut self.core;
        if core.me.eligible().is_none() {
            return Next::Ignore("it cannot be elected");
        }
        core.end_cooldown(out);
        match &mut self.state {
            State::Leader(leading) => {
                leading.look_now(core, now, out);
                Next::Stay
            }
            State::Candidate(_) => Next::Ignore("it is forming a group"),
            State::Free { .. } | State::Member(_) => Next::Form(LostReason::Reorganized),
        }
    }

    fn on_set_score(&mut self, now: Time, score: Option<Score>, out: &mut Out) -> Next {
        let core = &mut self.core;
        let before = mem::replace(&mut core.me.score, score);
        // A new score means that the agent is ready to lead again.
        let has_cooled_down = score.is_some() && core.end_cooldown(out);
        if !core.me.is_voter() || (before == score && !has_cooled_down) {
            return Next::Stay;
        }
        match &mut self.state {
            State::Leader(leading) => leading.set_score(core, now, score, out),
            State::Free { .. } | State::Candidate(_) => BY_RANK,
            State::Member(member) if score.is_some() && member.is_outranked_by(core, now) => {
                Next::Form(LostReason::Reorganized)
            }
            State::Member(_) => Next::Stay,
        }
    }
}
