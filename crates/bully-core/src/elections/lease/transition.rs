//! The changes of the role. No other file changes the role.
//!
//! The end of a leadership is published before any other effect of its step, so that no effect of a former leader
//! leaves after the end.

use std::{mem, sync::Arc, time::Duration};

use super::{
    BullyTimer, Lease, Out,
    core::Releasing,
    leader::Leading,
    sight::Sight,
    state::{Following, State},
};
use crate::protocol::{AgentId, Event, LostReason, Term, Time};

impl Lease {
    /// Reads the register, and sets the timer for the next read.
    pub(super) fn look(&mut self, now: Time, out: &mut Out) {
        self.core.read(now, out);
        let poll = self.core.config.poll();
        self.core.alarms.set(BullyTimer::Detect, now, poll, out);
    }

    /// Takes the lease, because the agent's slot has come.
    pub(super) fn take(&mut self, now: Time, out: &mut Out) {
        let core = &mut self.core;
        let allowed = core.reads.allowed(&core.config);
        let is_recent = |sight: &Sight| sight.is_recent(now, allowed);
        if !core.sight.as_ref().is_some_and(is_recent) {
            // This agent reads again, because the record may have changed since the last read.
            let poll = core.config.poll();
            core.alarms.set(BullyTimer::Campaign, now, poll, out);
            return core.read(now, out);
        }
        let (Some(score), Some(term)) = (core.me.eligible(), core.next_term(now)) else {
            return self.ignore("it is not eligible, or the terms are used up");
        };
        if let Some(request) = core.hold(now, term, score, out) {
            self.state = State::Taking { request };
            let round = core.config.timings.round();
            core.alarms.set(BullyTimer::Detect, now, round, out);
        }
    }

    pub(super) fn give_up(&mut self) {
        if let State::Taking { .. } = self.state {
            self.state = State::Vacant;
        }
    }

    /// Begins to lead, because the record shows this agent's attempt.
    pub(super) fn win(&mut self, now: Time, term: Term, request: u64, sent: Time, out: &mut Out) {
        let core = &mut self.core;
        core.releasing = None;
        let until = core.lease_from(sent);
        let Some(score) = core.me.eligible() else {
            // This agent became ineligible in the meantime, so it releases the lease that it has just taken.
            core.forget_attempts();
            let to = core.me.successor(None);
            core.releasing = Some(Releasing::new(term, to));
            core.release(now, out);
            self.give_up();
            return self.reconsider(now, out);
        };
        if until <= now {
            core.forget_attempts(); // because the attempt was seen too late: its lease has already ended
            self.give_up();
            return self.reconsider(now, out);
        }
        core.doubted = None;
        core.take_attempt(request);
        self.state = State::Leading(Leading::new(term, score, until, request));
        for timer in [BullyTimer::Detect, BullyTimer::Campaign] {
            core.alarms.stop(timer, out);
        }
        let due = sent.after(core.config.heartbeat()).max(now);
        core.alarms
            .set_to(BullyTimer::Heartbeat, now, due, Duration::ZERO, out);
        core.alarms
            .set_to(BullyTimer::Lease, now, until, Duration::ZERO, out);
        core.note_term(term);
        out.notify(Event::Acquired { term });
    }

    /// Releases the lease, because the work has ended or its time has passed (rule `hand-over`).
    pub(super) fn resign(&mut self, now: Time, out: &mut Out) {
        let State::Leading(leading) = &self.state else {
            return;
        };
        // The successor is chosen a second time, because the first choice may have ended while the work ended.
        let to = Leading::successor(&self.core, now, leading.chosen());
        let term = leading.term;
        let cooldown = leading.leaving.as_ref().map(|leaving| leaving.cooldown);
        self.lose(now, LostReason::Resigned, out);
        let core = &mut self.core;
        core.releasing = Some(Releasing::new(term, to));
        core.release(now, out);
        if let Some(cooldown) = cooldown.filter(|cooldown| !cooldown.is_zero()) {
            core.cooldown
                .begin(now, cooldown, BullyTimer::Cooldown, out);
        }
        self.reconsider(now, out);
    }

