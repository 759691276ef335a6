//! The queries by which the driver of a schedule reads the state of its machine.
//!
//! Decided here: when the machine must be called again. Not here: what the machine then does (`mod.rs`).

use std::time::Duration;

use super::{ASKS, LONGEST_WAIT, SILENCE, ScheduleMachine};
use crate::{
    agent::schedules::{ScheduleState, ScheduleStatus},
    clock::WallTime,
    leader::schedule::{
        due::next,
        interface::Now,
        poll::Poll,
        stage::ScheduleStage,
        trouble::{Failing, Silence},
        window::Frontier,
    },
};

impl ScheduleMachine<'_> {
    /// Returns what this leadership knows of the schedule.
    pub(in crate::leader::schedule) fn status(&self) -> ScheduleStatus {
        ScheduleStatus {
            state: match (self.is_established, &self.stage) {
                (_, ScheduleStage::Running(_)) => ScheduleState::Running,
                (true, _) => ScheduleState::Waiting,
                (false, _) => ScheduleState::Asking,
            },
            last: self.mark.done.map(|_| self.last()),
            next: self.upcoming(),
            ..self.counts
        }
    }

    /// Returns the latest due time that was begun, as far as is known, or else the time at which the schedule began.
    pub(in crate::leader::schedule) const fn last(&self) -> WallTime {
        self.mark.begun
    }

    fn upcoming(&self) -> Option<WallTime> {
        match &self.stage {
            ScheduleStage::Waiting(due) => *due,
            ScheduleStage::Claiming(_, due) => Some(*due),
            ScheduleStage::Running(due) => next(&*self.rule.times, *due),
            ScheduleStage::Reading(_)
            | ScheduleStage::Founding(_)
            | ScheduleStage::Pausing(_)
            | ScheduleStage::Finished => None,
        }
    }

    /// Returns whether the group has acknowledged the leader.
    pub(in crate::leader::schedule) const fn is_established(&self) -> bool {
        self.is_established
    }

    /// Returns the question that waits for answers.
    pub(super) fn open(&self) -> Option<&Poll> {
        self.stage.open().or(self.confirming.as_ref())
    }

    /// Returns the time since which too few agents answer, if this has lasted for `SILENCE`.
    pub(super) fn silent_since(&self, now: Now) -> Option<WallTime> {
        let since = self.unanswered?;
        (now.time.since(since.time) >= SILENCE).then_some(since.wall)
    }

    /// Returns the agents that do not acknowledge this leader, if too few agents have answered for `SILENCE`.
    pub(in crate::leader::schedule) fn silence(&self, now: Now) -> Option<Silence> {
        let since = self.silent_since(now)?;
        let before = self.given_up.as_ref();
        // Agents have had no time to answer a new question, so the last question shows more.
        let open = self
            .open()
            .filter(|open| before.is_none() || !open.is_new(now.time));
        let poll = open.or(before)?;
        let (early, missing) = poll.without_answer(&self.audience);
        Some(Silence {
            since,
            missing,
            early,
        })
    }

    /// Returns the failures of the last ticks, if the last tick failed.
    pub(in crate::leader::schedule) const fn failing(&self) -> Option<&Failing> {
        self.failing.as_ref()
    }

    /// Returns the progress of the schedule. The schedule's stream uses it to drop due times that are not needed any
    /// more.
    pub(in crate::leader::schedule) fn frontier(&self) -> Frontier {
        Frontier {
            known: self.known(),
            settled: self.settled,
            busy: self.stage.busy(),
        }
    }

    /// Returns whether no further tick is due, and the group knows that all ticks so far have ended.
    pub(in crate::leader::schedule) fn is_idle(&self) -> bool {
        matches!(self.stage, ScheduleStage::Waiting(None))
            && self.is_established
            && self.confirming.is_none()
            && next(&*self.rule.times, self.settled).is_none()
    }

    /// Returns the time until the next call of the machine. If the wall clock is set meanwhile, the machine must be
    /// called at once.
    pub(in crate::leader::schedule) fn wake(&self, now: Now) -> Option<Duration> {
        let stage = match &self.stage {
            ScheduleStage::Reading(poll)
            | ScheduleStage::Founding(poll)
            | ScheduleStage::Claiming(poll, _) => Some(poll.look_in(now.time)),
            ScheduleStage::Waiting(Some(due)) => Some(due.since(now.wall).min(LONGEST_WAIT)),
            ScheduleStage::Pausing(until) => Some(until.since(now.time)),
            ScheduleStage::Waiting(None) => Some(self.asked_at.after(ASKS).since(now.time)),
            ScheduleStage::Running(_) | ScheduleStage::Finished => None,
        };
        let confirming = self.confirming.as_ref().map(|poll| poll.look_in(now.time));
        stage.into_iter().chain(confirming).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        leader::schedule::{
            due::Every,
            interface::{Rule, ScheduleEffect, ScheduleInput},
            lists::{QuorumList, VoterLists},
            message::{Answer, LeaderNumber},
            planner::Misfire,
            poll::Audience,
        },
        protocol::{AgentId, Incarnation, Round, Term, Time},
    };

    /// Agents have no time to answer a new question, so the last one shows which of them are silent.
    #[test]
    fn a_question_of_this_moment_blames_no_agent_that_answered_the_last_one() {
        let id = |host: u32| AgentId::new(&host.to_string()).unwrap();
        let (read, write) = (3, 3);
        let voters = (0..5).map(id).collect();
        let list = QuorumList {
            voters,
            read,
            write,
        };
        let audience = Audience::Voters(VoterLists::only(list));
        let ballot = LeaderNumber {
            term: Term(1),
            incarnation: Incarnation(1),
        };
        let rule = Rule {
            name: id(9),
            times: Box::new(Every::new(Duration::from_secs(1)).unwrap()),
            misfire: Misfire::Skip,
        };
        let (rounds, counts) = (Round::default(), ScheduleStatus::default());
        let asked = audience.clone();
        let mut machine = ScheduleMachine::new(&rule, id(0), ballot, asked, rounds, counts);
        let mut put = |millis, input, answer: &[u32]| {
            let now = Now {
                wall: WallTime::from_millis(millis),
                time: Time::from_millis(millis),
            };
            let mut effects = Vec::new();
            machine.handle(now, input, &mut effects);
            while let Some(effect) = effects.pop() {
                let ScheduleEffect::Ask(to, question) = effect else {
                    continue;
                };
                for from in answer.iter().map(|from| id(*from)) {
                    if to.contains(&from) {
                        let (round, outcome) = (question.round, Ok(question.mark.into()));
                        let answer = Answer { round, outcome };
                        machine.handle(now, ScheduleInput::Answer(from, answer), &mut effects);
                    }
                }
            }
            machine.silence(now).map(|silence| silence.missing)
        };
        let look = || {
            let audience = audience.clone();
            ScheduleInput::Look { audience, ballot }
        };
        assert_eq!(put(100, ScheduleInput::Start, &[0, 1, 2]), None);
        assert_eq!(put(1_000, look(), &[1]), None);
        assert_eq!(put(1_900, look(), &[1]), None, "it may only be slow");
        let silent = Some([2, 3, 4].map(id).to_vec());
        assert_eq!(put(2_000, look(), &[]), silent);
        assert_eq!(put(2_199, look(), &[]), silent);
        let silent = Some([1, 2, 3, 4].map(id).to_vec());
        assert_eq!(put(2_200, look(), &[]), silent);
    }
}
