//! Forming a group: of itself (I1), and with all others that were found (I3, I5).
//!
//! Nobody waits for who is known to be dead, and a merge ends early when all who can accept have:
//! a coordinator that is invited says how many members it has.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use tracing::debug;

use super::{
    Accept, Count, Decline, Defect, ElectionId, Invitation, InvitationElection, LAST_COUNT, Out,
    Ready, Timer,
    state::{Found, Merge, Phase, Reign, State},
};
use crate::elections::line;
use crate::protocol::{
    After, AgentId, Event, LostReason, Member, Members, Presence, Score, Term, Time, To,
};

impl InvitationElection {
    /// I1. The first start is a recovery.
    pub(super) fn on_start(&mut self, now: Time, members: Arc<Members>, out: &mut Out) {
        self.hear(members.term());
        self.me.members = members;
        self.take_turn(now, LostReason::Reorganized, None, out);
    }

    /// I1, in order of rank: it is free, and forms a group of its own unless it is invited before,
    /// for which whoever goes first has the time. Who rests lets all others go first.
    /// `gone` is a member that looks up in the snapshot and is known not to be.
    pub(super) fn take_turn(
        &mut self,
        now: Time,
        reason: LostReason,
        gone: Option<&AgentId>,
        out: &mut Out,
    ) {
        self.leave(reason, out);
        let Some(rank) = self.me.rank() else {
            return self.ignore("it does not stand for election");
        };
        let rests = self.lets_others_go_first(now, gone);
        if !rests {
            self.cooldown.end(Timer::Rest, out);
        }
        let ahead = self.me.members.ahead_of(&rank, gone, line::LAST);
        let place = line::place(ahead, rests);
        if place == 0 {
            return self.form(now, reason, out);
        }
        let t = self.config.timings();
        let head_start = if rests {
            self.config.takeover()
        } else {
            self.config.head_start()
        };
        let wait = line::wait(t.step(), place).saturating_add(head_start);
        let wait = After::jittered(wait, t.jitter());
        let turn = Some(now.after(wait.min));
        self.state = State::Free { turn };
        out.set_timer(Timer::Turn, wait);
    }

    /// I1: a group of one, at work at once; then it looks for others.
    pub(super) fn form(&mut self, now: Time, reason: LostReason, out: &mut Out) {
        self.leave(reason, out);
        let Some((group, score)) = self.new_group(now, out) else {
            return;
        };
        self.lead(now, group, score, BTreeSet::new(), out);
        self.look_for_others(now, out);
    }

    fn new_group(&mut self, now: Time, out: &mut Out) -> Option<(ElectionId, Score)> {
        let Some(score) = self.standing(now) else {
            self.ignore("it does not stand for election");
            return None;
        };
        let next = if self.config.has(Defect::NumberKept) {
            Some(self.seen.max(Term(1)))
        } else {
            self.seen.next()
        };
        let Some(count) = next.filter(|count| *count <= LAST_COUNT) else {
            self.ignore("the counts have come to their end");
            return None;
        };
        self.remember(count, out);
        let id = self.me.id.clone();
        let group = ElectionId { count, id };
        self.promised = Some(group.clone());
        Some((group, score))
    }

