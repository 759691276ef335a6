//! The messages between agents about schedules.
//!
//! Decided here: the messages. Not here: the answers (`register.rs`), and the transport
//! ([`Messages`](crate::leader::Messages)).

use serde::{Deserialize, Serialize};

use crate::{
    clock::WallTime,
    protocol::{AgentId, Incarnation, Round, Term},
};

use super::lists::QuorumList;

/// Name of the messages: the questions of a leader, and the answers. Messages of another form must not use this name.
pub(super) const NAME: &str = "!schedules";

/// See [`NAME`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum ScheduleMessage {
    Ask(Question),
    Answer(Answer),
}

/// A leader's question. The asked agent shall obey no earlier leader, and keep the mark `mark` of the schedule. Without
/// a mark in the question, it shall report its own mark.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Question {
    pub(super) round: Round,
    pub(super) ballot: LeaderNumber,
    pub(super) schedule: AgentId,
    /// The mark to keep; `None` in a question that only reads.
    pub(super) mark: Option<Mark>,
}

impl Question {
    /// Returns the leadership of the agent `from`, which asks.
    pub(super) fn leader(&self, from: &AgentId) -> LeaderBallot {
        LeaderBallot {
            number: self.ballot,
            node: from.clone(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Answer {
    pub(super) round: Round,
    pub(super) outcome: MarkOutcome,
}

pub(super) type MarkOutcome = Result<Known, MarkRefusal>;

/// An agent's answer: the agent obeys the leader, and this is all that the agent knows of the schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Known {
    pub(super) mark: Option<Mark>,
    /// The term in which the mark was last written; `None` if the agent does not report it.
    pub(super) written: Option<Term>,
    /// The lists of voters that the agent has known, if the question only reads and there were several lists. The
    /// leader may not know a list that was valid while the leader was down, or before the leader existed.
    pub(super) lists: Vec<(u64, QuorumList)>,
}

impl From<Option<Mark>> for Known {
    fn from(mark: Option<Mark>) -> Self {
        Self {
            mark,
            ..Self::default()
        }
    }
}

/// Reason why an agent does not keep a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum MarkRefusal {
    /// The agent obeys a later leader.
    Older,
    /// The due time is too far ahead of the agent's clock.
    Early,
    /// The agent already keeps the marks of the largest number of schedules.
    Full,
}

/// The leadership of a leader, without the leader's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) struct LeaderNumber {
    pub(super) term: Term,
    pub(super) incarnation: Incarnation,
}

/// A leadership. A later leadership is larger. In the quorum mode the term alone decides, since two leaders never have
/// one term.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) struct LeaderBallot {
    pub(super) number: LeaderNumber,
    pub(super) node: AgentId,
}

/// The progress of a schedule.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub(super) struct Mark {
    /// The latest due time that was begun. If `done` is `None`, the time after which the schedule has its first one.
    pub(super) begun: WallTime,
    /// All due times up to this time are done. `None` in a beginning: no due time has begun yet.
    pub(super) done: Option<WallTime>,
}

impl Mark {
    /// Returns the mark of a schedule whose due times up to `time` are all done.
    pub(super) const fn at(time: WallTime) -> Self {
        Self {
            begun: time,
            done: Some(time),
        }
    }

    /// Returns the beginning of a schedule: its due times after `time` are to be run.
    pub(super) const fn beginning(time: WallTime) -> Self {
        Self {
            begun: time,
            done: None,
        }
    }

    /// Returns the time up to which all due times are done.
    pub(super) const fn finished(self) -> WallTime {
        match self.done {
            Some(done) => done,
            None => self.begun,
        }
    }

    /// Returns the mark that has everything of both marks: the later times.
    ///
    /// A beginning counts only while nothing has begun, and then the earlier one does: a former leader may write its
    /// beginning late. So two clocks that differ let no due time of the leaders after it go unrun.
    pub(super) fn join(self, other: Self) -> Self {
        match (self.done, other.done) {
            (Some(own), Some(others)) => Self {
                begun: self.begun.max(other.begun),
                done: Some(own.max(others)),
            },
            (Some(_), None) => self,
            (None, Some(_)) => other,
            (None, None) => self.min(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::{Limits, internals::wire::decode_payload};

    fn every() -> [ScheduleMessage; 9] {
        let round = Round {
            incarnation: Incarnation(7),
            counter: 1 << 40,
        };
        let ballot = LeaderNumber {
            term: Term(5),
            incarnation: Incarnation(2),
        };
        let mark = Mark::at(WallTime::from_millis(1_767_323_045_500));
        let ask = |mark| {
            ScheduleMessage::Ask(Question {
                round,
                ballot,
                schedule: AgentId::new("nightly").unwrap(),
                mark,
            })
        };
        let list = QuorumList {
            voters: [AgentId::new("a").unwrap()].into(),
            read: 1,
            write: 1,
        };
        let known = Known {
            mark: Some(mark),
            written: Some(Term(1 << 40)),
            lists: vec![(7, list)],
        };
        let answer = |outcome| ScheduleMessage::Answer(Answer { round, outcome });
        [
            ask(None),
            ask(Some(mark)),
            answer(Ok(Known::default())),
            answer(Ok(Some(mark).into())),
            ask(Some(Mark::beginning(mark.begun))),
            answer(Ok(known)),
            answer(Err(MarkRefusal::Older)),
            answer(Err(MarkRefusal::Early)),
            answer(Err(MarkRefusal::Full)),
        ]
    }

    /// So the order in which an agent hears of marks does not matter.
    #[test]
    fn marks_join_in_any_order_and_a_beginning_adds_nothing_to_progress() {
        let time = WallTime::from_millis;
        let done = || (0..3).map(|done| Some(time(done))).chain([None]);
        let all = || (0..3).flat_map(|begun| done().map(move |done| (time(begun), done)));
        let all = || all().map(|(begun, done)| Mark { begun, done });
        for (a, b) in all().flat_map(|a| all().map(move |b| (a, b))) {
            assert_eq!((a.join(b), a.join(a)), (b.join(a), a));
            assert!(all().all(|c| a.join(b).join(c) == a.join(b.join(c))));
        }
        let [early, late] = [7, 9].map(|at| Mark::beginning(time(at)));
        assert_eq!(late.join(early), early);
        assert_eq!(late.join(Mark::at(time(5))), Mark::at(time(5)));
    }

    #[test]
    fn every_message_crosses_and_nothing_longer_or_shorter_does() {
        let bounds = Limits::default().bounds();
        let decode = |bytes: &[u8]| decode_payload::<ScheduleMessage>(bytes, bounds).ok();
        for message in every() {
            let bytes = rmp_serde::to_vec(&message).unwrap();
            assert_eq!(decode(&bytes).as_ref(), Some(&message));
            assert!(bytes.len() < 100, "{message:?}: {} bytes", bytes.len());
            for cut in 0..bytes.len() {
                assert_eq!(decode(&bytes[..cut]), None, "{message:?} cut to {cut}");
            }
            let longer: Vec<_> = bytes.iter().copied().chain([0]).collect();
            assert_eq!(decode(&longer), None);
        }
    }
}
