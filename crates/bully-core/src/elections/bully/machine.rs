//! The one match over role and input, and the only place that changes the role.
//!
//! A role returns a consequence ([`Next`]). Roles are entered and left in this file, so that no timer of a former
//! role continues, and the application learns of each leader and of each end only once.

use std::sync::Arc;

use super::{
    Bully, Elect, Elected, Ok, Step,
    candidate::Candidate,
    change::{Attempt, Change, Followed, Next},
    follower::{Following, Vacant},
    leader::Tenure,
    waiting::Waiting,
};
use crate::elections::{
    message::{Announcement, Behind, BullyMessage, Heartbeat, Resign, Yield},
    timer::BullyTimer,
};
use crate::protocol::{AgentId, Incarnation, Input, InputOf, Leader, Members, Role, Round, Score};

/// The four roles, each with its data. A follower has a leader, or the leadership is vacant.
///
/// ```text
///            slot came: ask                    all answered, or T passed
/// Follower ────────────────▶ Candidate ─────────────────────────────────▶ Leader
///  ▲   │ ▲                     │   ▲                                        │
///  │   │ └── Elected, ─────────┤   │ Elected did not come                   │
///  │   │     Heartbeat         ▼   │                                        │
///  │   │                     Waiting ◀──────────────────────────────────────┤
///  │   └─ the leader's end is known, and this agent has the first slot ────▶│
///  └──────────────────── superseded, resigned, stalled ─────────────────────┘
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum State {
    Vacant(Vacant),
    Following(Following),
    /// Boxed: a candidate's state is by far the largest, and the rarest.
    Candidate(Box<Candidate>),
    Waiting(Waiting),
    Leading(Tenure),
}

/// Handles an input. Before its start an agent has no state and only keeps its score.
pub(super) fn handle(slot: &mut Option<State>, input: &InputOf<Bully>, step: &mut Step<'_>) {
    if let Some(state) = slot {
        state.handle(input, step);
    } else if let Input::Start(members) = input {
        let change = on_start(members, step);
        *slot = Some(enter(change, None, step));
    } else if let Input::SetScore(score) = input {
        step.core.me.score = *score;
    } else {
        step.ignore("it has not started");
    }
}

/// Handles a start, at boot or after a crash. The agent asks the leader in the snapshot (rule `ask-the-leader-first`),
/// or follows it if the agent itself cannot lead. If the snapshot has no leader, the agent acts in its slot. In a
/// closed group it then announces itself without asking, because it knows that no member is missing.
fn on_start(members: &Arc<Members>, step: &mut Step<'_>) -> Change {
    step.core.note_members(members);
    let me = &step.core.me;
    let Some(leader) = members.leader().filter(|leader| leader.id != me.id) else {
        let (attempt, gone) = (Attempt::at_start(members), None);
        return Change::TakeSlot { attempt, gone };
    };
    if step.competes() {
        return Change::AskLeader {
            id: leader.id.clone(),
            following: None,
        };
    }
    match members.get(&leader.id).and_then(|member| member.score) {
        Some(score) => Change::Follow(leader.clone(), score),
        // Announcements are compared by term and score. Without the leader's score the agent waits for its next
        // announcement.
        None => Change::Vacant(None),
    }
}

/// Enters a role and returns it. One change may cause another change: an agent whose slot is the first acts at once.
/// `known` is the leader that was last reported to the application.
fn enter(change: Change, known: Option<&Leader>, step: &mut Step<'_>) -> State {
    let known = match known {
        Some(leader) if change.ends_following() => {
            step.notify_no_leader(leader.term);
            None
        }
        known => known,
    };
    match change {
        Change::TakeSlot { attempt, gone } => {
            let change = attempt.in_slot(step.slot(gone.as_ref()));
            enter(change, known, step)
        }
        Change::Vacant(plan) => State::Vacant(Vacant::enter(plan, step)),
        Change::AskLeader { id, following } => {
            State::Candidate(Box::new(Candidate::ask_leader(id, following, step)))
        }
        Change::AskVoters { outranked, grace } => {
            match Candidate::ask_voters(outranked, grace, step) {
                Ok(candidate) => State::Candidate(Box::new(candidate)),
                Err(change) => enter(change, known, step),
            }
        }
        Change::WaitFor(deference) => State::Waiting(Waiting::enter(deference, step)),
        Change::Follow(leader, score) => {
            State::Following(Following::enter(leader, score, known, step))
        }
        Change::FollowAndAsk(leader, score) => {
            let following = Following::enter(leader, score, known, step);
            following.leave(step);
            enter(following.ask(), known, step)
        }
        Change::FollowUntil(leader, score, asks_at) => {
            let following = Following::enter(leader, score, known, step);
            State::Following(following.until(asks_at, step))
        }
        Change::Lead => match Tenure::enter(step) {
            Ok(tenure) => State::Leading(tenure),
            Err(change) => enter(change, known, step),
        },
    }
}

