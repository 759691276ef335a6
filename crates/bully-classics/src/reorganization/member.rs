//! A member: an agent that works under a coordinator, and watches it.
//!
//! Decided here: only the coordinator gives a member a task (rule `work-for-own-coordinator`), and a member asks a
//! silent coordinator before it holds an election (`miss-a-silent-coordinator`).

use super::{
    AgentId, ElectionId, Next, Out, Score, Task,
    core::{Core, ELECT},
    message::{AreYouThere, Normal, Ready, Resign, There},
    timer::ReorganizationTimer,
};
use crate::numbered::CoordinatorWatch;
use bully_core::protocol::{After, Event, Incarnation, Leader, Time};

/// A member's knowledge of its coordinator, the election and the work.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Membership {
    pub leader: Leader,
    pub election: ElectionId,
    /// The coordinator's score.
    pub score: Score,
    work: Work,
    watch: CoordinatorWatch,
    due: Time,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Work {
    /// The agent knows the coordinator, and waits for the task.
    Awaited,
    /// The agent works on this task. `None`: the agent is an observer and has not heard of the task.
    Begun(Option<Task>),
}

impl Membership {
    pub(super) fn join(
        core: &Core,
        now: Time,
        (leader, election, score): (Leader, ElectionId, Score),
        out: &mut Out,
    ) -> Self {
        let wait = core.config.takeover();
        out.set_timer(ReorganizationTimer::Watch, wait);
        Self {
            leader,
            election,
            score,
            work: Work::Awaited,
            watch: CoordinatorWatch::Hears,
            due: now.after(wait),
        }
    }

    pub(super) fn observe(
        core: &Core,
        now: Time,
        (leader, election, score): (Leader, ElectionId, Score),
        out: &mut Out,
    ) -> Self {
        out.notify(Event::NewLeader(leader.clone()));
        let mut membership = Self {
            leader,
            election,
            score,
            work: Work::Begun(None),
            watch: CoordinatorWatch::Hears,
            due: now,
        };
        membership.hear_leader(core, now, out);
        membership
    }

    /// Notes that the coordinator is up, and restarts the time for which it may be silent (the detection time).
    pub(super) fn hear_leader(&mut self, core: &Core, now: Time, out: &mut Out) {
        let limit = core.config.detector().detection;
        let jitter = core.config.timings.jitter();
        self.watch = CoordinatorWatch::Hears;
        self.due = now.after(limit);
        out.set_timer(ReorganizationTimer::Watch, After::jittered(limit, jitter));
    }

    /// Takes the task from the coordinator.
    pub(super) fn on_ready(&mut self, core: &Core, now: Time, ready: &Ready, out: &mut Out) {
        // A second copy of the task is acknowledged as well, but the application learns of the leader only once.
        if self.work == Work::Awaited {
            self.work = Work::Begun(Some(ready.task));
            out.notify(Event::NewLeader(self.leader.clone()));
            self.hear_leader(core, now, out);
        }
    }

    /// Answers "yes" to the coordinator's question whether this agent works under it. If this agent now
    /// ranks above the coordinator, it holds an election instead.
    pub(super) fn on_are_you_normal(
        &mut self,
        core: &Core,
        now: Time,
        score: Score,
        out: &mut Out,
    ) -> Next {
        self.score = score;
        // A member that now ranks above its coordinator gives no answer: its own election follows.
        if core.outranks(now, score, &self.leader.id) {
            return ELECT;
        }
        self.hear_leader(core, now, out);
        let election = self.election.clone();
        out.send(&self.leader.id, Normal { election });
        Next::Stay
    }

    /// Handles the coordinator's resignation. The named successor begins an election at once, the other members begin
    /// an election in order of rank.
    pub(super) fn on_resign(&self, core: &mut Core, resign: &Resign) -> Next {
        // Without a score the former coordinator ranks above no agent. So a candidate does not wait for the former
        // coordinator's answer before it halts the other agents.
        core.learn(&self.leader.id, None);
        if resign.successor.as_ref() == Some(&core.me.id) {
            return Next::ElectWithout(self.leader.id.clone());
        }
        Next::WaitForSlot
    }

    /// Checks the coordinator in a new snapshot. A confirmed end of its incarnation begins an election.
    /// After a suspicion the agent asks the coordinator.
    pub(super) fn on_members(&mut self, core: &Core, now: Time, out: &mut Out) -> Next {
        let leader = core.me.members.get(&self.leader.id);
        let incarnation = self.leader.incarnation;
        if leader.is_none_or(|m| m.is_stale(incarnation)) {
            return ELECT;
        }
        if leader.is_some_and(|m| m.is_gone(incarnation)) && core.me.is_voter() {
            self.ask_leader(core, now, out);
        }
        Next::Stay
    }

    pub(super) fn on_watch_due(&mut self, core: &Core, now: Time, out: &mut Out) -> Next {
        if now < self.due {
            out.set_timer(ReorganizationTimer::Watch, self.due.since(now));
            return Next::Stay;
        }
        // Voters do not answer an observer, so an observer does not ask.
        if self.watch == CoordinatorWatch::Hears && core.me.is_voter() {
            self.ask_leader(core, now, out);
            return Next::Stay;
        }
        Next::ElectWithout(self.leader.id.clone())
    }

    fn ask_leader(&mut self, core: &Core, now: Time, out: &mut Out) {
        // The coordinator was asked already: a second question would delay the deadline for the answer to the first
        // question.
        if self.watch == CoordinatorWatch::Asks {
            return;
        }
        let wait = core.config.timings.deadline();
        self.watch = CoordinatorWatch::Asks;
        self.due = now.after(wait);
        let question = AreYouThere {
            election: self.election.clone(),
            score: core.candidate_score(now),
        };
        out.send(&self.leader.id, question);
        out.set_timer(ReorganizationTimer::Watch, wait);
    }

    pub(super) fn on_there(
        &mut self,
        core: &Core,
        now: Time,
        from: &AgentId,
        there: &There,
        out: &mut Out,
    ) -> Next {
        let is_asked = self.watch == CoordinatorWatch::Asks && self.leader.id == *from;
        if !is_asked || self.election != there.election {
            return Next::Ignore("an answer to an earlier question");
        }
        // A coordinator that does not know its election counts as gone. After a quick restart it is up but no longer
        // coordinates, and otherwise its members would continue to work without a coordinator.
        if !there.coordinates {
            return ELECT;
        }
        self.hear_leader(core, now, out);
        Next::Stay
    }

    pub(super) const fn is_normal(&self) -> bool {
        matches!(self.work, Work::Begun(_))
    }

    pub(super) const fn task(&self) -> Option<Task> {
        match self.work {
            Work::Begun(task) => task,
            Work::Awaited => None,
        }
    }
}

pub(super) fn leader(id: &AgentId, incarnation: Incarnation, election: &ElectionId) -> Leader {
    Leader {
        id: id.clone(),
        incarnation,
        term: election.count,
    }
}
