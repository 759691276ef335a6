//! Carries out the consequences of inputs; only this file writes the state.
//!
//! A role returns a [`Next`]. [`Reorganization::go`] carries it out, and then each further consequence. No role calls
//! another role, and every transition from one state to another is in this file.

use tracing::debug;

use super::{
    AgentId, ElectionId, Leader, Out, Reorganization,
    candidate::Candidacy,
    core::{ELECT, WaitCause},
    leader::Leading,
    member::Membership,
    message::{Call, Resign},
    state::{Next, State},
    timer::ReorganizationTimer,
    waiting::Wait,
};
use bully_core::protocol::{Event, LostReason, Time};

impl Reorganization {
    /// Carries out a consequence, and all consequences that follow from it.
    pub(super) fn go(&mut self, now: Time, mut next: Next, out: &mut Out) {
        loop {
            next = match next {
                Next::Stay => return,
                Next::Ignore(why) => return self.ignore(why),
                Next::Elect(reason) => self.elect(now, reason, out),
                Next::ElectWithout(gone) => {
                    // The snapshot may show the silent agent as up, but this agent must not defer to it.
                    if !self.core.defers(now, Some(&gone)) {
                        self.core.end_cooldown(out);
                    }
                    ELECT
                }
                Next::WaitForSlot => {
                    self.leave(LostReason::Reorganized, out);
                    self.core.wait_for_slot(now)
                }
                Next::Defer(cause, wait) => {
                    self.leave(LostReason::Reorganized, out);
                    out.set_timer(ReorganizationTimer::Takeover, wait);
                    let due = now.after(wait.min);
                    self.state = State::Waiting(Wait { cause, due });
                    return;
                }
                Next::Obey(halter) => {
                    // The halt is acknowledged only after the work has stopped and the promise is durable.
                    self.leave(LostReason::Outranked, out);
                    let (core, election) = (&mut self.core, &halter.election);
                    core.remember(election.count, out);
                    core.numbers.promised = Some(election.clone());
                    core.ack(&halter.by.id, Call::Halt, election, out);
                    let wait = core.config.takeover();
                    Next::Defer(WaitCause::Halted(halter), wait.into())
                }
                Next::Join(leader, election, score) => {
                    self.leave(LostReason::Reorganized, out);
                    let from = leader.id.clone();
                    let agreed = (leader, election.clone(), score);
                    self.state = State::Member(Membership::join(&self.core, now, agreed, out));
                    return self.core.ack(&from, Call::NewCoordinator, &election, out);
                }
                Next::Observe(leader, election, score) => {
                    self.leave(LostReason::Reorganized, out);
                    // An observer has no storage, so it remembers this election only in this incarnation.
                    self.core.numbers.promised = Some(election.clone());
                    let agreed = (leader, election, score);
                    self.state = State::Member(Membership::observe(&self.core, now, agreed, out));
                    return;
                }
                Next::Lead => return self.lead(now, out),
                Next::Resign(to) => self.resign(now, to, out),
            }
        }
    }

    /// Leaves the present state, and begins an election if this agent can be elected.
    fn elect(&mut self, now: Time, reason: LostReason, out: &mut Out) -> Next {
        self.leave(reason, out);
        let core = &mut self.core;
        let Some(score) = core.candidate_score(now) else {
            return core.wait_for_slot(now); // the slot of an agent that cools down is the last one
        };
        let Some(count) = core.numbers.next() else {
            return Next::Ignore("the counts have come to their end");
        };
        // The count is durable before any call is sent: a later incarnation must not use this count again.
        core.remember(count, out);
        let id = core.me.id.clone();
        debug!(target: "actix_bully", node = %id, term = %count, "election begins");
        let election = ElectionId { count, id };
        let (candidacy, next) = Candidacy::begin(core, now, election, score, out);
        self.state = State::Candidate(candidacy);
        next
    }

    fn lead(&mut self, now: Time, out: &mut Out) {
        let State::Candidate(candidacy) = &self.state else {
            return;
        };
        let won = (candidacy.election.clone(), candidacy.score);
        let term = won.0.count;
        out.cancel_timer(ReorganizationTimer::Answer);
        let leading = Leading::begin(&mut self.core, now, won, out);
        self.state = State::Leader(leading);
        out.notify(Event::Acquired { term });
    }

    /// Ends the leadership, then announces the end, so that the successor never works at the same time.
    fn resign(&mut self, now: Time, to: Option<AgentId>, out: &mut Out) -> Next {
        let State::Leader(leading) = &self.state else {
            return Next::Stay;
        };
        let election = leading.election.clone();
        // The successor is chosen again: the agent that was chosen when the step-down began may be gone by now.
        let successor = self.core.me.successor(to);
        self.leave(LostReason::Resigned, out);
        let span = self.core.config.cooldown;
        self.core
            .cooldown
            .begin(now, span, ReorganizationTimer::Cooldown, out);
        out.send_all(Resign {
            election,
            successor,
        });
        Next::WaitForSlot // in the last slot, or at once if no other agent is up
    }

    /// Leaves the present state. If the application knows of a leadership or membership in this state, it learns now
    /// that the leadership or membership has ended.
    fn leave(&mut self, reason: LostReason, out: &mut Out) {
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Idle => {}
            State::Candidate(_) => out.cancel_timer(ReorganizationTimer::Answer),
            State::Waiting(_) => out.cancel_timer(ReorganizationTimer::Takeover),
            State::Member(membership) => {
                out.cancel_timer(ReorganizationTimer::Watch);
                // If the task has not arrived, the application does not know of the coordinator yet.
                if membership.is_normal() {
                    let term = membership.leader.term;
                    out.notify(Event::NoLeader { term });
                }
            }
            State::Leader(leading) => {
                out.cancel_timer(ReorganizationTimer::Check);
                if leading.handover.is_some() {
                    out.cancel_timer(ReorganizationTimer::Drain);
                }
                let term = leading.election.count;
                out.notify(Event::Lost { term, reason });
            }
        }
    }

    /// Returns the leader: the followed coordinator, or this agent itself.
    pub(super) fn leader(&self) -> Option<Leader> {
        match &self.state {
            State::Leader(leading) => Some(self.core.me.as_leader(leading.election.count)),
            State::Member(membership) if membership.is_normal() => Some(membership.leader.clone()),
            State::Idle | State::Candidate(_) | State::Waiting(_) | State::Member(_) => None,
        }
    }

    pub(super) fn ignore(&self, why: &'static str) {
        self.core.me.ignore(self.state.role(), why);
    }
}
