//! Looking for other groups (I2), and for one's own coordinator (I7).
//!
//! A coordinator asks everybody again and again where they stand; that is also how its members hear
//! that it lives. Whoever is outside of its group is invited: by the most important coordinator that
//! was found, since the others give it the time to.

use std::collections::BTreeSet;

use super::{
    AreYouCoordinator, AreYouThere, ElectionId, InvitationElection, Out, Place, Ready, Standing,
    Task, There, Timer,
    state::{Found, Phase, Reign, Stage, State, Watch},
};
use crate::protocol::{AgentId, Incarnation, LostReason, MemberKind, Time, To};

/// Coordinators that were found above delay a merge by a step each, up to so many.
const MOST_ABOVE: usize = 4;

impl InvitationElection {
    /// I2. Who slept for longer than others wait may have lost its members.
    pub(super) fn on_check_due(&mut self, now: Time, out: &mut Out) {
        let State::Leader(reign) = &self.state else {
            return self.ignore("only a coordinator looks for others");
        };
        if now < reign.due {
            return out.set_timer(Timer::Check, reign.due.since(now));
        }
        if now.since(reign.due) > self.config.detector().detection {
            return self.take_turn(now, LostReason::Stalled, None, out);
        }
        match reign.phase {
            Phase::Rests => self.look_for_others(now, out),
            Phase::Asks => self.weigh(now, out),
            Phase::Defers => self.merge_those_below(now, out),
        }
    }

    pub(super) fn look_for_others(&mut self, now: Time, out: &mut Out) {
        let wait = self.config.gathering();
        let State::Leader(reign) = &mut self.state else {
            return;
        };
        reign.found.clear();
        reign.answered = Some(BTreeSet::new());
        (reign.phase, reign.due) = (Phase::Asks, now.after(wait));
        let (group, score) = (reign.group.clone(), reign.score);
        out.send_all(AreYouCoordinator { group, score });
        out.set_timer(Timer::Check, wait);
    }

    /// All answers are in: gives those above time, one step for each, or invites.
    fn weigh(&mut self, now: Time, out: &mut Out) {
        let State::Leader(reign) = &self.state else {
            return;
        };
        let above = reign.found.iter().filter(|(id, f)| reign.is_below(id, f));
        let above = u32::try_from(above.count().min(MOST_ABOVE)).unwrap_or(0);
        if above == 0 {
            return self.merge_those_below(now, out);
        }
        let wait = self.config.timings().step().saturating_mul(above);
        if let State::Leader(reign) = &mut self.state {
            (reign.phase, reign.due) = (Phase::Defers, now.after(wait));
            out.set_timer(Timer::Check, wait);
        }
    }

    fn merge_those_below(&mut self, now: Time, out: &mut Out) {
        let interval = self.config.detector().heartbeat;
        let State::Leader(reign) = &mut self.state else {
            return;
        };
        let mut found = std::mem::take(&mut reign.found);
        found.retain(|id, f| !reign.is_below(id, f));
        let outdone = reign
            .outdone_by
            .is_some_and(|count| count >= reign.group.count);
        if (outdone || !found.is_empty()) && reign.handover.is_none() {
            return self.merge(now, found, out);
        }
        (reign.phase, reign.due) = (Phase::Rests, now.after(interval));
        out.set_timer(Timer::Check, interval);
    }

    /// I2: everybody says where it stands; a member hears that its coordinator lives.
    pub(super) fn on_are_you_coordinator(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        question: &AreYouCoordinator,
        out: &mut Out,
    ) {
        let AreYouCoordinator { group, score } = question;
        self.hear(group.count);
        if self.me.kind == MemberKind::Observer {
            let ready = Ready {
                group: group.clone(),
                score: *score,
                task: Task::default(),
            };
            return self.observe(now, from, incarnation, &ready, out);
        }
        let outranks = self.outranks(now, *score, from);
        if let State::Member(membership) = &mut self.state
            && membership.group == *group
        {
            membership.coordinator.score = *score;
            if outranks {
                self.form(now, LostReason::Reorganized, out);
            } else {
                self.hears_coordinator(now, out);
            }
        }
        let place = Place {
            group: group.clone(),
            score: self.standing(now),
            standing: self.whereabouts(),
            seen: self.seen,
        };
        out.send(from, place);
    }

    fn whereabouts(&self) -> Standing {
        match &self.state {
            State::Free { .. } => Standing::Free,
            State::Candidate(_) => Standing::Merging,
            State::Leader(reign) => Standing::Coordinator {
                members: u32::try_from(self.led(reign).count()).unwrap_or(u32::MAX),
            },
            State::Member(membership) => {
                let group = membership.group.clone();
                match membership.stage {
                    Stage::Joining => Standing::Joining { group },
                    Stage::Following { .. } => Standing::Member { group },
                }
            }
        }
    }

