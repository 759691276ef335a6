//! One agent's answers. Each answer waits until its content is stored.
//!
//! Decided here: an answer is sent only after its content is stored. So a restarted agent knows everything that it has
//! ever acknowledged; it may have lost everything else. Not here: the answers (`register.rs`), and the store.

use std::{collections::BTreeMap, mem};

use crate::{clock::WallTime, protocol::AgentId};

use super::{
    lists::QuorumList,
    message::{Answer, Question},
    register::ScheduleRecord,
};

/// See the [module](self).
#[derive(Debug, Default)]
pub(super) struct Replica {
    record: ScheduleRecord,
    /// The record as the store has it, as far as is known.
    stored: ScheduleRecord,
    /// The record that is being stored, and the answers that may be sent after that.
    saving: Option<(ScheduleRecord, Vec<Reply>)>,
    waiting: Vec<Reply>,
}

/// An answer, and the agent that receives it.
pub(super) type Reply = (AgentId, Answer);

#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReplicaStep {
    Nothing,
    Store(ScheduleRecord),
    Answer(Vec<Reply>),
}

/// Largest number of answers that wait for the store. Leaders repeat further questions.
const MOST: usize = 1_024;

impl Replica {
    /// Begins with the content of the store.
    pub(super) fn new(stored: ScheduleRecord) -> Self {
        Self {
            record: stored.clone(),
            stored,
            ..Self::default()
        }
    }

    /// Handles a leader's question.
    pub(super) fn ask(&mut self, from: AgentId, asked: &Question, now: WallTime) -> ReplicaStep {
        if self.waiting.len() >= MOST {
            return ReplicaStep::Nothing; // the leader asks again
        }
        let answer = self.record.answer(&from, asked, now);
        self.waiting.push((from, answer));
        self.step()
    }

    /// Notes the present lists of voters. No answer waits for the save of the lists, but a restarted agent must know
    /// them.
    pub(super) fn note_lists(&mut self, lists: &BTreeMap<u64, QuorumList>) -> ReplicaStep {
        self.record.lists.clone_from(lists);
        self.step()
    }

    /// Handles the end of a save. If it failed, the answers are lost, and leaders ask again.
    pub(super) fn saved(&mut self, is_stored: bool) -> (Vec<Reply>, ReplicaStep) {
        let Some((record, answers)) = self.saving.take() else {
            return (Vec::new(), ReplicaStep::Nothing);
        };
        if !is_stored {
            self.waiting.clear();
            return (Vec::new(), ReplicaStep::Nothing);
        }
        self.stored = record;
        (answers, self.step())
    }

    pub(super) const fn record(&self) -> &ScheduleRecord {
        &self.record
    }

    fn step(&mut self) -> ReplicaStep {
        let is_asked = !self.waiting.is_empty() || self.record.lists != self.stored.lists;
        if self.saving.is_some() || !is_asked {
            return ReplicaStep::Nothing;
        }
        let answers = mem::take(&mut self.waiting);
        if self.record == self.stored {
            return ReplicaStep::Answer(answers);
        }
        self.saving = Some((self.record.clone(), answers));
        ReplicaStep::Store(self.record.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        leader::schedule::message::LeaderNumber,
        protocol::{Incarnation, Round, Term},
    };

    #[test]
    fn a_new_list_of_voters_is_stored_before_any_question() {
        let voters = [AgentId::new("a").unwrap()].into();
        let (read, write) = (1, 1);
        let list = QuorumList {
            voters,
            read,
            write,
        };
        let lists = BTreeMap::from([(3, list)]);
        let step = Replica::default().note_lists(&lists);
        assert!(matches!(step, ReplicaStep::Store(record) if record.lists == lists));
    }

    #[test]
    fn a_store_that_hangs_holds_a_limited_number_of_answers() {
        let asked = Question {
            round: Round::default(),
            ballot: LeaderNumber {
                term: Term(1),
                incarnation: Incarnation(1),
            },
            schedule: AgentId::new("x").unwrap(),
            mark: None,
        };
        let (mut replica, from) = (Replica::default(), AgentId::new("a").unwrap());
        for _ in 0..2 * MOST {
            replica.ask(from.clone(), &asked, WallTime::default());
        }
        assert_eq!(replica.waiting.len(), MOST);
    }
}
