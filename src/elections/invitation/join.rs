//! Joining somebody else's group (I4, I6).

use super::{
    Accept, Decline, Defect, ElectionId, Invitation, InvitationElection, Out, Ready, Timer,
    state::{Above, Membership, Stage, State, Watch},
};
use crate::protocol::{
    After, AgentId, Event, Incarnation, Leader, LostReason, Member, MemberKind, Time, To,
};

fn accept(group: &ElectionId, out: &mut Out) {
    let to = &group.id;
    out.send(
        to,
        Accept {
            group: group.clone(),
        },
    );
}

/// What becomes of an invitation.
enum Verdict {
    Accepts,
    /// It has accepted already.
    Accepted,
    Declines,
}

impl InvitationElection {
    /// I4: joins, and passes the invitation on to those it has coordinated.
    pub(super) fn on_invitation(
        &mut self,
        now: Time,
        from: &AgentId,
        invitation: &Invitation,
        out: &mut Out,
    ) {
        let group = &invitation.group;
        self.hear(group.count);
        if group.id == self.me.id || !self.me.members.get(&group.id).is_some_and(Member::is_voter) {
            return self.ignore("an invitation by nobody else who could coordinate");
        }
        match self.judge(now, from, invitation) {
            Verdict::Accepted => accept(group, out),
            Verdict::Declines => self.decline(now, &group.id, group, out),
            Verdict::Accepts => {
                let mine = match &self.state {
                    State::Leader(reign) => {
                        let led = self.led(reign).filter(|id| **id != group.id);
                        led.cloned().collect()
                    }
                    State::Free { .. } | State::Candidate(_) | State::Member(_) => Vec::new(),
                };
                self.leave(LostReason::Outranked, out);
                self.remember(group.count, out);
                self.promised = Some(group.clone());
                accept(group, out);
                if !mine.is_empty() {
                    out.send_to(To::Set(mine.into()), invitation.clone());
                }
                self.join(now, invitation, out);
            }
        }
    }

    fn judge(&self, now: Time, from: &AgentId, invitation: &Invitation) -> Verdict {
        let Invitation { group, score } = invitation;
        let is_older = match &self.promised {
            Some(promised) => group <= promised,
            None => group.count <= self.floor,
        } && !self.config.has(Defect::JoinsOlder);
        match &self.state {
            State::Member(m) if m.group == *group => Verdict::Accepted,
            _ if is_older || self.outranks(now, *score, &group.id) => Verdict::Declines,
            State::Free { .. } | State::Leader(_) => Verdict::Accepts,
            State::Candidate(_) => Verdict::Declines,
            State::Member(m) => {
                let by = (*score, &group.id);
                let passed_on = m.coordinator.id == *from || m.coordinator.id == group.id;
                if passed_on || by > (m.coordinator.score, &m.coordinator.id) {
                    Verdict::Accepts
                } else {
                    Verdict::Declines
                }
            }
        }
    }

    fn join(&mut self, now: Time, invitation: &Invitation, out: &mut Out) {
        let wait = self.config.takeover();
        let id = invitation.group.id.clone();
        self.state = State::Member(Membership {
            coordinator: Above {
                score: invitation.score,
                id,
            },
            group: invitation.group.clone(),
            stage: Stage::Joining,
            watch: Watch::Hears,
            due: now.after(wait),
        });
        out.set_timer(Timer::Watch, wait);
    }

    fn decline(&self, now: Time, to: &AgentId, group: &ElectionId, out: &mut Out) {
        let decline = Decline {
            group: group.clone(),
            seen: self.seen,
            score: self.standing(now),
        };
        out.send(to, decline);
    }

    /// I6.
    pub(super) fn on_ready(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        ready: &Ready,
        out: &mut Out,
    ) {
        if self.me.kind == MemberKind::Observer {
            return self.observe(now, from, incarnation, ready, out);
        }
        let leader = Leader {
            id: from.clone(),
            incarnation,
            term: ready.group.count,
        };
        let any_group = self.config.has(Defect::TaskOfAnyGroup);
        match &mut self.state {
            State::Member(m)
                if (m.group == ready.group || any_group && m.coordinator.id == *from)
                    && m.stage == Stage::Joining =>
            {
                out.notify(Event::NewLeader(leader.clone()));
                let task = Some(ready.task);
                m.stage = Stage::Following { leader, task };
                self.hears_coordinator(now, out);
            }
            State::Free { .. } | State::Candidate(_) | State::Member(_) | State::Leader(_) => {
                self.ignore("not the group that it joins");
            }
        }
    }

    /// An observer takes the word of whoever coordinates the latest group.
    pub(super) fn observe(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        ready: &Ready,
        out: &mut Out,
    ) {
        let group = &ready.group;
        if self.promised.as_ref().is_some_and(|p| p > group) {
            if matches!(self.state, State::Member(_)) {
                return self.ignore("an older group");
            }
            return self.decline(now, from, group, out); // it tells which count to exceed
        }
        let leader = Leader {
            id: from.clone(),
            incarnation,
            term: group.count,
        };
        let followed = match &self.state {
            State::Member(membership) => membership.leader(),
            State::Free { .. } | State::Candidate(_) | State::Leader(_) => None,
        };
        if followed != Some(&leader) {
            self.leave(LostReason::Reorganized, out);
            self.promised = Some(group.clone());
            out.notify(Event::NewLeader(leader.clone()));
            let (id, score) = (from.clone(), ready.score);
            self.state = State::Member(Membership {
                coordinator: Above { score, id },
                group: group.clone(),
                stage: Stage::Following { leader, task: None },
                watch: Watch::Hears,
                due: now,
            });
        }
        self.hears_coordinator(now, out);
    }

    /// The coordinator is there: it may be silent for L again.
    pub(super) fn hears_coordinator(&mut self, now: Time, out: &mut Out) {
        let limit = self.config.detector().detection;
        let jitter = self.config.timings().jitter();
        if let State::Member(membership) = &mut self.state {
            membership.watch = Watch::Hears;
            membership.due = now.after(limit);
            out.set_timer(Timer::Watch, After::jittered(limit, jitter));
        }
    }
}