    /// Whom it would pass an invitation on to: the members of its group, but for who is dead.
    pub(super) fn led<'a>(&'a self, reign: &'a Reign) -> impl Iterator<Item = &'a AgentId> {
        reign.up.iter().filter(|id| self.may_live(id))
    }

    /// I2: notes who is outside of the group; who has missed the task gets it again.
    pub(super) fn on_place(&mut self, from: &AgentId, place: &Place, out: &mut Out) {
        self.hear(place.seen);
        let State::Leader(reign) = &mut self.state else {
            return self.ignore("it looks for nobody");
        };
        if reign.group != place.group || reign.phase == Phase::Rests {
            return self.ignore("an answer to an earlier question");
        }
        let members = match &place.standing {
            Standing::Coordinator { members } => *members,
            Standing::Free => 0,
            Standing::Merging => return,
            Standing::Member { group } | Standing::Joining { group } if *group != reign.group => {
                return;
            }
            Standing::Member { .. } | Standing::Joining { .. } if !reign.up.contains(from) => 0,
            inside @ (Standing::Member { .. } | Standing::Joining { .. }) => {
                let answered = reign.answered.get_or_insert_default();
                answered.insert(from.clone());
                if matches!(inside, Standing::Joining { .. }) {
                    self.make_ready(To::One(from.clone()), out);
                }
                return;
            }
        };
        let score = place.score;
        reign.up.remove(from);
        reign.found.insert(from.clone(), Found { score, members });
    }

    /// I7: yes, if this agent coordinates that group, and the asker is in it.
    pub(super) fn on_are_you_there(&self, from: &AgentId, question: &AreYouThere, out: &mut Out) {
        if self.me.kind == MemberKind::Observer {
            return self.ignore("an observer is not asked");
        }
        let group = question.group.clone();
        let belongs = self.has_member(&group, from);
        out.send(from, There { group, belongs });
    }

    fn has_member(&self, group: &ElectionId, id: &AgentId) -> bool {
        match &self.state {
            State::Leader(reign) => reign.group == *group && reign.up.contains(id),
            State::Candidate(merge) => merge.old == *group || merge.group == *group,
            State::Free { .. } | State::Member(_) => false,
        }
    }

    /// I7: nothing was heard of the coordinator.
    pub(super) fn on_watch_due(&mut self, now: Time, out: &mut Out) {
        let State::Member(membership) = &self.state else {
            return self.ignore("nobody is watched");
        };
        if now < membership.due {
            return out.set_timer(Timer::Watch, membership.due.since(now));
        }
        match membership.watch {
            Watch::Hears if self.me.kind == MemberKind::Voter => self.ask_coordinator(now, out),
            Watch::Hears | Watch::Asks => self.lose_coordinator(now, out),
        }
    }

    /// I7: asks the coordinator whether it is there.
    pub(super) fn ask_coordinator(&mut self, now: Time, out: &mut Out) {
        let State::Member(membership) = &mut self.state else {
            return;
        };
        if membership.watch == Watch::Asks {
            return;
        }
        let wait = self.config.timings().deadline();
        (membership.watch, membership.due) = (Watch::Asks, now.after(wait));
        let group = membership.group.clone();
        out.send(&membership.coordinator.id, AreYouThere { group });
        out.set_timer(Timer::Watch, wait);
    }

    pub(super) fn lose_coordinator(&mut self, now: Time, out: &mut Out) {
        if let State::Member(membership) = &self.state {
            let gone = membership.coordinator.id.clone();
            self.take_turn(now, LostReason::Reorganized, Some(&gone), out);
        }
    }

    /// I7: "no" is as good as silence.
    pub(super) fn on_there(&mut self, now: Time, from: &AgentId, there: &There, out: &mut Out) {
        let State::Member(membership) = &self.state else {
            return self.ignore("nobody was asked");
        };
        let asked = membership.watch == Watch::Asks
            && membership.coordinator.id == *from
            && membership.group == there.group;
        if !asked {
            return self.ignore("an answer to an earlier question");
        }
        if there.belongs {
            self.hears_coordinator(now, out);
        } else {
            self.lose_coordinator(now, out);
        }
    }
}

impl Reign {
    /// Whether this leader ranks below somebody who was found.
    fn is_below(&self, id: &AgentId, found: &Found) -> bool {
        found
            .score
            .is_some_and(|score| (score, id) > (self.score, &self.group.id))
    }
}
