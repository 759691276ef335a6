//! A member: an agent in the group of another agent, which it watches as its coordinator.
//!
//! Decided here: what a member does after it has joined (rule `join-from-above`), that only the task of its own group
//! counts (`hand-out-task`), and when it no longer waits for the coordinator (`miss-a-silent-coordinator`).

use super::{
    AgentId, ElectionId, Next, Out, Score, Task,
    core::Core,
    message::{AreYouThere, Invitation, Ready, Resign, There},
    timer::InvitationTimer,
};
use crate::numbered::CoordinatorWatch;
use bully_core::protocol::{After, Event, Incarnation, Leader, LostReason, Rank, Time};

/// The state of a member.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Membership {
    pub coordinator: Rank,
    pub group: ElectionId,
    work: Work,
    watch: CoordinatorWatch,
    due: Time,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Work {
    /// The agent has accepted the invitation, and waits for the task.
    Awaited,
    /// The agent works. An observer may not know the task.
    Begun { leader: Leader, task: Option<Task> },
}

impl Membership {
    pub(super) fn join(core: &Core, now: Time, invitation: Invitation, out: &mut Out) -> Self {
        let wait = core.config.takeover();
        out.set_timer(InvitationTimer::Watch, wait);
        let Invitation { group, score } = invitation;
        let id = group.id.clone();
        Self {
            coordinator: Rank { score, id },
            group,
            work: Work::Awaited,
            watch: CoordinatorWatch::Hears,
            due: now.after(wait),
        }
    }

    pub(super) fn observe(
        core: &Core,
        now: Time,
        (leader, group, score): (Leader, ElectionId, Score),
        out: &mut Out,
    ) -> Self {
        out.notify(Event::NewLeader(leader.clone()));
        let id = leader.id.clone();
        let task = None;
        let mut membership = Self {
            coordinator: Rank { score, id },
            group,
            work: Work::Begun { leader, task },
            watch: CoordinatorWatch::Hears,
            due: now,
        };
        membership.hear_coordinator(core, now, out);
        membership
    }

    /// Notes that the coordinator is up, and restarts the time for which it may be silent (the detection time).
    pub(super) fn hear_coordinator(&mut self, core: &Core, now: Time, out: &mut Out) {
        let limit = core.config.detector().detection;
        let jitter = core.config.timings.jitter();
        self.watch = CoordinatorWatch::Hears;
        self.due = now.after(limit);
        out.set_timer(InvitationTimer::Watch, After::jittered(limit, jitter));
    }

    /// Begins the work, because the group is formed.
    pub(super) fn on_ready(
        &mut self,
        core: &Core,
        now: Time,
        caller: (&AgentId, Incarnation),
        ready: &Ready,
        out: &mut Out,
    ) -> Next {
        if self.work != Work::Awaited || self.group != ready.group {
            return Next::Ignore("not the group that it joins");
        }
        let leader = leader(caller, &ready.group);
        out.notify(Event::NewLeader(leader.clone()));
        let task = Some(ready.task);
        self.work = Work::Begun { leader, task };
        self.hear_coordinator(core, now, out);
        Next::Stay
    }

    /// Handles the coordinator's question in which group this agent is. The question also shows that the coordinator is
    /// up. If this agent now ranks above the coordinator, it forms a group of its own and invites the coordinator.
    pub(super) fn on_are_you_coordinator(
        &mut self,
        core: &Core,
        now: Time,
        score: Score,
        out: &mut Out,
    ) -> Next {
        self.coordinator.score = score;
        if self.is_outranked_by(core, now) {
            return Next::Form(LostReason::Reorganized);
        }
        self.hear_coordinator(core, now, out);
        Next::Stay
    }

    pub(super) fn is_outranked_by(&self, core: &Core, now: Time) -> bool {
        core.outranks(now, self.coordinator.score, &self.coordinator.id)
    }