    /// I3: a new group, of the old one's members and of those who were found below.
    pub(super) fn merge(&mut self, now: Time, found: BTreeMap<AgentId, Found>, out: &mut Out) {
        let State::Leader(reign) = &self.state else {
            return;
        };
        let old = reign.group.clone();
        let brought: u32 = found
            .values()
            .fold(0, |sum, f| sum.saturating_add(f.members));
        let ours = reign.answered.as_ref().unwrap_or(&reign.up);
        let ours = ours.iter().map(|id| (id.clone(), 0));
        let theirs = found.into_iter().map(|(id, f)| (id, f.members));
        let mut pending: BTreeMap<AgentId, u32> = ours.chain(theirs).collect();
        pending.retain(|id, _| self.me.members.get(id).is_some());
        self.leave(LostReason::Reorganized, out);
        let Some((group, score)) = self.new_group(now, out) else {
            return;
        };
        debug!(node = %self.me.id, term = %group.count, len = pending.len(), "merge begins");
        let wait = if self.may_answer(pending.keys()) {
            self.config.timings().deadline()
        } else {
            self.config.gathering()
        };
        let to: Arc<[AgentId]> = pending.keys().cloned().collect();
        self.state = State::Candidate(Merge {
            group: group.clone(),
            old,
            score,
            pending,
            brought,
            up: BTreeSet::new(),
            due: now.after(wait),
        });
        if to.is_empty() {
            return self.close(now, out);
        }
        out.send_to(To::Set(to), Invitation { group, score });
        out.set_timer(Timer::Accepts, wait);
    }

