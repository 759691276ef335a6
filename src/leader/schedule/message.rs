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
    Read(Read),
    Write(Write),
    Held(Held),
    Refused(Refused),
    Survey(Read),
    Surveyed(Surveyed),
}

impl ScheduleMessage {
    /// Returns the schedule of a question.
    pub(super) const fn asked_of(&self) -> Option<&AgentId> {
        match self {
            Self::Read(read) | Self::Survey(read) => Some(&read.schedule),
            Self::Write(write) => Some(&write.schedule),
            Self::Held(_) | Self::Refused(_) | Self::Surveyed(_) => None,
        }
    }
}

/// A leader's question: "Report your mark of this schedule, and obey no earlier leader."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Read {
    pub(super) round: Round,
    pub(super) ballot: LeaderNumber,
    pub(super) schedule: AgentId,
}

/// A leader's question: "Keep this mark of this schedule."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Write {
    pub(super) round: Round,
    pub(super) ballot: LeaderNumber,
    pub(super) schedule: AgentId,
    pub(super) mark: Mark,
}

/// An agent's answer: "I obey your leadership, and keep this mark."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Held {
    pub(super) round: Round,
    pub(super) mark: Option<Mark>,
}

/// The answer to a [`Survey`](ScheduleMessage::Survey), which is a [`Read`] after a change of the voters. It contains
/// the term in which the mark was written.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Surveyed {
    pub(super) held: Held,
    pub(super) written: Option<Term>,
    /// The lists of voters that the agent has known: the leader may have been down while one of them was valid.
    pub(super) lists: Vec<(u64, QuorumList)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Refused {
    pub(super) round: Round,
    pub(super) why: MarkRefusal,
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
    /// The latest due time that was begun.
    pub(super) begun: WallTime,
    /// All due times up to this one are done.
    pub(super) done: WallTime,
}

impl Mark {
    /// Returns a mark that says: all due times up to `time` are done.
    pub(super) const fn at(time: WallTime) -> Self {
        Self {
            begun: time,
            done: time,
        }
    }

    /// Returns the mark with the later times of both marks.
    pub(super) fn join(self, other: Self) -> Self {
        Self {
            begun: self.begun.max(other.begun),
            done: self.done.max(other.done),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::{Limits, internals::wire::decode_payload};

    fn every() -> [ScheduleMessage; 10] {
        let round = Round {
            incarnation: Incarnation(7),
            counter: 1 << 40,
        };
        let ballot = LeaderNumber {
            term: Term(5),
            incarnation: Incarnation(2),
        };
        let schedule = AgentId::new("nightly").unwrap();
        let mark = Mark::at(WallTime::from_millis(1_767_323_045_500));
        let read = Read {
            round,
            ballot,
            schedule: schedule.clone(),
        };
        let write = Write {
            round,
            ballot,
            schedule,
            mark,
        };
        let held = |mark| ScheduleMessage::Held(Held { round, mark });
        let list = QuorumList {
            voters: [AgentId::new("a").unwrap()].into(),
            read: 1,
            write: 1,
        };
        let surveyed = |written| {
            let mark = Some(mark);
            let held = Held { round, mark };
            ScheduleMessage::Surveyed(Surveyed {
                held,
                written,
                lists: vec![(7, list.clone())],
            })
        };
        let refused = |why| ScheduleMessage::Refused(Refused { round, why });
        [
            ScheduleMessage::Survey(read.clone()),
            ScheduleMessage::Read(read),
            ScheduleMessage::Write(write),
            surveyed(None),
            surveyed(Some(Term(1 << 40))),
            held(None),
            held(Some(mark)),
            refused(MarkRefusal::Older),
            refused(MarkRefusal::Early),
            refused(MarkRefusal::Full),
        ]
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
