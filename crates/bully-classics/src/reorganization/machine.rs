//! The one `match` over roles and inputs.
//!
//! A role (`candidate.rs`, `waiting.rs`, `member.rs`, `leader.rs`) returns the consequence of an input
//! ([`Next`]), and `transition.rs` carries it out. No role calls another role.

use std::{mem, sync::Arc};

use super::{
    AgentId, Incarnation, LAST_COUNT, Out, ReorganizationConfig, Score, answer,
    core::{Core, ELECT},
    halt,
    message::{Nack, NotNormal, ReorganizationMessage as Message, There},
    state::{Next, State},
    timer::ReorganizationTimer,
};
use crate::numbered::CountRecord;
use bully_core::parts::Due;
use bully_core::protocol::{Identity, Input, InputOf, Member, Members, Rank, Time};

/// The state machine of one agent in a reorganization; see the [module's page](super).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reorganization {
    pub(super) core: Core,
    pub(super) state: State,
    /// Time of the last step; `None` before the incarnation has begun.
    pub(super) stepped: Option<Time>,
}

impl Reorganization {
    pub(super) fn of(
        identity: Identity,
        config: Arc<ReorganizationConfig>,
        durable: Option<CountRecord>,
    ) -> Self {
        Self {
            core: Core::new(identity, config, durable),
            state: State::Idle,
            stepped: None,
        }
    }

