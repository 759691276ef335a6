//! A leader: the coordinator of a group, which looks for agents outside of the group.
//!
//! A leader asks all agents again and again in which group they are (rule `look-for-others`). From this question its
//! members also learn that it is up. In the original algorithm only coordinators answer. In this algorithm all agents
//! answer. So an agent that is free, or that was left out because its `Accept` was lost, is found at once and not after
//! a time-out. Of the coordinators that find each other, the highest invites, because the other coordinators wait for
//! it.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
};

use super::{
    AgentId, ElectionId, Next, Out, Score, Term,
    core::Core,
    message::{AreYouCoordinator, CoordinatorReply, Decline, GroupRole, Ready},
    timer::InvitationTimer,
};
use bully_core::{
    parts::{Due, Handover},
    protocol::{Event, LostReason, Time},
};

/// Largest number of higher-ranked coordinators for which this coordinator waits, one step for each, before it invites.
const MOST_ABOVE: usize = 4;

/// A coordinator's knowledge of its group, and of the agents outside of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Leading {
    pub group: ElectionId,
    /// The score with which this agent leads. A leader that lost its own score keeps this score while it drains (ends
    /// its work).
    score: Score,
    /// The members of the group, without this agent.
    pub up: BTreeSet<AgentId>,
    /// The members that have answered the last check; `None` before the first check, when no member is known to be
    /// silent.
    answered: Option<BTreeSet<AgentId>>,
    /// The agents outside of the group that have answered the last check.
    found: BTreeMap<AgentId, Found>,
    /// Count of a later group that an observer knows. The next group of this coordinator must have a higher count.
    outdone_by: Option<Term>,
    check: Check,
    due: Time,
    pub handover: Option<Handover>,
}

/// The progress of the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Check {
    /// The agent waits until the next check is due.
    Idle,
    /// The agent waits for answers.
    Asks,
    /// A higher-ranked coordinator was found, and now has time to invite all agents.
    Defers,
}

/// An agent outside of the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Found {
    score: Option<Score>,
    /// Number of members that the agent may bring along.
    members: u32,
}

/// The agents that are invited to a new group.
#[derive(Debug)]
pub(super) struct Invited {
    /// The present group of the coordinator that invites.
    pub by: ElectionId,
    /// The invited agents, each with the number of members that it may bring along.
    pub agents: BTreeMap<AgentId, u32>,
    pub brought: u32,
}

impl Leading {
    pub(super) fn begin(
        core: &mut Core,
        now: Time,
        (group, score, up): (ElectionId, Score, BTreeSet<AgentId>),
        out: &mut Out,
    ) -> Self {
        let (term, interval) = (group.count, core.config.detector().heartbeat);
        core.end_cooldown(out);
        out.set_timer(InvitationTimer::Check, interval);
        out.notify(Event::Acquired { term });
        Self {
            group,
            score,
            up,
            answered: None,
            found: BTreeMap::new(),
            outdone_by: None,
            check: Check::Idle,
            due: now.after(interval),
            handover: None,
        }
    }

    // ---- the check --------------------------------------------------------------------------

    pub(super) fn on_check_due(&mut self, core: &Core, now: Time, out: &mut Out) -> Next {
        if now < self.due {
            out.set_timer(InvitationTimer::Check, self.due.since(now));
            return Next::Stay;
        }
        if now.since(self.due) > core.config.detector().detection {
            // This leader was stalled for longer than members wait, so it may have lost all of them.
            return Next::FormByRank(LostReason::Stalled, None);
        }
        match self.check {
            Check::Idle => {
                self.look_for_others(core, now, out);
                Next::Stay
            }
            Check::Asks => self.weigh(core, now, out),
            Check::Defers => self.merge_those_below(core, now, out),
        }
    }

    pub(super) fn look_for_others(&mut self, core: &Core, now: Time, out: &mut Out) {
        self.found.clear();
        self.answered = Some(BTreeSet::new());
        let (group, score) = (self.group.clone(), self.score);
        out.send_all(AreYouCoordinator { group, score });
        self.check_again(core.config.gathering(), Check::Asks, now, out);
    }

    /// Looks for other agents now, unless a check is already under way.
    pub(super) fn look_now(&mut self, core: &Core, now: Time, out: &mut Out) {
        if self.check == Check::Idle {
            self.look_for_others(core, now, out);
        }
    }

    fn check_again(&mut self, wait: std::time::Duration, check: Check, now: Time, out: &mut Out) {
        self.check = check;
        self.due = now.after(wait);
        out.set_timer(InvitationTimer::Check, wait);
    }

    /// Handles the end of the time for answers. Waits a step for each higher coordinator; without any, invites.
    fn weigh(&mut self, core: &Core, now: Time, out: &mut Out) -> Next {
        let above = self.found.iter().filter(|(id, f)| self.is_below(id, f));
        let above = u32::try_from(above.count().min(MOST_ABOVE)).unwrap_or(0);
        if above == 0 {
            return self.merge_those_below(core, now, out);
        }
        let wait = core.config.timings.step().saturating_mul(above);
        self.check_again(wait, Check::Defers, now, out);
        Next::Stay
    }

    /// Invites the found agents that rank below this agent (rule `merge-those-below`). By the original algorithm any
    /// coordinator takes over the group of any other coordinator, and the lowest-ranked coordinator may lead.
    fn merge_those_below(&mut self, core: &Core, now: Time, out: &mut Out) -> Next {
        let mut found = mem::take(&mut self.found);
        found.retain(|id, f| !self.is_below(id, f));
        let is_outdone = self
            .outdone_by
            .is_some_and(|count| count >= self.group.count);
        // A leader that steps down invites no agent, because the new group would lose its coordinator at once.
        if (is_outdone || !found.is_empty()) && self.handover.is_none() {
            return Next::Merge(found);
        }
        let interval = core.config.detector().heartbeat;
        self.check_again(interval, Check::Idle, now, out);
        Next::Stay
    }