    /// Handles the coordinator's resignation. The successor forms a group at once; the other members form groups in
    /// order of rank.
    pub(super) fn on_resign(&self, core: &Core, now: Time, from: &AgentId, m: &Resign) -> Next {
        if self.group != m.group {
            return Next::Ignore("not the group that it is in");
        }
        let is_successor = m.successor.as_ref() == Some(&core.me.id);
        // The leader cannot know whether its successor cools down. A successor that cools down waits for its slot.
        if is_successor && core.candidate_score(now).is_some() {
            return Next::Form(LostReason::Reorganized);
        }
        without(from)
    }

    /// Checks the coordinator in a new snapshot. A confirmed end ends the group. After a suspicion the agent asks the
    /// coordinator.
    pub(super) fn on_members(&mut self, core: &Core, now: Time, out: &mut Out) -> Next {
        let known = core.me.members.get(&self.coordinator.id);
        let (is_gone, is_suspected) = match &self.work {
            // The invitation does not show the incarnation of its coordinator, so only the presence counts.
            Work::Awaited => (!core.may_be_there(&self.coordinator.id), false),
            Work::Begun { leader, .. } => (
                known.is_none_or(|m| m.is_stale(leader.incarnation)),
                known.is_some_and(|m| m.is_gone(leader.incarnation)),
            ),
        };
        if is_gone {
            return without(&self.coordinator.id);
        }
        if is_suspected && core.me.is_voter() {
            self.ask_coordinator(core, now, out);
        }
        Next::Stay
    }

    pub(super) fn on_watch_due(&mut self, core: &Core, now: Time, out: &mut Out) -> Next {
        if now < self.due {
            out.set_timer(InvitationTimer::Watch, self.due.since(now));
            return Next::Stay;
        }
        // A coordinator that forms a new group sends no checks meanwhile, so the member asks it once before it counts
        // as gone. Voters do not answer an observer, so an observer does not ask.
        if self.watch == CoordinatorWatch::Hears && core.me.is_voter() {
            self.ask_coordinator(core, now, out);
            return Next::Stay;
        }
        without(&self.coordinator.id)
    }

    fn ask_coordinator(&mut self, core: &Core, now: Time, out: &mut Out) {
        // The coordinator was asked already: a second question would delay the deadline for the answer to the first
        // question.
        if self.watch == CoordinatorWatch::Asks {
            return;
        }
        let wait = core.config.timings.deadline();
        self.watch = CoordinatorWatch::Asks;
        self.due = now.after(wait);
        let group = self.group.clone();
        out.send(&self.coordinator.id, AreYouThere { group });
        out.set_timer(InvitationTimer::Watch, wait);
    }

    /// Handles the coordinator's answer. The answer "no" has the same effect as silence.
    pub(super) fn on_there(
        &mut self,
        core: &Core,
        now: Time,
        from: &AgentId,
        there: &There,
        out: &mut Out,
    ) -> Next {
        let is_asked = self.watch == CoordinatorWatch::Asks && self.coordinator.id == *from;
        if !is_asked || self.group != there.group {
            return Next::Ignore("an answer to an earlier question");
        }
        if !there.belongs {
            return without(from);
        }
        self.hear_coordinator(core, now, out);
        Next::Stay
    }

    /// Returns the leader of the group; `None` before the work begins.
    pub(super) const fn leader(&self) -> Option<&Leader> {
        match &self.work {
            Work::Begun { leader, .. } => Some(leader),
            Work::Awaited => None,
        }
    }

    pub(super) const fn task(&self) -> Option<Task> {
        match &self.work {
            Work::Begun { task, .. } => *task,
            Work::Awaited => None,
        }
    }
}

pub(super) fn leader((id, incarnation): (&AgentId, Incarnation), group: &ElectionId) -> Leader {
    Leader {
        id: id.clone(),
        incarnation,
        term: group.count,
    }
}

/// Returns the consequence for a member whose coordinator is gone.
fn without(coordinator: &AgentId) -> Next {
    Next::FormByRank(LostReason::Reorganized, Some(coordinator.clone()))
}