    pub(super) fn step(&mut self, now: Time, input: InputOf<Self>, out: &mut Out) {
        let core = &mut self.core;
        let has_begun = self.stepped.is_some();
        let next = match input {
            Input::Start(members) if !has_begun => {
                // The first start counts as a recovery as well (rule `recover-on-start`).
                core.numbers.hear(members.term());
                core.me.members = members;
                ELECT
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
            } => self.on_message(now, &from, incarnation, message, out),
            Input::TimedOut(timer) => self.on_timer(now, timer, out),
            Input::Members(members) | Input::Start(members) => self.on_members(now, members, out),
            Input::Campaign => self.on_campaign(out),
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
        from: &AgentId,
        incarnation: Incarnation,
        message: Message,
        out: &mut Out,
    ) -> Next {
        let core = &mut self.core;
        let is_voter = core.me.members.get(from).is_some_and(Member::is_voter);
        if !is_voter && !matches!(message, Message::NotNormal(_)) {
            return Next::Ignore("an observer may only report a higher count");
        }
        // If the agent adopted such a count, it could hold no further election, because no higher count exists.
        if message.term() > LAST_COUNT {
            return Next::Ignore("an impossible count");
        }
        if message.is_call() && message.election().id != *from {
            return Next::Ignore("in the name of another agent's election");
        }
        let caller = (from, incarnation);
        let state = &mut self.state;
        match message {
            Message::AreYouThere(m) => answer::are_you_there(core, state, now, from, &m, out),
            Message::AreYouNormal(m) => answer::are_you_normal(core, state, now, caller, &m, out),
            Message::Ready(m) => answer::ready(core, state, now, caller, &m, out),
            Message::Halt(_) | Message::NewCoordinator(_) if !core.me.is_voter() => {
                Next::Ignore("an observer does not take part")
            }
            Message::Halt(m) => {
                let (id, score) = (from.clone(), m.score);
                halt::on_halt(core, state, now, Rank { score, id }, &m, out)
            }
            Message::NewCoordinator(m) => {
                halt::on_new_coordinator(core, state, now, caller, &m, out)
            }
            Message::Resign(m) => {
                core.numbers.hear(m.election.count);
                match state.member_of(&m.election) {
                    Some(membership) => membership.on_resign(core, &m),
                    None => Next::Ignore("not the coordinator it works under"),
                }
            }
            Message::There(m) => self.on_there(now, from, &m, out),
            Message::NotNormal(m) => self.on_not_normal(&m),
            Message::Ack(m) => {
                if let State::Candidate(candidacy) = state {
                    candidacy.on_ack(core, now, from, &m, out)
                } else {
                    Next::Ignore("it is not calling members")
                }
            }
            Message::Nack(m) => self.on_nack(from, &m),
            Message::Normal(_) => Next::Stay,
        }
    }

    fn on_there(&mut self, now: Time, from: &AgentId, there: &There, out: &mut Out) -> Next {
        let core = &mut self.core;
        core.numbers.hear(there.seen);
        core.learn(from, there.score);
        match &mut self.state {
            State::Candidate(candidacy) => candidacy.on_there(core, now, from, there, out),
            State::Member(member) => member.on_there(core, now, from, there, out),
            State::Idle | State::Waiting(_) | State::Leader(_) => {
                Next::Ignore("no member was asked")
            }
        }
    }

    fn on_not_normal(&mut self, answer: &NotNormal) -> Next {
        self.core.numbers.hear(answer.seen);
        if let State::Leader(leading) = &self.state {
            leading.on_not_normal(answer)
        } else {
            Next::Ignore("it does not coordinate")
        }
    }

    fn on_nack(&mut self, from: &AgentId, nack: &Nack) -> Next {
        self.core.numbers.hear(nack.seen);
        self.core.learn(from, nack.score);
        if let State::Candidate(candidacy) = &self.state {
            candidacy.on_nack(&self.core, from, nack)
        } else {
            Next::Ignore("it is not calling members")
        }
    }

    /// Handles a timer. The timer may be early or outdated, so each deadline is checked again.
    fn on_timer(&mut self, now: Time, timer: ReorganizationTimer, out: &mut Out) -> Next {
        let core = &mut self.core;
        match (timer, &mut self.state) {
            (ReorganizationTimer::Answer, State::Candidate(candidacy)) => {
                candidacy.on_answer_due(core, now, out)
            }
            (ReorganizationTimer::Takeover, State::Waiting(wait)) => {
                wait.on_takeover_due(core, now, out)
            }
            (ReorganizationTimer::Check, State::Leader(leading)) => {
                leading.on_check_due(core, now, out)
            }
            (ReorganizationTimer::Watch, State::Member(member)) => {
                member.on_watch_due(core, now, out)
            }
            (ReorganizationTimer::Drain, State::Leader(leading)) => leading.on_drain_due(now, out),
            (ReorganizationTimer::Cooldown, state) => {
                match core
                    .cooldown
                    .on_due(now, ReorganizationTimer::Cooldown, out)
                {
                    Some(Due::Now) if state.is_cooling_down() => ELECT,
                    Some(Due::Now | Due::Later) => Next::Stay,
                    None => Next::Ignore("it does not cool down"),
                }
            }
            (
                ReorganizationTimer::Answer
                | ReorganizationTimer::Takeover
                | ReorganizationTimer::Check
                | ReorganizationTimer::Watch
                | ReorganizationTimer::Drain,
                _,
            ) => Next::Ignore("a timer of an earlier state"),
        }
    }

    /// Handles a new snapshot. In the paper the members are fixed, and only a silence of T proves a crash. A snapshot
    /// may contain confirmed ends, which prove more than a silence. After a suspicion the agent asks at once.
    fn on_members(&mut self, now: Time, members: Arc<Members>, out: &mut Out) -> Next {
        let core = &mut self.core;
        core.numbers.hear(members.term());
        core.me.members = members;
        // Scores in earlier messages are older than the snapshot, and would hide a changed score.
        core.heard.clear();
        match &mut self.state {
            State::Idle if core.candidate_score(now).is_some() => ELECT,
            // Dead members change nothing: only the "no" of a member to `AreYouNormal` begins an election.
            State::Idle | State::Leader(_) => Next::Stay,
            State::Candidate(candidacy) => candidacy.on_members(core, now, out),
            State::Waiting(wait) => wait.on_members(core, now),
            State::Member(member) => member.on_members(core, now, out),
        }
    }

    fn on_campaign(&mut self, out: &mut Out) -> Next {
        if self.core.me.eligible().is_none() {
            return Next::Ignore("it cannot be elected");
        }
        self.core.end_cooldown(out);
        match &self.state {
            State::Leader(leading) => {
                leading.check_all(out);
                Next::Stay
            }
            State::Candidate(_) => Next::Ignore("it holds an election"),
            State::Idle | State::Waiting(_) | State::Member(_) => ELECT,
        }
    }

    /// Sets the score. The paper's agents have fixed ranks. In this machine an agent that now ranks above its
    /// coordinator holds an election.
    fn on_set_score(&mut self, now: Time, score: Option<Score>, out: &mut Out) -> Next {
        let core = &mut self.core;
        let before = mem::replace(&mut core.me.score, score);
        // The application sets a score when the agent is ready to lead again, so this ends the cool-down.
        let has_cooled_down = score.is_some() && core.end_cooldown(out);
        if !core.me.is_voter() || (before == score && !has_cooled_down) {
            return Next::Stay;
        }
        match (&mut self.state, score) {
            (State::Leader(leading), score) => leading.set_score(core, now, score, out),
            // The members that the candidate called know only its former score, so a new election reports the new
            // score.
            (State::Candidate(_), _) => ELECT,
            (State::Idle | State::Waiting(_), Some(_)) if before < score || has_cooled_down => {
                ELECT
            }
            (State::Member(m), Some(_)) if core.outranks(now, m.score, &m.leader.id) => ELECT,
            (State::Idle | State::Waiting(_) | State::Member(_), _) => Next::Stay,
        }
    }
}