    fn is_below(&self, id: &AgentId, found: &Found) -> bool {
        let above = |score| (score, id) > (self.score, &self.group.id);
        found.score.is_some_and(above)
    }

    /// Returns the members of the old group that are not silent, and the agents that were found.
    pub(super) fn invited(&self, core: &Core, found: BTreeMap<AgentId, Found>) -> Invited {
        let brought = found
            .values()
            .fold(0, |sum: u32, f| sum.saturating_add(f.members));
        let ours = self.answered.as_ref().unwrap_or(&self.up);
        let ours = ours.iter().map(|id| (id.clone(), 0));
        let theirs = found.into_iter().map(|(id, f)| (id, f.members));
        let mut agents: BTreeMap<AgentId, u32> = ours.chain(theirs).collect();
        agents.retain(|id, _| core.me.members.get(id).is_some());
        Invited {
            by: self.group.clone(),
            agents,
            brought,
        }
    }

    /// Handles an answer to the check: notes an agent outside of the group. A member that has not received the task
    /// gets it again; otherwise one lost message would leave that member idle until its time-out.
    pub(super) fn on_place(
        &mut self,
        core: &Core,
        from: &AgentId,
        reply: &CoordinatorReply,
        out: &mut Out,
    ) -> Next {
        if self.group != reply.group || self.check == Check::Idle {
            return Next::Ignore("an answer to an earlier question");
        }
        let members = match &reply.standing {
            GroupRole::Coordinator { members } => *members,
            GroupRole::Free => 0,
            // The sender is not noted, because it declines all invitations while it forms a group. The next check finds
            // the sender.
            GroupRole::Merging => return Next::Stay,
            // The sender is not noted: when its coordinator is invited, the coordinator brings the sender along.
            GroupRole::Member { group } | GroupRole::Joining { group } if *group != self.group => {
                return Next::Stay;
            }
            // The sender's `Accept` was lost, so it would wait for the task in vain: it counts as found.
            GroupRole::Member { .. } | GroupRole::Joining { .. } if !self.up.contains(from) => 0,
            inside @ (GroupRole::Member { .. } | GroupRole::Joining { .. }) => {
                let answered = self.answered.get_or_insert_default();
                answered.insert(from.clone());
                if matches!(inside, GroupRole::Joining { .. }) {
                    out.send(from, self.ready(core));
                }
                return Next::Stay;
            }
        };
        let score = reply.score;
        // A member that reports that it is in no group has left this group, so the answer to its `AreYouThere` must not
        // count it as a member.
        self.up.remove(from);
        self.found.insert(from.clone(), Found { score, members });
        Next::Stay
    }

    // ---- the group --------------------------------------------------------------------------

    /// Returns the members to which an invitation is passed on: all members except the members that are known to be
    /// down.
    pub(super) fn led<'a>(&'a self, core: &'a Core) -> impl Iterator<Item = &'a AgentId> {
        self.up.iter().filter(|id| core.may_be_there(id))
    }

    /// Returns the message that informs a member that the group is formed, with the task.
    pub(super) fn ready(&self, core: &Core) -> Ready {
        Ready {
            group: self.group.clone(),
            score: self.score,
            task: core.config.task,
        }
    }

    /// Handles an `Accept` that came after the group was formed: its sender still joins the group.
    pub(super) fn on_accept(&mut self, core: &Core, from: &AgentId, out: &mut Out) {
        if self.up.insert(from.clone()) {
            out.send(from, self.ready(core));
        }
    }

    /// Handles the answer of an observer that knows a later group. At the end of the next check this coordinator forms
    /// a new group, with a count above that of the later group.
    pub(super) fn on_decline(&mut self, decline: &Decline) {
        self.outdone_by = Some(decline.seen);
    }

    // ---- hand-over --------------------------------------------------------------------------

    /// Sets the score. A member that ranks above the new score learns of it by the next check. Without a score this
    /// agent hands over.
    pub(super) fn set_score(
        &mut self,
        core: &Core,
        now: Time,
        score: Option<Score>,
        out: &mut Out,
    ) -> Next {
        let Some(score) = score else {
            return self.on_step_down(core, now, None, out);
        };
        self.score = score;
        self.look_now(core, now, out);
        Next::Stay
    }

    pub(super) fn on_step_down(
        &mut self,
        core: &Core,
        now: Time,
        to: Option<AgentId>,
        out: &mut Out,
    ) -> Next {
        if self.handover.is_some() {
            return Next::Ignore("it steps down already");
        }
        let (to, limit) = (core.me.successor(to), core.config.drain);
        let handover = Handover::begin(
            now,
            self.group.count,
            to,
            limit,
            InvitationTimer::Drain,
            out,
        );
        self.handover = Some(handover);
        Next::Stay
    }

    pub(super) fn on_drained(&self) -> Next {
        match &self.handover {
            Some(handover) => Next::Resign(handover.to.clone()),
            None => Next::Ignore("it does not step down"),
        }
    }

    pub(super) fn on_drain_due(&self, now: Time, out: &mut Out) -> Next {
        match &self.handover {
            Some(handover) if handover.on_due(now, InvitationTimer::Drain, out) == Due::Later => {
                Next::Stay
            }
            _ => self.on_drained(),
        }
    }
}