impl State {
    pub(super) const fn role(&self) -> Role {
        match self {
            Self::Vacant(_) | Self::Following(_) => Role::Follower,
            Self::Candidate(_) => Role::Candidate,
            Self::Waiting(_) => Role::Waiting,
            Self::Leading(_) => Role::Leader,
        }
    }

    pub(super) const fn followed(&self) -> Option<&Followed> {
        match self {
            Self::Following(following) => Some(&following.followed),
            Self::Candidate(candidate) => candidate.following(),
            Self::Vacant(_) | Self::Waiting(_) | Self::Leading(_) => None,
        }
    }

    fn handle(&mut self, input: &InputOf<Bully>, step: &mut Step<'_>) {
        loop {
            match self.on_input(input, step) {
                Next::Stay => return,
                Next::Become(change) => return self.change(change, step),
                Next::Again(change) => self.change(change, step),
            }
        }
    }

    fn change(&mut self, change: Change, step: &mut Step<'_>) {
        // The former role is left first, because it would otherwise cancel a timer that the next role has set under
        // the same name.
        match self {
            Self::Vacant(vacant) => vacant.leave(step),
            Self::Following(following) => following.leave(step),
            Self::Candidate(candidate) => candidate.leave(step),
            Self::Waiting(_) => Waiting::leave(step),
            Self::Leading(tenure) => tenure.leave(step),
        }
        change.note_end(self.followed(), step);
        let known = self.followed().map(|followed| &followed.leader);
        *self = enter(change, known, step);
        step.role = self.role();
    }

    fn on_input(&mut self, input: &InputOf<Bully>, step: &mut Step<'_>) -> Next {
        match input {
            Input::Received {
                from,
                incarnation,
                message,
            } => self.on_message(from, *incarnation, message, step),
            Input::Told(never) => match *never {},
            Input::TimedOut(timer) => self.on_timer(*timer, step),
            Input::Members(members) | Input::Start(members) => {
                let has_its_name = step.core.note_members(members);
                let disowned = self.on_disowned(step);
                let next = disowned.unwrap_or_else(|| self.on_members(step));
                if has_its_name && matches!(next, Next::Stay) {
                    return self.competes_again(step);
                }
                next
            }
            Input::Campaign => self.on_campaign(step),
            Input::SetScore(score) => self.on_set_score(*score, step),
            Input::StepDown { to } => self.on_step_down(to.clone(), step),
            Input::Drained => self.on_drained(step),
            Input::ChangeVoters(_) => Next::ignore(step, "its voters do not change"),
        }
    }

    // ---- messages ----

    fn on_message(
        &mut self,
        from: &AgentId,
        incarnation: Incarnation,
        message: &BullyMessage,
        step: &mut Step<'_>,
    ) -> Next {
        let (term, score, answer) = match message {
            BullyMessage::Heartbeat(Heartbeat { term, score, .. }) => (*term, *score, None),
            BullyMessage::Elected(Elected {
                term,
                score,
                answer,
                ..
            }) => (*term, *score, *answer),
            BullyMessage::Elect(elect) => return self.on_elect(from, incarnation, elect, step),
            BullyMessage::Ok(ok) => return self.on_ok(from, ok, step),
            BullyMessage::Yield(yielded) => return self.on_yield(from, yielded, step),
            BullyMessage::Behind(behind) => return self.on_behind(behind, step),
            BullyMessage::Resign(resign) => return self.on_resign(from, resign, step),
        };
        let said = Announcement {
            from,
            incarnation,
            term,
            score,
        };
        self.on_announcement(&said, answer, step)
    }

