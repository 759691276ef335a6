//! Carries out the consequences of inputs; only this file writes the state.
//!
//! A role returns a [`Next`]. [`InvitationElection::go`] carries it out, and then each further consequence. No role
//! calls another role, and every transition from one state to another is in this file.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    sync::Arc,
};

use tracing::debug;

use super::{
    AgentId, InvitationElection, Leader, Out,
    candidate::Merge,
    leader::{Found, Leading},
    member::Membership,
    message::{Accept, Invitation, Resign},
    state::{Next, State},
    timer::InvitationTimer,
};
use bully_core::protocol::{Event, LostReason, Time, To};

impl InvitationElection {
    /// Carries out a consequence, and all consequences that follow from it.
    pub(super) fn go(&mut self, now: Time, mut next: Next, out: &mut Out) {
        loop {
            next = match next {
                Next::Stay => return,
                Next::Ignore(why) => return self.ignore(why),
                Next::FormByRank(reason, gone) => {
                    self.leave(reason, out);
                    self.core.form_by_rank(now, reason, gone.as_ref(), out)
                }
                Next::Wait(wait) => {
                    let slot = Some(now.after(wait.min));
                    self.state = State::Free { slot };
                    return out.set_timer(InvitationTimer::Slot, wait);
                }
                Next::Form(reason) => {
                    self.leave(reason, out);
                    match self.core.new_group(now, out) {
                        Ok((group, score)) => {
                            // A group of one agent begins its work at once. Then its coordinator looks for other
                            // agents.
                            let (core, alone) = (&mut self.core, (group, score, BTreeSet::new()));
                            let mut leading = Leading::begin(core, now, alone, out);
                            leading.look_for_others(core, now, out);
                            self.state = State::Leader(leading);
                            return;
                        }
                        Err(why) => Next::Ignore(why),
                    }
                }
                Next::Merge(found) => self.merge(now, found, out),
                Next::Close => return self.close(now, out),
                Next::Join(invitation) => return self.join(now, invitation, out),
                Next::Observe(leader, group, score) => {
                    self.leave(LostReason::Reorganized, out);
                    // An observer has no storage, so it remembers this group only in this incarnation.
                    self.core.numbers.promised = Some(group.clone());
                    let told = (leader, group, score);
                    self.state = State::Member(Membership::observe(&self.core, now, told, out));
                    return;
                }
                Next::Resign(to) => self.resign(now, to, out),
            }
        }
    }

    /// Joins another group. The members of this agent's own group follow it, so the invitation is passed on to them.
    fn join(&mut self, now: Time, invitation: Invitation, out: &mut Out) {
        let group = &invitation.group;
        let led: Arc<[AgentId]> = match &self.state {
            State::Leader(leading) => {
                // The coordinator of the new group may have been a member of this group. The coordinator needs no
                // invitation.
                let led = leading.led(&self.core).filter(|id| **id != group.id);
                led.cloned().collect()
            }
            State::Free { .. } | State::Candidate(_) | State::Member(_) => Arc::default(),
        };
        // The work stops and the number is durable before the agent accepts, so that no agent works in two groups.
        self.leave(LostReason::Outranked, out);
        self.core.remember(group.count, out);
        self.core.numbers.promised = Some(group.clone());
        out.send(&group.id, Accept::to(group));
        if !led.is_empty() {
            out.send_to(To::Set(led), invitation.clone());
        }
        let membership = Membership::join(&self.core, now, invitation, out);
        self.state = State::Member(membership);
    }

    /// Forms a new group of the old group's members and the found agents (rule `merge-those-below`).
    fn merge(&mut self, now: Time, found: BTreeMap<AgentId, Found>, out: &mut Out) -> Next {
        let State::Leader(leading) = &self.state else {
            return Next::Stay;
        };
        let invited = leading.invited(&self.core, found);
        self.leave(LostReason::Reorganized, out);
        let new = match self.core.new_group(now, out) {
            Ok(new) => new,
            Err(why) => return Next::Ignore(why),
        };
        let len = invited.agents.len();
        debug!(target: "actix_bully", node = %self.core.me.id, term = %new.0.count, len, "merge begins");
        let (merge, next) = Merge::begin(&self.core, now, new, invited, out);
        self.state = State::Candidate(merge);
        next
    }

    /// Completes the group: sends the task to its members and to the observers (rule `count-acceptances`).
    fn close(&mut self, now: Time, out: &mut Out) {
        let State::Candidate(merge) = &self.state else {
            return;
        };
        let formed = (merge.group.clone(), merge.score, merge.up.clone());
        let told: Arc<[AgentId]> = self.core.observers().chain(&merge.up).cloned().collect();
        out.cancel_timer(InvitationTimer::Accepts);
        let leading = Leading::begin(&mut self.core, now, formed, out);
        if !told.is_empty() {
            out.send_to(To::Set(told), leading.ready(&self.core));
        }
        self.state = State::Leader(leading);
    }

    /// Ends the leadership, and only then announces the end, so that no successor works at the same time.
    fn resign(&mut self, now: Time, to: Option<AgentId>, out: &mut Out) -> Next {
        let State::Leader(leading) = &self.state else {
            return Next::Stay;
        };
        let group = leading.group.clone();
        // The successor is chosen again: the agent that was chosen when the step-down began may be gone by now.
        let successor = self.core.me.successor(to);
        self.leave(LostReason::Resigned, out);
        let span = self.core.config.cooldown;
        self.core
            .cooldown
            .begin(now, span, InvitationTimer::Cooldown, out);
        out.send_all(Resign { group, successor });
        // The agent cools down, and waits for an invitation until the last slot. If the agent is alone, it leads at
        // once.
        Next::FormByRank(LostReason::Reorganized, None)
    }

    /// Leaves the present state. If the application knows of a leadership or membership, it learns now that the
    /// leadership or membership has ended.
    fn leave(&mut self, reason: LostReason, out: &mut Out) {
        match mem::replace(&mut self.state, State::Free { slot: None }) {
            State::Free { slot: None } => {}
            State::Free { slot: Some(_) } => out.cancel_timer(InvitationTimer::Slot),
            State::Candidate(_) => out.cancel_timer(InvitationTimer::Accepts),
            State::Member(membership) => {
                out.cancel_timer(InvitationTimer::Watch);
                if let Some(leader) = membership.leader() {
                    let term = leader.term;
                    out.notify(Event::NoLeader { term });
                }
            }
            State::Leader(leading) => {
                out.cancel_timer(InvitationTimer::Check);
                if leading.handover.is_some() {
                    out.cancel_timer(InvitationTimer::Drain);
                }
                let term = leading.group.count;
                out.notify(Event::Lost { term, reason });
            }
        }
    }

    /// Returns the leader: the followed coordinator, or this agent itself.
    pub(super) fn leader(&self) -> Option<Leader> {
        match &self.state {
            State::Leader(leading) => Some(self.core.me.as_leader(leading.group.count)),
            State::Member(membership) => membership.leader().cloned(),
            State::Free { .. } | State::Candidate(_) => None,
        }
    }

    pub(super) fn ignore(&self, why: &'static str) {
        self.core.me.ignore(self.state.role(), why);
    }
}