    pub(super) fn may_answer<'a>(&self, mut ids: impl Iterator<Item = &'a AgentId>) -> bool {
        ids.any(|id| self.may_live(id))
    }

    /// Whether that is a member whose end is not certain.
    pub(super) fn may_live(&self, id: &AgentId) -> bool {
        let member = self.me.members.get(id);
        member.is_some_and(|m| m.presence != Presence::Down)
    }

    /// I5.
    pub(super) fn on_accept(&mut self, now: Time, from: &AgentId, accept: &Accept, out: &mut Out) {
        match &mut self.state {
            State::Candidate(merge) if merge.group == accept.group => {
                if merge.pending.remove(from).is_none() && merge.up.insert(from.clone()) {
                    merge.brought = merge.brought.saturating_sub(1);
                }
                merge.up.insert(from.clone());
                self.close_early(now, out);
            }
            State::Leader(reign) if reign.group == accept.group => {
                let is_new = reign.up.insert(from.clone());
                if is_new {
                    self.make_ready(To::One(from.clone()), out);
                }
            }
            State::Free { .. } | State::Candidate(_) | State::Member(_) | State::Leader(_) => {
                self.ignore("to an earlier invitation");
            }
        }
    }

    /// Who declines brings nobody. An observer declines the word of a group that is older than the
    /// last one it knew: a new group has a count that exceeds it.
    pub(super) fn on_decline(
        &mut self,
        now: Time,
        from: &AgentId,
        decline: &Decline,
        out: &mut Out,
    ) {
        self.hear(decline.seen);
        let is_voter = self.me.members.get(from).is_some_and(Member::is_voter);
        match &mut self.state {
            State::Candidate(merge) if merge.group == decline.group => {
                if let Some(members) = merge.pending.remove(from) {
                    merge.brought = merge.brought.saturating_sub(members);
                } else if !merge.up.contains(from) {
                    merge.brought = merge.brought.saturating_sub(1);
                }
                self.close_early(now, out);
            }
            State::Leader(reign) if reign.group == decline.group && !is_voter => {
                reign.outdone_by = Some(decline.seen); // at the end of the next check
            }
            State::Free { .. } | State::Candidate(_) | State::Member(_) | State::Leader(_) => {
                self.ignore("to an earlier invitation");
            }
        }
    }

    fn close_early(&mut self, now: Time, out: &mut Out) {
        match &self.state {
            State::Candidate(merge) if merge.pending.is_empty() && merge.brought == 0 => {
                self.close(now, out);
            }
            State::Candidate(_) => self.hurry(now, out),
            State::Free { .. } | State::Member(_) | State::Leader(_) => {}
        }
    }

    /// Those who are awaited still may all be known to be down.
    pub(super) fn hurry(&mut self, now: Time, out: &mut Out) {
        let due = now.after(self.config.gathering());
        let State::Candidate(merge) = &self.state else {
            return;
        };
        let answers = merge.brought > 0 || self.may_answer(merge.pending.keys());
        if let State::Candidate(merge) = &mut self.state
            && !answers
            && due < merge.due
        {
            merge.due = due;
            out.set_timer(Timer::Accepts, due.since(now));
        }
    }

    /// I3: T has passed.
    pub(super) fn on_accepts_due(&mut self, now: Time, out: &mut Out) {
        match &self.state {
            State::Candidate(merge) if now < merge.due => {
                out.set_timer(Timer::Accepts, merge.due.since(now));
            }
            State::Candidate(_) => self.close(now, out),
            State::Free { .. } | State::Member(_) | State::Leader(_) => {
                self.ignore("nobody is invited");
            }
        }
    }

    /// I3: the group is formed; its members get the task, and observers are told.
    fn close(&mut self, now: Time, out: &mut Out) {
        let State::Candidate(merge) = &self.state else {
            return;
        };
        let (group, score, up) = (merge.group.clone(), merge.score, merge.up.clone());
        let observers = self.me.members.iter();
        let observers = observers.filter(|m| !m.is_voter() && m.id != self.me.id);
        let told = observers.map(|m| &m.id).chain(&up);
        let told: Arc<[AgentId]> = told.cloned().collect();
        out.cancel_timer(Timer::Accepts);
        self.lead(now, group, score, up, out);
        if !told.is_empty() {
            self.make_ready(To::Set(told), out);
        }
    }

    pub(super) fn make_ready(&self, to: To, out: &mut Out) {
        if let State::Leader(Reign { group, score, .. }) = &self.state {
            let ready = Ready {
                group: group.clone(),
                score: *score,
                task: self.config.task(),
            };
            out.send_to(to, ready);
        }
    }

    fn lead(
        &mut self,
        now: Time,
        group: ElectionId,
        score: Score,
        up: BTreeSet<AgentId>,
        out: &mut Out,
    ) {
        let (term, interval) = (group.count, self.config.detector().heartbeat);
        self.cooldown.end(Timer::Rest, out);
        self.state = State::Leader(Reign {
            group,
            score,
            up,
            answered: None,
            found: BTreeMap::new(),
            outdone_by: None,
            phase: Phase::Rests,
            due: now.after(interval),
            handover: None,
        });
        out.set_timer(Timer::Check, interval);
        out.notify(Event::Acquired { term });
    }

    /// Leaves its state; what it believed ends here, and is said.
    pub(super) fn leave(&mut self, reason: LostReason, out: &mut Out) {
        match std::mem::replace(&mut self.state, State::Free { turn: None }) {
            State::Free { turn: None } => {}
            State::Free { turn: Some(_) } => out.cancel_timer(Timer::Turn),
            State::Candidate(_) => out.cancel_timer(Timer::Accepts),
            State::Member(membership) => {
                out.cancel_timer(Timer::Watch);
                if let Some(leader) = membership.leader() {
                    let term = leader.term;
                    out.notify(Event::NoLeader { term });
                }
            }
            State::Leader(reign) => {
                out.cancel_timer(Timer::Check);
                if reign.handover.is_some() {
                    out.cancel_timer(Timer::Drain);
                }
                let term = reign.group.count;
                out.notify(Event::Lost { term, reason });
            }
        }
    }

    /// Makes a count durable, if it is larger than the one that is.
    pub(super) fn remember(&mut self, count: Term, out: &mut Out) {
        self.hear(count);
        if count > self.record.count {
            self.record = Count { count };
            if !self.config.has(Defect::VolatileNumber) {
                out.persist(self.record.clone());
            }
        }
    }

    /// The turn to form a group has come.
    pub(super) fn on_turn(&mut self, now: Time, out: &mut Out) {
        match self.state {
            State::Free { turn: Some(turn) } if now < turn => {
                out.set_timer(Timer::Turn, turn.since(now));
            }
            State::Free { turn: Some(_) } => {
                self.cooldown.end(Timer::Rest, out); // all who do not rest had their turns
                self.form(now, LostReason::Reorganized, out);
            }
            State::Free { turn: None }
            | State::Candidate(_)
            | State::Member(_)
            | State::Leader(_) => self.ignore("it has no turn"),
        }
    }
}