    fn on_announcement(
        &mut self,
        said: &Announcement<'_>,
        answer: Option<Round>,
        step: &mut Step<'_>,
    ) -> Next {
        // Heartbeats are checked first: nearly every message is a heartbeat of the leader that this agent follows.
        if let Self::Following(following) = self
            && following.refresh(said, step)
        {
            return Next::Stay;
        }
        if !step.core.me.is_voter_named(said.from) {
            return Next::ignore(step, "an observer leads no agent");
        }
        // A winner takes a term above every term that it has seen, so the term of a leader that it refuses counts, too.
        step.core.note_term(said.term);
        match self {
            Self::Vacant(vacant) => vacant.on_announcement(said, step),
            Self::Following(following) => following.on_announcement(said, step),
            Self::Candidate(candidate) => candidate.on_announcement(said, answer, step),
            Self::Waiting(waiting) => waiting.on_announcement(said, step),
            Self::Leading(tenure) => tenure.on_announcement(said, step),
        }
    }

    fn on_elect(
        &mut self,
        from: &AgentId,
        incarnation: Incarnation,
        elect: &Elect,
        step: &mut Step<'_>,
    ) -> Next {
        if !step.core.me.is_voter() || !step.core.me.is_voter_named(from) {
            return Next::ignore(step, "only voters ask voters");
        }
        step.core.note_term(elect.seen);
        match self {
            Self::Vacant(vacant) => vacant.on_elect(from, elect, step),
            Self::Following(following) => following.on_elect(from, incarnation, elect, step),
            Self::Candidate(candidate) => candidate.on_elect(from, elect, step),
            Self::Waiting(waiting) => waiting.on_elect(from, elect, step),
            Self::Leading(tenure) => tenure.on_elect(from, incarnation, elect, step),
        }
    }

    fn on_ok(&mut self, from: &AgentId, ok: &Ok, step: &mut Step<'_>) -> Next {
        step.core.note_term(ok.seen);
        match self {
            Self::Candidate(candidate) => return candidate.on_ok(from, ok, step),
            // A sender that has followed a higher term ignores this leader's announcements as stale, so the leader
            // takes a term above the sender's term.
            Self::Leading(tenure) => tenure.renew_above(ok.seen, step),
            Self::Vacant(_) | Self::Following(_) | Self::Waiting(_) => {
                step.ignore("an answer to another round");
            }
        }
        Next::Stay
    }

    fn on_yield(&mut self, from: &AgentId, yielded: &Yield, step: &mut Step<'_>) -> Next {
        step.core.note_term(yielded.seen);
        match self {
            Self::Candidate(candidate) => return candidate.on_yield(from, yielded, step),
            Self::Waiting(waiting) => return waiting.on_yield(yielded, step),
            Self::Leading(tenure) => tenure.renew_above(yielded.seen, step),
            Self::Vacant(_) | Self::Following(_) => step.ignore("an answer to another round"),
        }
        Next::Stay
    }

    fn on_behind(&mut self, behind: &Behind, step: &mut Step<'_>) -> Next {
        step.core.note_term(behind.seen);
        match self {
            Self::Leading(tenure) => tenure.renew_above(behind.seen, step),
            Self::Vacant(_) | Self::Following(_) | Self::Candidate(_) | Self::Waiting(_) => {
                step.ignore("it does not lead");
            }
        }
        Next::Stay
    }

    fn on_resign(&mut self, from: &AgentId, resign: &Resign, step: &mut Step<'_>) -> Next {
        step.core.note_term(resign.term);
        // A delayed `Resign` of an earlier leadership must not end the present leadership.
        let is_other =
            |followed: &Followed| followed.leader.id != *from || followed.leader.term > resign.term;
        if self.role() == Role::Leader || self.followed().is_some_and(is_other) {
            return Next::ignore(step, "not the leader that is followed");
        }
        if let Some(followed) = self.followed() {
            followed.note_resigned(step);
        }
        let is_named = resign.successor.as_ref() == Some(&step.core.me.id);
        // Only the first copy of a `Resign` makes its successor lead, because it raises `floor` above the ended term.
        let is_called = is_named && resign.term >= step.core.floor && step.competes();
        match self {
            Self::Following(_) => Following::on_resign(from, resign, is_called, step),
            Self::Candidate(candidate) => candidate.on_resign(from, resign, is_called, step),
            Self::Vacant(_) | Self::Waiting(_) | Self::Leading(_) => {
                step.core.note_resigned(resign.term);
                if is_called {
                    Next::Become(Change::Lead)
                } else {
                    Next::Stay
                }
            }
        }
    }