    pub(super) fn lose(&mut self, now: Time, reason: LostReason, out: &mut Out) {
        if let State::Leading(leading) = mem::replace(&mut self.state, State::Vacant) {
            out.notify(Event::Lost {
                term: leading.term,
                reason,
            });
            if leading.leaving.is_some() {
                out.cancel_timer(BullyTimer::Drain);
            }
        }
        let core = &mut self.core;
        core.vacant_since = now;
        core.forget_attempts();
        for timer in [BullyTimer::Heartbeat, BullyTimer::Lease] {
            core.alarms.stop(timer, out);
        }
        let poll = core.config.poll();
        core.alarms.set(BullyTimer::Detect, now, poll, out);
    }

    /// Decides which leader this agent follows, and sets the timer for the end of the lease or for the agent's own
    /// slot.
    pub(super) fn reconsider(&mut self, now: Time, out: &mut Out) {
        if matches!(self.state, State::Leading(_) | State::Taking { .. }) {
            self.core.alarms.stop(BullyTimer::Campaign, out);
            return;
        }
        self.follow_the_shown(now, out);
        let core = &mut self.core;
        match &self.state {
            State::Following(_) => {
                core.alarms.stop(BullyTimer::Campaign, out);
                if let Some(sight) = &core.sight {
                    let ends = sight.ends(&core.config);
                    core.alarms
                        .set_to(BullyTimer::Lease, now, ends, Duration::ZERO, out);
                }
            }
            State::Vacant | State::Taking { .. } | State::Leading(_) => {
                core.alarms.stop(BullyTimer::Lease, out);
                match core.slot(now) {
                    Some((due, jitter)) => {
                        core.alarms
                            .set_to(BullyTimer::Campaign, now, due, jitter, out);
                    }
                    None => core.alarms.stop(BullyTimer::Campaign, out),
                }
            }
        }
    }

    fn follow_the_shown(&mut self, now: Time, out: &mut Out) {
        let core = &mut self.core;
        let members = Arc::clone(&core.me.members);
        let is_member = |id: &AgentId| members.get(id).is_some();
        let mut shown = core.shown_leader();
        let before = match mem::replace(&mut self.state, State::Vacant) {
            State::Following(following) => Some(following),
            State::Vacant | State::Taking { .. } | State::Leading(_) => None,
        };
        let same = before
            .as_ref()
            .filter(|before| shown.as_ref() == Some(&before.leader));
        let was_member = same.is_some_and(|same| same.was_member);
        let mut has_left = false;
        if was_member && !shown.as_ref().is_some_and(|leader| is_member(&leader.id)) {
            core.doubt(); // it has left the group; its lease still lasts until its end
            (shown, has_left) = (None, true);
        }
        if let Some(before) = before.as_ref().filter(|before| {
            let next = shown.as_ref().map(|next| &next.id);
            next != Some(&before.leader.id)
        }) {
            let end = core.how_ended(&before.leader, shown.as_ref(), has_left);
            core.me.note_end(&before.leader, end);
        }
        if let (Some(_), Some(sight)) = (&shown, &core.sight) {
            core.heard.0 = sight.since();
        }
        match (before, shown) {
            (before, Some(leader)) => {
                if before.is_none_or(|before| before.leader != leader) {
                    core.note_term(leader.term);
                    out.notify(Event::NewLeader(leader.clone()));
                }
                let was_member = was_member || is_member(&leader.id);
                self.state = State::Following(Following { leader, was_member });
            }
            (Some(before), None) => {
                core.vacant_since = now;
                out.notify(Event::NoLeader {
                    term: before.leader.term,
                });
            }
            (None, None) => {}
        }
    }

    pub(super) fn ignore(&self, reason: &'static str) {
        self.core.me.ignore(self.state.role(), reason);
    }
}