    // ---- members and time ----

    fn on_members(&mut self, step: &mut Step<'_>) -> Next {
        match self {
            Self::Vacant(vacant) => vacant.on_members(step),
            Self::Following(following) => following.on_members(step),
            Self::Candidate(candidate) => candidate.on_members(step),
            Self::Waiting(waiting) => waiting.on_members(step),
            Self::Leading(tenure) => {
                tenure.on_members(step);
                Next::Stay
            }
        }
    }

    fn on_timer(&mut self, timer: BullyTimer, step: &mut Step<'_>) -> Next {
        match (self, timer) {
            (Self::Vacant(vacant), BullyTimer::Campaign) => vacant.on_slot_due(step),
            (Self::Following(following), BullyTimer::Campaign) => following.on_slot_due(step),
            (Self::Following(following), BullyTimer::Detect) => following.on_detect_due(step),
            (Self::Candidate(candidate), BullyTimer::Widen | BullyTimer::Deadline) => {
                candidate.on_due(timer, step)
            }
            (Self::Waiting(waiting), BullyTimer::Victory) => waiting.on_victory_due(step),
            (Self::Leading(tenure), BullyTimer::Heartbeat) => tenure.on_heartbeat_due(step),
            (Self::Leading(tenure), BullyTimer::Drain) => tenure.on_drain_due(step),
            (Self::Leading(tenure), BullyTimer::Preempt) => {
                tenure.on_preempt_due(step);
                Next::Stay
            }
            (state, BullyTimer::Cooldown) => {
                if step.is_cooldown_over() {
                    return state.competes_again(step);
                }
                Next::Stay
            }
            (_, _) => Next::ignore(step, "a timer of another role, or of other rules"),
        }
    }

    /// Called when the cool-down has ended, or no later process has the agent's name any more: the agent takes a slot by
    /// its rank, or asks a lower-ranked leader to yield.
    fn competes_again(&mut self, step: &mut Step<'_>) -> Next {
        match self {
            Self::Vacant(_) => Vacant::take_slot(),
            Self::Following(following) => following.challenge(step),
            Self::Candidate(_) | Self::Waiting(_) | Self::Leading(_) => Next::Stay,
        }
    }

    // ---- commands of the application ----

    fn on_campaign(&self, step: &mut Step<'_>) -> Next {
        if step.core.me.eligible().is_none() {
            return Next::ignore(step, "it cannot be elected");
        }
        step.end_cooldown();
        match self {
            Self::Leading(tenure) => tenure.announce(step),
            Self::Candidate(_) | Self::Waiting(_) => step.ignore("an election is under way"),
            Self::Vacant(_) | Self::Following(_) if !step.competes() => {
                step.ignore("another process has its name, or the terms have come to their end");
            }
            Self::Vacant(_) => return Next::Become(Change::ask_voters()),
            Self::Following(following) => return Next::Become(following.clone().ask()),
        }
        Next::Stay
    }

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
            Self::Vacant(_) => return Vacant::take_slot(),
            Self::Following(following) => return following.challenge(step),
            Self::Candidate(candidate) if score.is_some() => return candidate.on_score(),
            Self::Candidate(candidate) => return candidate.withdraw(),
            // The agent asks at once, because it may outrank the awaited agent now and would otherwise wait for the
            // whole time (rule `ask-with-the-new-score`).
            Self::Waiting(_) if score.is_some() => return Next::Become(Change::ask_voters()),
            Self::Waiting(_) => return Next::Become(Change::Vacant(None)),
            Self::Leading(tenure) => tenure.on_score(score, step),
        }
        Next::Stay
    }

    fn on_step_down(&mut self, to: Option<AgentId>, step: &mut Step<'_>) -> Next {
        if let Self::Leading(tenure) = self {
            tenure.drain(to, step);
        } else {
            step.ignore("it does not lead");
        }
        Next::Stay
    }

    fn on_drained(&self, step: &mut Step<'_>) -> Next {
        if let Self::Leading(tenure) = self {
            return tenure.hand_over(step);
        }
        Next::ignore(step, "it does not lead")
    }
}
